/* SPDX-License-Identifier: ISC */
/*
 * set: as an expression where the adapter has a request for it, as a member
 * of what holds it, or as an assignment of the language.
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
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "debugger/text/scalar.h"
#include "looks.h"
#include "set_value.h"
#include "view.h"

struct set_args {
	const char	*target, *value;	/* borrowed of the op */
	char		*old;		/* or NULL */
	int64_t		 frame;
	int64_t		 scope;		/* of its own, by name; or 0 */
	bool		 global;	/* a name, and no local's */
	/* target as a member: what holds it, and its name there */
	char		*holder;
	char		*member;
};

static void
free_set_args(void *p)
{
	struct set_args *s = p;

	free(s->old);
	free(s->holder);
	free(s->member);
	free(s);
}

/* The adapter may repeat what it was told: what is there now is asked for. */
static void
on_read_back(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct set_args *s = op->data;
	struct json_object *o;

	(void)arg;
	if (!a->ok) {
		op_fail(op, "evaluate_failed", "%s was set, but cannot be "
		    "read back: %.1500s", s->target, a->message == NULL ?
		    "no reason given" : memtext_error(a->message));
		debuggee_touched();
		return;
	}
	o = jobject();
	jput_str(o, "name", s->target);
	jput_str(o, "value", jget_str(a->body, "result"));
	jput_str(o, "type", jget_str(a->body, "type"));
	jput_str(o, "old", s->old);
	op_reply(op, o);
	debuggee_touched();
}

static void
done(struct op *op)
{
	const struct set_args *s = op->data;
	struct json_object *args = jone_int("frameId", s->frame);

	jput_str(args, "expression", s->target);
	jput_str(args, "context", dialect()->print_context);
	adapter_ask("evaluate", args, op, on_read_back, NULL);
}

/* The line of Python's traceback that names the error: it is not indented. */
static const char *
last_words(const char *why)
{
	const char *line = why, *end;

	for (end = why; (end = strchr(end, '\n')) != NULL;)
		if (*++end != ' ' && *end != '\0')
			line = end;
	return line;
}

static void
failed(struct op *op, const struct dap_answer *a)
{
	const struct set_args *s = op->data;
	const char *why = a->message == NULL ? "no reason given" :
	    memtext_error(a->message);

	if (dialect()->statements)
		why = last_words(why);
	op_fail(op, "evaluate_failed", "%s was not set: %.*s", s->target,
	    (int)strcspn(why, "\n"), why);
}

static void
on_last(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)arg;
	if (a->ok)
		done(op);
	else
		failed(op, a);
}

static void
by_expression(struct op *op)
{
	const struct set_args *s = op->data;
	struct json_object *args = jone_int("frameId", s->frame);

	/* a name that is no local of Python's would become one */
	jput_fmt(args, "expression", dialect()->statements && s->global ?
	    "globals()['%s'] = %s" : "%s = %s", s->target, s->value);
	jput_str(args, "context", dialect()->eval_context);
	adapter_ask("evaluate", args, op, on_last, NULL);
}

static void
on_member(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)arg;
	if (a->ok)
		done(op);
	else if (dialect()->assigns)
		by_expression(op);
	else
		failed(op, a);
}

static void
by_member(struct op *op, int64_t ref, const char *name)
{
	const struct set_args *s = op->data;
	struct json_object *args = jone_int("variablesReference", ref);

	jput_str(args, "name", name);
	jput_str(args, "value", s->value);
	adapter_ask("setVariable", args, op, on_member, NULL);
}

/* A pointer's target is a single member without a name. */
static void
on_members(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct set_args *s = op->data;
	struct json_object *one =
	    a->ok ? jat(jget_arr(a->body, "variables"), 0) : NULL;
	const char *name = jget_str(one, "name");

	if (!a->ok) {
		failed(op, a);
		return;
	}
	if (name != NULL && *name == '\0')
		by_member(op, jget_num(one, "variablesReference", 0),
		    s->member);
	else
		by_member(op, (int64_t)(intptr_t)arg, s->member);
}

static void
on_holder(struct op *op, const struct dap_answer *a, void *arg)
{
	int64_t ref = jget_num(a->body, "variablesReference", 0);

	(void)arg;
	if (!a->ok || ref <= 0)
		failed(op, a);
	else
		adapter_ask("variables", jone_int("variablesReference", ref),
		    op, on_members, (void *)(intptr_t)ref);
}

static void
by_holder(struct op *op)
{
	const struct set_args *s = op->data;
	struct json_object *args = jone_int("frameId", s->frame);

	jput_str(args, "expression", s->holder);
	jput_str(args, "context", dialect()->print_context);
	adapter_ask("evaluate", args, op, on_holder, NULL);
}

static bool
is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

/* a.b is b of a, a[1] is [1] of a. */
static void
split(struct set_args *s)
{
	const char *dot = strrchr(s->target, '.');
	const char *open = strrchr(s->target, '[');

	if (open != NULL && (dot == NULL || open > dot)) {
		s->holder = copy_part(s->target, (size_t)(open - s->target));
		s->member = copy_text(open);
	} else if (dot != NULL) {
		s->holder = copy_part(s->target, (size_t)(dot - s->target));
		s->member = copy_text(dot + 1);
	}
}

static const char *
value_in(struct json_object *vars, const char *name)
{
	const char *s;
	size_t i;

	for (i = 0; i < jlen(vars); i++)
		if ((s = jget_str(jat(vars, i), "name")) != NULL &&
		    strcmp(s, name) == 0)
			return jget_str(jat(vars, i), "value");
	return NULL;
}

/*
 * In an outer frame, debugpy accepts an assignment to a plain name and changes
 * nothing, but finds the object of a member in any frame.  Delve looks for
 * every name in the innermost frame.
 */
static bool
out_of_reach(const struct view *v, const struct set_args *s)
{
	return v->frame > 0 && dialect()->sets_innermost &&
	    (is_name(s->target) || !dialect()->assigns);
}

static void
on_set(struct op *op, const struct set_value *v, void *arg)
{
	const struct set_args *s = op->data;
	struct json_object *o;

	(void)arg;
	if (v->code != NULL) {
		op_fail(op, v->code, "%s", v->why);
		return;
	}
	o = jobject();
	jput_str(o, "name", s->target);
	jput_str(o, "value", v->value);
	jput_str(o, "type", v->type);
	jput_str(o, "old", v->old);
	op_reply(op, o);
	debuggee_touched();
}

/* delve cuts a constant to the size of its variable. */
static bool
does_fit(struct op *op, const char *type)
{
	static const struct {
		const char	*type;
		unsigned char	 bytes;
		bool		 is_signed, is_float;
	} go[] = {
		{ "int8", 1, true, false }, { "int16", 2, true, false },
		{ "int32", 4, true, false }, { "int64", 8, true, false },
		{ "int", 8, true, false }, { "uint8", 1, false, false },
		{ "uint16", 2, false, false }, { "uint32", 4, false, false },
		{ "uint64", 8, false, false }, { "uint", 8, false, false },
		{ "uintptr", 8, false, false }, { "float32", 4, true, true },
		{ "float64", 8, true, true },
	};
	const struct set_args *s = op->data;
	struct scalar n;
	char range[96];
	size_t i;

	for (i = 0; i < sizeof(go) / sizeof(go[0]); i++)
		if (strcmp(go[i].type, type) == 0)
			break;
	if (i == sizeof(go) / sizeof(go[0]))
		return true;
	if (go[i].is_float) {
		if (!scalar_float_beyond(s->value, go[i].bytes))
			return true;
		op_fail(op, "evaluate_failed", "%s was not set: %s is too "
		    "large or too small for its type, %s", s->target, s->value,
		    type);
		return false;
	}
	if (!scalar_parse(s->value, &n) ||
	    scalar_fits(&n, go[i].bytes, go[i].is_signed))
		return true;
	scalar_range(go[i].bytes, go[i].is_signed, range, sizeof(range));
	op_fail(op, "evaluate_failed", "%s was not set: %s does not fit into "
	    "its type, %s, which has %s", s->target, s->value, type, range);
	return false;
}

static void
on_old(struct op *op, const struct dap_answer *a, void *arg)
{
	struct set_args *s = op->data;
	const char *type = a->ok ? jget_str(a->body, "type") : NULL;

	(void)arg;
	if (!a->ok && s->global && dialect()->statements) {
		op_fail(op, "no_such", "there is no variable %s: give one "
		    "that the program has", s->target);
		return;
	}
	if (s->old == NULL && a->ok)
		s->old = copy_text(jget_str(a->body, "result"));
	if (type != NULL && !dialect()->assigns && !does_fit(op, type))
		return;
	if (s->scope > 0)
		by_member(op, s->scope, s->target);
	else if (dialect()->assigns)
		by_expression(op);
	else if (s->holder != NULL)
		by_holder(op);
	else
		op_fail(op, "unsupported", "the adapter %s sets local "
		    "variables and their members; there is no local %s",
		    dbg.profile == NULL ? "" : dbg.profile->name, s->target);
}

static void
on_scopes(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct set_args *s = op->data;
	struct json_object *args;
	const char *old;
	bool parameter;

	(void)arg;
	if (code != NULL || !view_frame_id(v, &s->frame)) {
		op_fail(op, code == NULL ? "no_such" : code, "%s",
		    why == NULL ? "there is no frame to look in" : why);
		return;
	}
	if (out_of_reach(v, s)) {
		op_fail(op, "unsupported", "the adapter %s sets variables of "
		    "the innermost frame only, 0; this is frame %u",
		    dbg.profile == NULL ? "" : dbg.profile->name, v->frame);
		return;
	}
	if (set_value_can()) {
		set_value(op, s->frame, s->target, s->value, on_set, NULL);
		return;
	}
	parameter = (old = value_in(v->arguments, s->target)) != NULL;
	if (!parameter)
		old = value_in(v->locals, s->target);
	s->old = copy_text(old);
	/* adapters that mix both kinds have one scope for them */
	s->scope = parameter ? view_scope(v, "arguments") : 0;
	if (s->scope <= 0)
		s->scope = view_scope(v, "locals");
	s->global = old == NULL && is_name(s->target);
	if (old == NULL || !is_name(s->target) || dialect()->statements)
		s->scope = 0;
	args = jone_int("frameId", s->frame);
	jput_str(args, "expression", s->target);
	jput_str(args, "context", dialect()->print_context);
	adapter_ask("evaluate", args, op, on_old, NULL);
}

static void
set(struct op *op)
{
	struct set_args *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	op->data = s;
	op->free_data = free_set_args;
	if (!op_string(op, "target", true, &s->target) ||
	    !op_string(op, "value", true, &s->value))
		return;
	if (strlen(s->target) + strlen(s->value) > 1900) {
		op_fail(op, "invalid_argument", "target and value have at "
		    "most 1900 bytes together");
		return;
	}
	split(s);
	view_ask(op, VIEW_SCOPES | VIEW_VARIABLES, on_scopes, NULL);
}

const struct command set_commands[] = {
	{ "set", false, ON_STOPPED, set },
	{ NULL, false, 0, NULL }
};
