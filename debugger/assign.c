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

#include "copy.h"
#include "dialect.h"
#include "jget.h"
#include "jmake.h"
#include "looks.h"
#include "memtext.h"
#include "profile.h"
#include "view.h"

struct assign {
	const char	*target, *value;	/* borrowed of the op */
	char		*old;		/* or NULL */
	int64_t		 frame;
	/* target as a member: what holds it, and its name there */
	char		*holder;
	char		*member;
};

static void
free_assign(void *p)
{
	struct assign *s = p;

	free(s->old);
	free(s->holder);
	free(s->member);
	free(s);
}

static void
done(struct op *op, const struct dap_answer *a)
{
	const struct assign *s = op->data;
	struct json_object *o = jobject();
	const char *value = jget_str(a->body, "value");

	if (value == NULL)
		value = jget_str(a->body, "result");
	jput_str(o, "name", s->target);
	/* statements of Python have no value */
	jput_str(o, "value", value == NULL || *value == '\0' ? s->value :
							      value);
	jput_str(o, "type", jget_str(a->body, "type"));
	jput_str(o, "old", s->old);
	op_reply(op, o);
	engine_touched();
}

static void
failed(struct op *op, const struct dap_answer *a)
{
	const struct assign *s = op->data;

	op_fail(op, "evaluate_failed", "%s was not set: %.2000s", s->target,
	    a->message == NULL ? "no reason given" :
				 memtext_error(a->message));
}

static void
on_last(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)arg;
	if (a->ok)
		done(op, a);
	else
		failed(op, a);
}

static void
by_expression(struct op *op)
{
	const struct assign *s = op->data;
	struct json_object *args = jone_int("frameId", s->frame);

	jput_fmt(args, "expression", "%s = %s", s->target, s->value);
	jput_str(args, "context", dialect()->eval_context);
	adapter_ask("evaluate", args, op, on_last, NULL);
}

static void
on_member(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)arg;
	if (a->ok)
		done(op, a);
	else if (dialect()->assigns)
		by_expression(op);
	else
		failed(op, a);
}

static void
by_member(struct op *op, int64_t ref, const char *name)
{
	const struct assign *s = op->data;
	struct json_object *args = jone_int("variablesReference", ref);

	jput_str(args, "name", name);
	jput_str(args, "value", s->value);
	adapter_ask("setVariable", args, op, on_member, NULL);
}

/* What a pointer points to is one member without a name. */
static void
on_members(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct assign *s = op->data;
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
	const struct assign *s = op->data;
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
split(struct assign *s)
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
 * A name of an outer frame: Python says yes and changes nothing, delve looks
 * for it in the innermost.  What a member belongs to is found in any frame.
 */
static bool
out_of_reach(const struct view *v, const struct assign *s)
{
	return v->frame > 0 && dialect()->sets_innermost &&
	    (is_name(s->target) || !dialect()->assigns);
}

static void
on_scopes(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct assign *s = op->data;
	const char *old;
	int64_t scope;
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
	parameter = (old = value_in(v->arguments, s->target)) != NULL;
	if (!parameter)
		old = value_in(v->locals, s->target);
	s->old = copy_text(old);
	/* adapters that mix both kinds have one scope for them */
	scope = parameter ? view_scope(v, "arguments") : 0;
	if (scope <= 0)
		scope = view_scope(v, "locals");
	if (old != NULL && is_name(s->target) && scope > 0)
		by_member(op, scope, s->target);
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
set(struct op *op)
{
	struct assign *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	op->data = s;
	op->free_data = free_assign;
	if (!op_string(op, "target", true, &s->target) ||
	    !op_string(op, "value", true, &s->value))
		return;
	if (strlen(s->target) + strlen(s->value) > 1900) {
		op_fail(op, "invalid_argument", "target and value have at "
		    "most 1900 bytes together");
		return;
	}
	split(s);
	view_get(op, VIEW_SCOPES | VIEW_VARIABLES, on_scopes, NULL);
}

const struct command assign_commands[] = {
	{ "set", false, ON_STOPPED, set },
	{ NULL, false, 0, NULL }
};
