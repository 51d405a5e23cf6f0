/* SPDX-License-Identifier: ISC */
/*
 * Expressions: looked at, run, assigned to; and commands of the adapter's own.
 * After an expression or command that may have changed the program, the
 * program's state is read anew.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/dap/repl.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "debugger/text/memtext.h"
#include "looks.h"
#include "vars.h"
#include "view.h"

/* An expression that is being evaluated. */
struct look {
	char		*expression;
	bool		 runs;		/* eval: it may change things */
	bool		 called;	/* tried again as a call */
	bool		 of_value;	/* offset counts bytes of the value */
	int64_t		 offset;
	int64_t		 frame;
	enum number_format format;
	struct json_object *body;	/* an answer that is doubted */
};

static void
free_look(void *p)
{
	struct look *l = p;

	json_object_put(l->body);
	free(l->expression);
	free(l);
}

/* An adapter's answer to an error in an expression is many lines long. */
static void
fail_evaluate(struct op *op, const struct dap_answer *a)
{
	const char *why = a->message == NULL ? "no reason given" : a->message;

	why = memtext_error(why);
	/* lldb breaks off what takes longer, and blames the latest stop */
	if (dialect()->lldb_commands && strstr(why, " was interrupted") !=
	    NULL) {
		op_fail(op, "evaluate_failed", "%.1500s\na call has half a "
		    "second here: `debugger raw expr -- EXPRESSION` lets it "
		    "take as long as it needs", why);
		return;
	}
	/* ours stay what they are: unsupported, timeout, adapter_exited */
	if (a->body != NULL || a->code == NULL)
		op_fail(op, "evaluate_failed", "%.2000s", why);
	else
		op_fail(op, strcmp(a->code, "adapter_failed") == 0 ||
		    strcmp(a->code, "refused") == 0 ? "evaluate_failed" :
		    a->code, "%.2000s", why);
}

/* -- print and eval ----------------------------------------------------- */
static void
on_expanded(struct op *op, struct json_object *var, const char *code,
    const char *why, void *arg)
{
	struct look *l = arg;
	struct json_object *o;
	struct bound b;

	(void)code;
	(void)why;
	if (!bound_init(&b, op))
		return;
	o = vars_fit(&b, var, l->of_value ? 0 : l->offset);
	bound_done(&b, o);
	op_reply(op, o);
	if (l->runs)
		debuggee_touched();
}

static void	 evaluate(struct op *, struct look *);

/* Go wants calls to be named as such. */
static bool
call_again(struct op *op, struct look *l, const struct dap_answer *a)
{
	const char *word = dialect()->call_word;
	char *text;

	if (!l->runs || l->called || word == NULL || a->message == NULL ||
	    strstr(a->message, "without using 'call'") == NULL ||
	    asprintf(&text, "%s%s", word, l->expression) < 0)
		return false;
	free(l->expression);
	l->expression = text;
	l->called = true;
	evaluate(op, l);
	return true;
}

static void print_shown_value(struct op *, struct look *, struct json_object *);

/* Why the frame has no value for that variable; NULL: it has one. */
static const char *
lost(struct json_object *vars, const char *name)
{
	static const char begin[] = "<error: ";
	const char *s, *value;
	size_t i;

	for (i = 0; i < jlen(vars); i++)
		if ((s = jget_str(jat(vars, i), "name")) != NULL &&
		    strcmp(s, name) == 0 &&
		    (value = jget_str(jat(vars, i), "value")) != NULL &&
		    strncmp(value, begin, sizeof(begin) - 1) == 0)
			return value;
	return NULL;
}

static void
on_this(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct look *l = arg;
	const char *error = NULL;

	(void)why;
	if (code == NULL && (error = lost(v->arguments, "this")) == NULL)
		error = lost(v->locals, "this");
	if (error != NULL)
		op_fail(op, "evaluate_failed", "this has no value here: "
		    "%.1000s", error);
	else
		print_shown_value(op, l, l->body);
}

/* lldb's expressions have a null pointer for a `this` that it cannot find. */
static bool
doubt(struct op *op, struct look *l, struct json_object *body)
{
	const char *value = jget_str(body, "result");
	int64_t n;

	if (!dialect()->lldb_commands || strcmp(l->expression, "this") != 0 ||
	    l->body != NULL || value == NULL || !format_number(value, &n) ||
	    n != 0)
		return false;
	l->body = json_object_get(body);
	view_ask(op, VIEW_VARIABLES, on_this, l);
	return true;
}

static void
on_value(struct op *op, const struct dap_answer *a, void *arg)
{
	struct look *l = arg;

	if (a->ok) {
		if (!doubt(op, l, a->body))
			print_shown_value(op, l, a->body);
	} else if (!call_again(op, l, a))
		fail_evaluate(op, a);
}

static void
print_shown_value(struct op *op, struct look *l, struct json_object *body)
{
	struct json_object *var;
	struct bound b;

	/* the other half is for what is said of it */
	if (!bound_init(&b, op))
		return;
	var = var_make(body, l->expression, bound_left(&b) / 2,
	    l->of_value && l->offset > 0 ? (size_t)l->offset : 0, l->format);
	if (jget_num(var, "children", 0) != 0 || jget_bool(var, "truncated"))
		jput_str(var, "path", l->expression);
	if (l->of_value || var_is_text(body)) {
		on_expanded(op, var, NULL, NULL, l);
		json_object_put(var);
	} else
		vars_expand(op, var, body, l->offset, l->format,
		    on_expanded, l);
}

static void
evaluate(struct op *op, struct look *l)
{
	struct json_object *args = jone_int("frameId", l->frame);
	const char *context = l->runs ? dialect()->eval_context :
					dialect()->print_context;

	jput_str(args, "expression", l->expression);
	/* the rest of a text that the adapter itself would cut */
	if (l->of_value && adapter_can("supportsClipboardContext"))
		context = "clipboard";
	jput_str(args, "context", context);
	adapter_ask("evaluate", args, op, on_value, l);
}

static void
on_place(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct look *l = arg;

	if (code != NULL)
		op_fail(op, code, "%s", why);
	else if (!view_frame_id(v, &l->frame))
		op_fail(op, "no_such", "this thread has no frame to look "
		    "in");
	else
		evaluate(op, l);
}

static bool
read_look(struct op *op, struct look *l)
{
	const char *format = NULL, *what = NULL;

	if (!op_string(op, "format", false, &format) ||
	    !op_string(op, "what", false, &what) ||
	    !op_int(op, "offset", false, &l->offset))
		return false;
	/* nothing has more parts, or more bytes */
	if (l->offset < 0 || l->offset > INT32_MAX)
		l->offset = l->offset < 0 ? 0 : INT32_MAX;
	l->of_value = what != NULL && strcmp(what, "value") == 0;
	if (format == NULL || format_by_name(format, &l->format))
		return true;
	op_fail(op, "invalid_argument", "%s is no format; there are "
	    FORMAT_NAMES, format);
	return false;
}

static void
look(struct op *op, const char *expression, bool runs)
{
	struct look *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	l->expression = copy_text(expression);
	l->runs = runs;
	op->data = l;
	op->free_data = free_look;
	if (read_look(op, l))
		view_ask(op, VIEW_PLACE, on_place, l);
}

void
look_print(struct op *op, const char *expression)
{
	look(op, expression, false);
}

static void
print(struct op *op)
{
	const char *expression = NULL, *path = NULL;

	if (!op_string(op, "path", false, &path) ||
	    !op_string(op, "expression", path == NULL, &expression))
		return;
	look(op, path != NULL ? path : expression, false);
}

static void
eval(struct op *op)
{
	const char *expression = NULL;

	if (op_string(op, "expression", true, &expression))
		look(op, expression, true);
}

/* -- raw ---------------------------------------------------------------- */
static void
on_raw(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct json_object *o;
	int64_t offset = 0;
	size_t len, n;
	struct bound b;

	(void)arg;
	if (!a->ok) {
		fail_evaluate(op, a);
		return;
	}
	if (text == NULL)
		text = "";
	/* some repeat the command first */
	if (strncmp(text, "(lldb) ", 7) == 0)
		text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
	if (strncmp(text, "error: ", 7) == 0) {
		op_fail(op, "evaluate_failed", "%.2000s", text + 7);
		debuggee_touched();
		return;
	}
	if (!bound_init(&b, op) || !op_int(op, "offset", false, &offset))
		return;
	len = strlen(text);
	if (offset < 0 || (size_t)offset > len)
		offset = (int64_t)len;
	text += offset;
	n = jsize_fit(text, len - (size_t)offset, bound_left(&b) * 3 / 4);
	if ((size_t)offset + n < len)
		bound_cut(&b, "text", (int64_t)n, (int64_t)len, NULL,
		    offset + (int64_t)n);
	o = jobject();
	jput(o, "text", jtext_clean(text, n));
	bound_done(&b, o);
	op_reply(op, o);
	debuggee_touched();
}

static void
ask_raw(struct op *op, const struct view *v)
{
	const char *command = NULL;
	int64_t frame;

	(void)op_string(op, "command", true, &command);
	if (v == NULL || !view_frame_id(v, &frame))
		frame = REPL_NO_FRAME;
	repl_ask(op, frame, on_raw, NULL, "%s", command);
}

static void
on_raw_place(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	(void)why;
	(void)arg;
	ask_raw(op, code == NULL ? v : NULL);
}

static void
raw(struct op *op)
{
	const char *command = NULL;

	if (!op_string(op, "command", true, &command))
		return;
	if (dialect()->command_prefix == NULL)
		op_fail(op, "unsupported", "the adapter %s has no commands "
		    "of its own; `debugger eval` runs code of the program's "
		    "language", dbg.profile == NULL ? "" : dbg.profile->name);
	else if (strlen(command) > 1500)
		op_fail(op, "invalid_argument", "a command has at most 1500 "
		    "bytes");
	else if (dbg.phase == PHASE_STOPPED)
		view_ask(op, VIEW_PLACE, on_raw_place, NULL);
	else
		ask_raw(op, NULL);
}

const struct command print_commands[] = {
	{ "print", false, ON_STOPPED, print },
	{ "eval", false, ON_STOPPED, eval },
	{ "raw", false, ON_LIVE, raw },
	{ NULL, false, 0, NULL }
};
