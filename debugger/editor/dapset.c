/* SPDX-License-Identifier: ISC */
/*
 * Editors' setVariable and setExpression under lldb.  The protocol names a
 * variable by what holds it; lldb's own way to set that writes over
 * references and the neighbours of bit fields, so it becomes an expression in
 * the frame that the editor was shown it in.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "base/log.h"
#include "dapserver.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/view/set_value.h"

#define SHOWN_MOST	65536	/* references; older ones are not known */

/* Where an editor got a reference from. */
struct shown {
	int64_t		 ref, frame;
	bool		 scope;		/* its number is every frame's */
	bool		 registers;
	bool		 exact;		/* its names mean the same in C++ */
	bool		 array;		/* of C */
};

static struct shown	*shown;
static size_t		 nshown, shown_room;

/* An assignment on its way. */
struct dap_set {
	struct editor	*editor;	/* held */
	struct json_object *message;	/* held */
	bool		 exact;
	char		*name, *value, *path;
	int64_t		 ref, frame;
};

static void
dap_set_end(struct dap_set *x, bool ok, const char *words,
    struct json_object *body)
{
	editor_respond(x->editor, x->message, ok, words, body);
	editor_unref(x->editor);
	json_object_put(x->message);
	free(x->name);
	free(x->value);
	free(x->path);
	free(x);
}

/* -- where references come from ----------------------------------------- */
static struct shown *
find_shown(int64_t ref)
{
	size_t i;

	for (i = nshown; i-- > 0;)
		if (shown[i].ref == ref)
			return &shown[i];
	return NULL;
}

static void
remember(struct shown s)
{
	struct shown *at = find_shown(s.ref), *more;

	if (s.ref <= 0 || nshown == SHOWN_MOST)
		return;
	if (at != NULL) {
		*at = s;
		return;
	}
	if (nshown == shown_room) {
		shown_room = shown_room == 0 ? 64 : shown_room * 2;
		more = reallocarray(shown, shown_room, sizeof(*shown));
		if (more == NULL)
			fatal("editor");
		shown = more;
	}
	shown[nshown++] = s;
}

void
editor_forget_shown(void)
{
	nshown = 0;
}

static bool
of_registers(struct json_object *scope)
{
	const char *name = jget_str(scope, "name");

	return name != NULL && strcasecmp(name, "registers") == 0;
}

/* A child of that name: its expression is one of C++. */
static bool
is_exact(const struct shown *of, const char *name)
{
	return of->exact && (of->array || name == NULL || *name != '[');
}

static bool
is_array(struct json_object *v)
{
	const char *type = jget_str(v, "type");

	return type != NULL && *type != '\0' && strstr(type, "(*") == NULL &&
	    type[strlen(type) - 1] == ']';
}

static void
remember_all(struct json_object *list, const struct shown *of)
{
	struct json_object *v;
	struct shown s = *of;
	size_t i;

	for (i = 0; i < jlen(list); i++) {
		v = jat(list, i);
		s.ref = jget_num(v, "variablesReference", 0);
		if (of->scope)
			s.registers = of_registers(v);
		else {
			s.exact = is_exact(of, jget_str(v, "name"));
			s.array = is_array(v);
		}
		remember(s);
	}
}

void
editor_shown(const char *command, struct json_object *args,
    struct json_object *body)
{
	struct shown s = { .frame = jget_num(args, "frameId", 0),
		.exact = true };
	const struct shown *from;

	if (strcmp(command, "scopes") == 0) {
		s.scope = true;
		remember_all(jget_arr(body, "scopes"), &s);
	} else if (strcmp(command, "evaluate") == 0) {
		s.ref = jget_num(body, "variablesReference", 0);
		s.exact = strchr(jget_str(args, "expression"), '[') == NULL;
		s.array = is_array(body);
		remember(s);
	} else if (strcmp(command, "variables") == 0 &&
	    (from = find_shown(jget_num(args, "variablesReference", 0))) !=
	    NULL) {
		s = *from;
		s.scope = false;
		remember_all(jget_arr(body, "variables"), &s);
	}
}

/* -- setting ------------------------------------------------------------ */
static void
on_set(struct op *op, const struct set_value *v, void *arg)
{
	struct dap_set *x = arg;
	struct json_object *body;

	(void)op;
	if (v->code != NULL) {
		dap_set_end(x, false, v->why, NULL);
		return;
	}
	body = jobject();
	jput_str(body, "value", v->value);
	jput_str(body, "type", v->type);
	jput_int(body, "variablesReference", 0);
	dap_set_end(x, true, NULL, body);
	debuggee_touched();
}

static void
set_path(struct dap_set *x, const char *path)
{
	set_value(NULL, x->frame, path, x->value, on_set, x);
}

static void
ask_lldb(struct dap_set *x, const char *prefix, const char *before,
    const char *after, dap_fn fn)
{
	struct json_object *args = jone_int("frameId", x->frame);
	char *text;

	if (asprintf(&text, "%s%s%s%s", prefix, before, x->path, after) < 0)
		fatal("editor");
	jput_str(args, "expression", text);
	jput_str(args, "context", dialect()->print_context);
	free(text);
	adapter_ask("evaluate", args, NULL, fn, x);
}

static void
on_address(struct op *op, const struct dap_answer *a, void *arg)
{
	struct dap_set *x = arg;
	const char *type = jget_str(a->body, "type");
	const char *value = jget_str(a->body, "result");
	char *place;

	(void)op;
	if (!a->ok || type == NULL || value == NULL) {
		dap_set_end(x, false, "this has no address of its own, and was "
		    "not set: set it by an expression in the console", NULL);
		return;
	}
	if (asprintf(&place, "*(%s)%.*s", type, (int)strcspn(value, " "),
	    value) < 0)
		fatal("editor");
	set_path(x, place);
	free(place);
}

static void
on_size(struct op *op, const struct dap_answer *a, void *arg)
{
	struct dap_set *x = arg;

	(void)op;
	if (!a->ok && a->message != NULL && strstr(a->message, "bit-field"))
		set_path(x, x->path);
	else
		ask_lldb(x, "", "&", "", on_address);
}

static struct json_object *
named(struct json_object *vars, const char *name)
{
	const char *s;
	size_t i;

	for (i = 0; i < jlen(vars); i++)
		if ((s = jget_str(jat(vars, i), "name")) != NULL &&
		    strcmp(s, name) == 0)
			return jat(vars, i);
	return NULL;
}

/*
 * lldb's expression of a variable, mended: it says "*(p)" for p once it has
 * looked at what that points to, "r.&r" for what a reference refers to, and
 * "p->[1]".
 */
static char *
path_of(struct json_object *v)
{
	const char *name = jget_str(v, "name");
	char *path = copy_text(jget_str(v, "evaluateName")), *p;
	size_t len = path == NULL ? 0 : strlen(path);

	if (len > 3 && *name != '*' && strncmp(path, "*(", 2) == 0 &&
	    path[len - 1] == ')') {
		path[len - 1] = '\0';
		memmove(path, path + 2, len - 2);
	}
	if (path != NULL && *name == '&' && (p = strstr(path, ".&")) != NULL)
		*p = '\0';
	while (path != NULL && (p = strstr(path, "->[")) != NULL)
		memmove(p, p + 2, strlen(p + 2) + 1);
	return path;
}

/*
 * "m[0]" is how lldb names the first element of whatever it shows, and C++
 * may mean another by it: then it is set by its address.
 */
static void
on_variables(struct op *op, const struct dap_answer *a, void *arg)
{
	struct dap_set *x = arg;
	struct json_object *v = a->ok ?
	    named(jget_arr(a->body, "variables"), x->name) : NULL;

	(void)op;
	x->path = v == NULL ? NULL : path_of(v);
	if (!a->ok || v == NULL)
		dap_set_end(x, false, a->ok ? "there is no variable of that "
		    "name" : a->message, NULL);
	else if (strstr(x->name, " @ ") != NULL)
		dap_set_end(x, false, "the function has several variables of "
		    "that name: in the block of this one, set it by an "
		    "expression in the console", NULL);
	else if (x->path == NULL || *x->path == '\0')
		dap_set_end(x, false, "lldb has no expression for this, and "
		    "it was not set", NULL);
	else if (!x->exact)
		ask_lldb(x, dialect()->expression_prefix, "(0, sizeof(", "))",
		    on_size);
	else
		set_path(x, x->path);
}

static void
ask_variables(struct dap_set *x)
{
	struct json_object *args = jone_int("variablesReference", x->ref);
	char *end;
	long n = *x->name == '[' ? strtol(x->name + 1, &end, 10) : -1;

	/* one element, of perhaps a million */
	if (n >= 0 && end > x->name + 1 && strcmp(end, "]") == 0) {
		jput_int(args, "start", n);
		jput_int(args, "count", 1);
	}
	adapter_ask("variables", args, NULL, on_variables, x);
}

static void
on_scopes(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	ask_variables(arg);
}

static void
on_register(struct op *op, const struct dap_answer *a, void *arg)
{
	const bool ok = a->ok;

	(void)op;
	dap_set_end(arg, ok, ok ? NULL : a->message, json_object_get(a->body));
	if (ok)
		debuggee_touched();
}

bool
editor_sets(struct editor *e, struct json_object *message,
    const char *command)
{
	struct json_object *args = jget_obj(message, "arguments");
	const char *value = jget_str(args, "value");
	const bool expression = strcmp(command, "setExpression") == 0;
	const char *name = jget_str(args, expression ? "expression" : "name");
	const struct shown *s;
	struct dap_set *x;

	/* the adapter will say what is missing there */
	if (!set_value_can() || value == NULL || name == NULL ||
	    (!expression && dialect()->expression_prefix == NULL))
		return false;
	if ((x = calloc(1, sizeof(*x))) == NULL)
		fatal("editor");
	*x = (struct dap_set) { .editor = editor_ref(e),
		.message = json_object_get(message),
		.name = copy_text(name), .value = copy_text(value),
		.ref = jget_num(args, "variablesReference", 0),
		.frame = jget_num(args, "frameId", 0) };
	if (expression) {
		set_path(x, name);
	} else if ((s = find_shown(x->ref)) == NULL) {
		dap_set_end(x, false, "this was shown before the program ran "
		    "on: ask for its scopes again", NULL);
	} else if (s->registers) {
		adapter_ask("setVariable", json_object_get(args), NULL,
		    on_register, x);
	} else {
		x->frame = s->frame;
		x->exact = is_exact(s, name);
		/* other clients look at other frames by the same numbers */
		if (s->scope)
			adapter_ask("scopes", jone_int("frameId", x->frame),
			    NULL, on_scopes, x);
		else
			ask_variables(x);
	}
	return true;
}
