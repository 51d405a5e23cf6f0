/* SPDX-License-Identifier: ISC */
/* A client's request to the tracer: how it is read, and its one answer. */
#include <json-c/json.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "op.h"

#define DEPTH_MAX	16	/* objects in objects of a request */

void
trace_reply(struct op *op, struct text *t)
{
	if (t->bad || t->p == NULL || t->len > TRC_ANSWER_MAX) {
		text_free(t);
		trace_fail(op, "INVALID_ARGUMENT", "ask for less, with limit",
		    "the answer is longer than %d bytes, or than there is "
		    "memory", TRC_ANSWER_MAX);
		return;
	}
	if (!op->answered) {
		op->answered = true;
		link_reply(&op->ask, false, t->p, t->len);
	}
	text_free(t);
}

void
trace_fail(struct op *op, const char *code, const char *next, const char *fmt,
    ...)
{
	struct text t = { .max = 16384 };
	char words[4096];
	va_list ap;

	if (op->answered)
		return;
	op->answered = true;
	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	text_puts(&t, "{\"code\":");
	json_quoted(&t, code, strlen(code));
	text_puts(&t, ",\"message\":");
	json_quoted(&t, words, strlen(words));
	if (next != NULL) {
		text_puts(&t, ",\"next\":");
		json_quoted(&t, next, strlen(next));
	}
	text_puts(&t, "}");
	if (t.bad || t.p == NULL)
		fatalx("no memory for an answer");
	link_reply(&op->ask, true, t.p, t.len);
	text_free(&t);
}

bool
op_params(struct op *op, const struct param *table, void *to)
{
	char why[PARAMS_WHY];

	if (params_read(op->args, op->command->name, table, to, why) == 0)
		return true;
	trace_fail(op, "INVALID_ARGUMENT",
	    "correct the arguments and ask again", "%s", why);
	return false;
}

void
waiters_fail(struct waiters *list, const char *code, const char *next,
    const char *words)
{
	struct waiter *w;

	while ((w = TAILQ_FIRST(list)) != NULL) {
		trace_fail(w->op, code, next, "%s", words);
		waiter_drop(list, w);
	}
}

/* -- requests ------------------------------------------------------------- */

static void
say_name(const struct command *c, void *arg)
{
	struct text *t = arg;

	text_printf(t, "%s%s", t->len > 0 ? ", " : "", c->name);
}

static void
unknown(struct op *op, const char *name)
{
	struct text names = { .max = 1024 }, shown = { .max = 256 };

	commands_each(say_name, &names);
	text_plain(&shown, name, strnlen(name, 40));
	trace_fail(op, "NOT_SUPPORTED",
	    "use one of the commands that there are",
	    "the tracer has no command \"%s\"; it has %s",
	    shown.p == NULL ? "" : shown.p, names.p == NULL ? "" : names.p);
	text_free(&names);
	text_free(&shown);
}

static void
refuse(struct op *op, enum op_fault fault, const char *detail)
{
	static const struct {
		const char *code, *next, *words;
	} said[OP_FAULTS] = {
		[OP_UNREAD] = { "INVALID_ARGUMENT", "send one JSON object",
		    "the request is no JSON object of at most 16 levels" },
		[OP_UNNAMED] = { "INVALID_ARGUMENT", "name the command",
		    "a request has \"command\", a string, and \"args\"" },
		[OP_BAD_ARGS] = { "INVALID_ARGUMENT", "put the arguments in an "
		    "object", "\"args\" must be an object" },
		[OP_READ_ONLY] = { "READ_ONLY", "ask the session's owner for "
		    "more than the right to look", " changes what is traced: "
		    "it takes more than the right to look" },
		[OP_UNANSWERED] = { "INTERNAL_ERROR", "ask again",
		    "nothing answered this request" },
	};

	if (fault == OP_UNKNOWN)
		unknown(op, detail);
	else
		trace_fail(op, said[fault].code, said[fault].next, "%s%s",
		    fault == OP_READ_ONLY ? op->command->name : "",
		    said[fault].words);
}

bool
op_may_change(struct op *op)
{
	if (!op->ask.rw)
		refuse(op, OP_READ_ONLY, "");
	return op->ask.rw;
}

static struct json_object *
parse(const char *text, size_t len, const char **why)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *o;

	(void)why;
	if (tok == NULL)
		return NULL;
	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
	    JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, (int)len);
	/* a text that ends early, and one with something behind it */
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    json_tokener_get_parse_end(tok) != len ||
	    !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

static uint32_t
action(const struct op *op)
{
	return op->command->own;
}

void
tracer_commands(const struct command *const *tables, size_t n)
{
	static const struct op_rules rules = {
		.parse = parse,
		.action = action,
		.refuse = refuse,
	};

	commands_set(tables, n, &rules);
}
