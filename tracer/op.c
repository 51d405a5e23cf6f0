/* SPDX-License-Identifier: ISC */
/* From a client's request to what does it, and back with its one answer. */
#include <json-c/json.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "op.h"

#define DEPTH_MAX	16	/* objects in objects of a request */

static TAILQ_HEAD(, op) ops = TAILQ_HEAD_INITIALIZER(ops);

static const struct command *const *tables;
static size_t		 ntables;

void
op_set_commands(const struct command *const *all, size_t n)
{
	tables = all;
	ntables = n;
}

static struct op *
op_new(const struct ask *ask)
{
	struct op *op = calloc(1, sizeof(*op));

	if (op == NULL)
		fatal("request");
	op->ask = *ask;
	op->refs = 1;
	TAILQ_INSERT_TAIL(&ops, op, entry);
	return op;
}

struct op *
op_ref(struct op *op)
{
	op->refs++;
	return op;
}

void
op_unref(struct op *op)
{
	if (op->refs == 1 && !op->answered)
		op_fail(op, "INTERNAL_ERROR", "ask again",
		    "nothing answered this request");
	if (--op->refs > 0)
		return;
	TAILQ_REMOVE(&ops, op, entry);
	json_object_put(op->args);
	free(op);
}

void
op_reply(struct op *op, struct text *t)
{
	if (t->cut || t->s == NULL || t->len > TRC_ANSWER_MAX) {
		text_free(t);
		op_fail(op, "INVALID_ARGUMENT", "ask for less, with limit",
		    "the answer is longer than %d bytes, or than there is "
		    "memory", TRC_ANSWER_MAX);
		return;
	}
	if (!op->answered) {
		op->answered = true;
		link_reply(&op->ask, false, t->s, t->len);
	}
	text_free(t);
}

void
op_fail(struct op *op, const char *code, const char *next, const char *fmt,
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
	text_str(&t, "{\"code\":");
	text_json(&t, code, strlen(code));
	text_str(&t, ",\"message\":");
	text_json(&t, words, strlen(words));
	if (next != NULL) {
		text_str(&t, ",\"next\":");
		text_json(&t, next, strlen(next));
	}
	text_str(&t, "}");
	if (t.cut || t.s == NULL)
		fatalx("no memory for an answer");
	link_reply(&op->ask, true, t.s, t.len);
	text_free(&t);
}

bool
op_params(struct op *op, const struct param *table, void *to)
{
	char why[PARAMS_WHY];

	if (params_read(op->args, op->command->name, table, to, why) == 0)
		return true;
	op_fail(op, "INVALID_ARGUMENT", "correct the arguments and ask again",
	    "%s", why);
	return false;
}

void
op_conn_gone(uint32_t conn)
{
	struct op *op;

	TAILQ_FOREACH(op, &ops, entry)
		if (op->ask.conn == conn)
			op->answered = true;
}

/* -- requests ------------------------------------------------------------- */

static const struct command *
find(const char *name)
{
	const struct command *c;
	size_t i;

	for (i = 0; i < ntables; i++)
		for (c = tables[i]; c->name != NULL; c++)
			if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

static void
say_names(struct text *t)
{
	const struct command *c;
	size_t i;

	for (i = 0; i < ntables; i++)
		for (c = tables[i]; c->name != NULL; c++)
			text_printf(t, "%s%s", t->len > 0 ? ", " : "",
			    c->name);
}

static void
unknown(struct op *op, const char *name)
{
	struct text names = { .max = 1024 }, shown = { .max = 256 };

	say_names(&names);
	text_plain(&shown, name, strnlen(name, 40));
	op_fail(op, "NOT_SUPPORTED", "use one of the commands that there are",
	    "the tracer has no command \"%s\"; it has %s",
	    shown.s == NULL ? "" : shown.s, names.s == NULL ? "" : names.s);
	text_free(&names);
	text_free(&shown);
}

bool
op_may_change(struct op *op)
{
	if (op->ask.rw)
		return true;
	op_fail(op, "READ_ONLY", "ask the session's owner for more than the "
	    "right to look", "%s changes what is traced: it takes more than "
	    "the right to look", op->command->name);
	return false;
}

static void
dispatch(struct op *op, const char *name)
{
	const struct command *c = find(name);

	op->command = c;
	/* also what is refused: who has tried is of interest */
	if (c != NULL && c->action != TRC_ACTION_NONE)
		link_does(&op->ask, c->action);
	if (c == NULL)
		unknown(op, name);
	else if (c->ro || op_may_change(op))
		c->run(op);
}

static struct json_object *
parse(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *o;

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

void
commands_run(const struct ask *ask, const char *text, size_t len)
{
	struct json_object *json = parse(text, len), *name = NULL,
	    *args = NULL;
	struct op *op = op_new(ask);

	(void)json_object_object_get_ex(json, "command", &name);
	(void)json_object_object_get_ex(json, "args", &args);
	if (json == NULL)
		op_fail(op, "INVALID_ARGUMENT", "send one JSON object",
		    "the request is no JSON object of at most %d levels",
		    DEPTH_MAX);
	else if (!json_object_is_type(name, json_type_string))
		op_fail(op, "INVALID_ARGUMENT", "name the command",
		    "a request has \"command\", a string, and \"args\"");
	else if (args != NULL && !json_object_is_type(args,
	    json_type_object))
		op_fail(op, "INVALID_ARGUMENT", "put the arguments in an "
		    "object", "\"args\" must be an object");
	else {
		op->args = json_object_get(args);
		dispatch(op, json_object_get_string(name));
	}
	op_unref(op);
	json_object_put(json);
}
