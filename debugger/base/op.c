/* SPDX-License-Identifier: ISC */
/* Requests of clients: their arguments, and their one answer. */
#include <json-c/json.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "debuggee.h"
#include "debugger/text/clean.h"
#include "debugger/text/json_make.h"
#include "debugger/text/redact.h"
#include "op.h"
#include "wire/proto.h"

#define SCHEMA	1

/* The text of an answer that is not too long for one. */
static void
reply(const struct ask *a, bool failed, const char *text, size_t len)
{
	static const char large[] = "{\"schema\":1,\"code\":\"too_large\","
	    "\"message\":\"the answer is longer than 256 KiB; ask for less "
	    "(max, limit, count)\"}";

	if (len > DBG_ANSWER_MAX)
		link_reply(a, true, large, sizeof(large) - 1);
	else
		link_reply(a, failed, text, len);
}

static void
op_answer(struct op *op, bool failed, struct json_object *json)
{
	const char *text;
	char *clean = NULL;
	size_t len;

	if (!op->answered && op->told != NULL) {
		op->answered = true;
		op->told(op, failed, json);
	} else if (!op->answered) {
		op->answered = true;
		text = jwrite(json, &len);
		/* what programs hold in strings need not be text */
		if (!utf8_valid(text, len))
			text = clean = utf8_clean(text, &len);
		reply(&op->ask, failed, text, len);
		free(clean);
	}
	json_object_put(json);
	/* last: it may free the op */
	if (op->finished != NULL)
		op->finished(op);
}

void
op_reply(struct op *op, struct json_object *result)
{
	jput(result, "schema", jint(SCHEMA));
	jput(result, "session", jtext(dbg_said.inst.id));
	if (op->warning != NULL &&
	    !json_object_object_get_ex(result, "warning", NULL))
		jput_str(result, "warning", op->warning);
	if (!op->ask.rw)
		result = redact(result);
	op_answer(op, false, result);
}

static void __attribute__((format(printf, 4, 0)))
fail(struct op *op, struct json_object *more, const char *code,
    const char *fmt, va_list ap)
{
	char words[2048];

	(void)vsnprintf(words, sizeof(words), fmt, ap);
	if (more == NULL)
		more = jobject();
	jput(more, "code", jtext(code));
	jput(more, "message", jtext(words));
	op_answer(op, true, more);
}

void
op_fail(struct op *op, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(op, NULL, code, fmt, ap);
	va_end(ap);
}

void
op_fail_with(struct op *op, struct json_object *more, const char *code,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(op, more, code, fmt, ap);
	va_end(ap);
}

void
op_fail_dap(struct op *op, const struct dap_answer *a)
{
	op_fail(op, a->code, "%s", a->message == NULL ? "refused" : a->message);
}

void
op_refuse(struct op *op, enum op_fault fault, const char *detail)
{
	static const struct {
		const char *code, *before, *after;
	} words[OP_FAULTS] = {
		[OP_UNREAD] = { "invalid_argument",
		    "the request cannot be read: ", "" },
		[OP_UNNAMED] = { "unknown_command",
		    "the request names no command", "" },
		[OP_BAD_ARGS] = { "invalid_argument",
		    "\"args\" must be an object", "" },
		[OP_UNKNOWN] = { "unknown_command",
		    "the debugger has no command \"", "\"" },
		[OP_READ_ONLY] = { "read_only", "", " changes the program: it "
		    "takes more than the right to look" },
		[OP_UNANSWERED] = { "internal_error",
		    "nothing answered this request", "" },
	};

	if (fault == OP_READ_ONLY)
		detail = op->command->name;
	op_fail(op, words[fault].code, "%s%s%s", words[fault].before, detail,
	    words[fault].after);
}

/* -- arguments -- */
static bool
member(struct op *op, const char *name, bool need, json_type type,
    struct json_object **v)
{
	static const char *const kinds[] = {
		[json_type_boolean] = "true or false",
		[json_type_int] = "a whole number",
		[json_type_string] = "a string",
	};

	*v = NULL;
	if ((!json_object_object_get_ex(op->args, name, v) || *v == NULL)) {
		*v = NULL;
		if (!need)
			return true;
	} else if (json_object_is_type(*v, type))
		return true;
	op_fail(op, "invalid_argument", "\"%s\" %s: it must be %s", name,
	    *v == NULL ? "is missing" : "is of another kind", kinds[type]);
	return false;
}

bool
op_string(struct op *op, const char *name, bool need, const char **value)
{
	struct json_object *v;

	if (!member(op, name, need, json_type_string, &v))
		return false;
	if (v != NULL)
		*value = json_object_get_string(v);
	if (v == NULL || strlen(*value) ==
	    (size_t)json_object_get_string_len(v))
		return true;
	op_fail(op, "invalid_argument", "\"%s\" has a zero byte in it", name);
	return false;
}

bool
op_int(struct op *op, const char *name, bool need, int64_t *value)
{
	struct json_object *v;

	if (!member(op, name, need, json_type_int, &v))
		return false;
	if (v != NULL)
		*value = json_object_get_int64(v);
	return true;
}

bool
op_bool(struct op *op, const char *name, bool *value)
{
	struct json_object *v;

	if (!member(op, name, false, json_type_boolean, &v))
		return false;
	if (v != NULL)
		*value = json_object_get_boolean(v);
	return true;
}
