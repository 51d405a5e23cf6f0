/* SPDX-License-Identifier: ISC */
/*
 * View of a frame in a thread of the stopped program: place and variables.
 * Requests are few and sent together where none needs another's answer: threads
 * and stack, scopes, then variables and the names of parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "misread.h"
#include "params.h"
#include "source.h"
#include "vars.h"
#include "view.h"

#define REFERENCES	32	/* of a frame, whose values are asked for */

struct job {
	struct job	*next;
	struct op	*op;		/* held; may be NULL */
	unsigned int	 want;
	view_fn		 fn;
	void		*arg;
	struct view	 view;
	uint64_t	 epoch;
	unsigned int	 pending;
	unsigned int	 referrers;	/* references that were asked for */
	bool		 no_thread;	/* to be picked when they are known */
	bool		 asked_threads;	/* and not yet answered */
	bool		 over;		/* but for that answer */
	bool		 again;		/* they were asked for twice */
	struct json_object *params;	/* their names */
	const char	*code;		/* of the first failure */
	char		*why;
};

static struct job	*head, **tail = &head;	/* head is at work */
/* The latest view with variables, and the epoch that it was read in. */
static struct view	 held;
static bool		 have_held;
static uint64_t		 held_epoch;

static void	 job_start(void);

static void
view_clear(struct view *v)
{
	json_object_put(v->frames);
	json_object_put(v->scopes);
	json_object_put(v->arguments);
	json_object_put(v->locals);
	*v = (struct view) { .line = 0 };
}

void
view_drop(void)
{
	if (have_held)
		view_clear(&held);
	have_held = false;
}

static void
view_copy(struct view *to, const struct view *from)
{
	*to = *from;
	json_object_get(to->frames);
	json_object_get(to->scopes);
	json_object_get(to->arguments);
	json_object_get(to->locals);
}

/* -- looking into it ---------------------------------------------------- */
struct json_object *
view_frame(const struct view *v)
{
	return jat(v->frames, v->frame);
}

bool
view_frame_id(const struct view *v, int64_t *id)
{
	return jget_int(view_frame(v), "id", id);
}

bool
view_source_path(struct json_object *frame, char *out)
{
	struct json_object *source = jget_obj(frame, "source");
	const char *path = jget_str(source, "path");
	size_t len;

	/* text that only the adapter has is no file, whatever its name */
	if (path == NULL || jget_num(source, "sourceReference", 0) > 0)
		return false;
	return source_find(path, dbg.cwd, out, PATH_MAX) &&
	    source_line(out, jget_num(frame, "line", 0), &len) != NULL;
}

static bool
is_scope(struct json_object *scope, const char *hint)
{
	const char *h = jget_str(scope, "presentationHint");
	const char *name = jget_str(scope, "name");

	/* "Locals", "Local", "Locals (warning: ...)", "Registers" */
	if (h != NULL)
		return strcmp(h, hint) == 0;
	return name != NULL &&
	    strncasecmp(name, hint, strlen(hint) - 1) == 0;
}

int64_t
view_scope(const struct view *v, const char *hint)
{
	size_t i;

	for (i = 0; i < jlen(v->scopes); i++)
		if (is_scope(jat(v->scopes, i), hint))
			return jget_num(jat(v->scopes, i),
			    "variablesReference", 0);
	return 0;
}

/* -- the end of a job --------------------------------------------------- */
/* The answer is to warn if what it shows may be wrong. */
static void
warn(struct op *op, const struct view *v)
{
	const size_t n = (size_t)v->frame + 1;
	const size_t wrong = misread_frame(v->frames, n, 0);

	if (op != NULL && op->warning == NULL && wrong < n)
		op->warning = misread_words(v->frames, wrong);
}

static void
view_job_end(struct job *j)
{
	bool good = j->code == NULL;

	if (j->asked_threads) {
		j->over = true;
		return;
	}
	if (good && dbg.epoch != j->epoch) {
		j->code = "not_stopped";
		j->why = copy_text("the program was resumed meanwhile");
		good = false;
	}
	if (good && (j->want & VIEW_VARIABLES) != 0 &&
	    j->view.thread == dbg.thread && j->view.frame == dbg.frame) {
		view_drop();
		view_copy(&held, &j->view);
		have_held = true;
		held_epoch = j->epoch;
	}
	if (good)
		warn(j->op, &j->view);
	j->fn(j->op, good ? &j->view : NULL, j->code, j->why, j->arg);
	if ((head = j->next) == NULL)
		tail = &head;
	view_clear(&j->view);
	json_object_put(j->params);
	free(j->why);
	if (j->op != NULL)
		op_unref(j->op);
	free(j);
	if (head != NULL)
		job_start();
}

static void
view_job_fail(struct job *j, const char *code, const char *why)
{
	if (j->code != NULL)
		return;
	j->code = code;
	j->why = copy_text(why == NULL ? "the adapter did not say why" : why);
}

/* -- variables ---------------------------------------------------------- */
/*
 * A name as the program has it: lldb tells several of one name by their
 * places, "x @ file.c:3"; delve has "(x)" for what another x hides.
 */
static size_t
bare(const char **name)
{
	const char *place = strstr(*name, " @ ");
	size_t len = strlen(*name);

	if (**name == '(' && (*name)[len - 1] == ')') {
		(*name)++;
		return len - 2;
	}
	return place == NULL ? len : (size_t)(place - *name);
}

static bool
same_name(const char *a, const char *b)
{
	size_t len = bare(&b);

	return a != NULL && bare(&a) == len && strncmp(a, b, len) == 0;
}

/* Does an expression of its name mean another one, further inside? */
static bool
is_hidden(struct json_object *vars, size_t i)
{
	const char *name = jget_str(jat(vars, i), "name");

	if (name == NULL || *name == '(' || strstr(name, " @ ") == NULL)
		return name != NULL && *name == '(';
	while (++i < jlen(vars))
		if (same_name(jget_str(jat(vars, i), "name"), name))
			return true;
	return false;
}

/*
 * For adapters that mix arguments and locals: a variable named like a parameter
 * is an argument.  If several have the same name, the parameters come first, in
 * the function's order.
 */
static bool
is_argument(const struct job *j, const char *name)
{
	size_t i, left = 0;

	for (i = 0; name != NULL && i < jlen(j->params); i++)
		left += same_name(json_object_get_string(jat(j->params, i)),
		    name);
	for (i = 0; left > 0 && i < jlen(j->view.arguments); i++)
		left -= same_name(jget_str(jat(j->view.arguments, i), "name"),
		    name);
	return left > 0;
}

static void
split_arguments(struct job *j)
{
	struct json_object *mixed = j->view.locals, *v;
	size_t i;

	if (j->view.arguments != NULL || mixed == NULL)
		return;
	j->view.arguments = jarray();
	j->view.locals = jarray();
	for (i = 0; i < jlen(mixed); i++) {
		v = jat(mixed, i);
		if (is_hidden(mixed, i))
			json_object_object_del(v, "evaluateName");
		jadd(is_argument(j, jget_str(v, "name")) ?
			j->view.arguments :
			j->view.locals,
		    json_object_get(v));
	}
	json_object_put(mixed);
}

static void
job_less(struct job *j)
{
	if (--j->pending > 0)
		return;
	split_arguments(j);
	view_job_end(j);
}

/* -- references --------------------------------------------------------- */
/* A reference whose value is asked for. */
struct referrer {
	struct job	*job;
	struct json_object *var;
};

static void
on_referred(struct op *op, const struct dap_answer *a, void *arg)
{
	struct referrer *r = arg;
	char *text;

	(void)op;
	if (a->ok && (text = var_referred(jget_str(r->var, "value"),
	    jget_arr(a->body, "variables"))) != NULL) {
		jput_str(r->var, "value", text);
		free(text);
	}
	json_object_put(r->var);
	job_less(r->job);
	free(r);
}

static void
ask_referred(struct job *j, struct op *op, struct json_object *vars)
{
	struct json_object *var;
	struct referrer *r;
	size_t i;

	for (i = 0; i < jlen(vars) && j->referrers < REFERENCES; i++) {
		var = jat(vars, i);
		if (!var_lacks_value(var) ||
		    (r = calloc(1, sizeof(*r))) == NULL)
			continue;
		*r = (struct referrer) { j, json_object_get(var) };
		j->pending++;
		j->referrers++;
		adapter_ask("variables", jone_int("variablesReference",
			jget_num(var, "variablesReference", 0)), op,
		    on_referred, r);
	}
}

static void
on_params(struct op *op, struct json_object *names, void *arg)
{
	struct job *j = arg;

	(void)op;
	j->params = json_object_get(names);
	job_less(j);
}

static void
mend(struct json_object *vars)
{
	size_t i;

	for (i = 0; i < jlen(vars); i++)
		misread_mend(jat(vars, i), NULL);
}

static void
on_locals(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	if (a->ok)
		j->view.locals =
		    json_object_get(jget_arr(a->body, "variables"));
	mend(j->view.locals);
	ask_referred(j, op, j->view.locals);
	job_less(j);
}

static void
on_arguments(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	if (a->ok)
		j->view.arguments =
		    json_object_get(jget_arr(a->body, "variables"));
	mend(j->view.arguments);
	ask_referred(j, op, j->view.arguments);
	job_less(j);
}

static void
on_scopes(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	int64_t locals, arguments;

	if (a->ok)
		j->view.scopes = json_object_get(jget_arr(a->body, "scopes"));
	locals = view_scope(&j->view, "locals");
	arguments = view_scope(&j->view, "arguments");
	j->pending = 1;
	if ((j->want & VIEW_VARIABLES) != 0 && arguments > 0) {
		j->pending++;
		adapter_ask("variables",
		    jone_int("variablesReference", arguments), op,
		    on_arguments, j);
	}
	if ((j->want & VIEW_VARIABLES) != 0 && locals > 0) {
		j->pending++;
		adapter_ask("variables",
		    jone_int("variablesReference", locals), op, on_locals, j);
		if (arguments <= 0) {
			j->pending++;
			params_get(op, &j->view, on_params, j);
		}
	}
	job_less(j);
}

/* -- the stack ---------------------------------------------------------- */
static void
on_learnt(void *arg)
{
	struct job *j = arg;
	int64_t id;

	if ((j->want & (VIEW_VARIABLES | VIEW_SCOPES)) == 0 ||
	    !view_frame_id(&j->view, &id))
		view_job_end(j);
	else
		adapter_ask("scopes", jone_int("frameId", id), j->op,
		    on_scopes, j);
}

static bool
deep_inside(struct json_object *frame)
{
	const char *hint = jget_str(frame, "presentationHint");

	return hint != NULL && strcmp(hint, "normal") != 0;
}

/* Crashes happen in libraries; people look at what called them. */
static void
focus(struct job *j)
{
	char file[PATH_MAX];
	size_t i;

	for (i = 0; i < jlen(j->view.frames); i++) {
		if (deep_inside(jat(j->view.frames, i)) ||
		    !view_source_path(jat(j->view.frames, i), file))
			continue;
		dbg.frame = j->view.frame = (unsigned int)i;
		return;
	}
}

static void
no_such_thread(struct job *j)
{
	char words[128];

	snprintf(words, sizeof(words), "there is no thread %lld, or it has no "
	    "stack; `debugger threads` lists them", (long long)j->view.thread);
	view_job_fail(j, "no_such", words);
}

static void
no_such_frame(struct job *j)
{
	char words[128];

	if (jlen(j->view.frames) == 0) {
		no_such_thread(j);
		return;
	}
	snprintf(words, sizeof(words),
	    "there is no frame %u: the stack has frames 0 to %zu",
	    j->view.frame, jlen(j->view.frames) - 1);
	view_job_fail(j, "no_such", words);
}

static void
on_stack(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	int64_t id;

	if (!a->ok) {
		view_job_fail(j, a->code, a->message);
		view_job_end(j);
		return;
	}
	j->view.frames = json_object_get(jget_arr(a->body, "stackFrames"));
	j->view.all_frames = jlen(j->view.frames) < VIEW_FRAMES;
	if ((j->want & VIEW_FOCUS) != 0)
		focus(j);
	if (!view_frame_id(&j->view, &id)) {
		no_such_frame(j);
		view_job_end(j);
		return;
	}
	j->view.line = jget_num(view_frame(&j->view), "line", 0);
	if (!view_source_path(view_frame(&j->view), j->view.file))
		j->view.file[0] = '\0';
	misread_learn(op, j->view.frames, 0, on_learnt, j);
}

static void
ask_stack(struct job *j)
{
	struct json_object *args = jone_int("threadId", j->view.thread);

	jput_int(args, "startFrame", 0);
	jput_int(args, "levels", j->view.frame < VIEW_FRAMES ?
		VIEW_FRAMES : (int64_t)j->view.frame + 1);
	adapter_ask("stackTrace", args, j->op, on_stack, j);
}

static struct json_object *
pick_thread(struct json_object *threads)
{
	const char *name;
	size_t i;

	/* delve marks the one in focus */
	for (i = 0; i < jlen(threads); i++) {
		name = jget_str(jat(threads, i), "name");
		if (name != NULL && strncmp(name, "* ", 2) == 0)
			return jat(threads, i);
	}
	return jat(threads, 0);
}

static struct json_object *
view_thread_of(struct json_object *threads, int64_t id)
{
	size_t i;

	for (i = 0; i < jlen(threads); i++)
		if (jget_num(jat(threads, i), "id", INT64_MIN) == id)
			return jat(threads, i);
	return NULL;
}

static void
on_threads(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	struct json_object *threads, *t;
	const char *name;

	(void)op;
	j->asked_threads = false;
	threads = a->ok ? jget_arr(a->body, "threads") : NULL;
	t = j->no_thread ? pick_thread(threads) :
			   view_thread_of(threads, j->view.thread);
	/* lldb's first answer may be older than the thread */
	if (a->ok && t == NULL && !j->no_thread && !j->again) {
		j->again = j->asked_threads = true;
		adapter_ask("threads", NULL, j->op, on_threads, j);
		return;
	}
	if (a->ok && t == NULL && !j->no_thread && dialect()->any_thread)
		no_such_thread(j);
	if ((name = jget_str(t, "name")) != NULL)
		/* without delve's mark */
		name += strncmp(name, "* ", 2) == 0 ? 2 : 0;
	if (name != NULL)
		snprintf(j->view.thread_name, sizeof(j->view.thread_name),
		    "%s", name);
	if (j->no_thread && t != NULL) {
		dbg.thread = j->view.thread = jget_num(t, "id", 0);
		dbg.has_thread = true;
		ask_stack(j);
	} else if (j->no_thread) {
		view_job_fail(j, "no_such", "the program has no threads");
		view_job_end(j);
	} else if (j->over)
		view_job_end(j);
}

/* -- jobs --------------------------------------------------------------- */
static void
job_start(void)
{
	struct job *j = head;

	j->epoch = dbg.epoch;
	if (have_held && held_epoch == dbg.epoch &&
	    held.thread == j->view.thread && held.frame == j->view.frame &&
	    (j->want & (VIEW_SCOPES | VIEW_FOCUS)) == 0) {
		view_copy(&j->view, &held);
		view_job_end(j);
		return;
	}
	/* its answer comes first, and the stack's need not wait for it */
	j->asked_threads = true;
	adapter_ask("threads", NULL, j->op, on_threads, j);
	if (!j->no_thread)
		ask_stack(j);
}

void
view_at(struct op *op, int64_t thread, unsigned int frame, unsigned int want,
    view_fn fn, void *arg)
{
	struct job *j;

	if ((j = calloc(1, sizeof(*j))) == NULL) {
		fn(op, NULL, "internal_error", "out of memory", arg);
		return;
	}
	*j = (struct job) { .want = want, .fn = fn, .arg = arg,
		.op = op == NULL ? NULL : op_ref(op),
		.no_thread = !dbg.has_thread && thread == dbg.thread };
	j->view.thread = thread;
	j->view.frame = frame;
	*tail = j;
	tail = &j->next;
	if (head == j)
		job_start();
}

void
view_ask(struct op *op, unsigned int want, view_fn fn, void *arg)
{
	int64_t thread = dbg.thread, frame = dbg.frame;

	if (op != NULL && (!op_int(op, "thread", false, &thread) ||
	    !op_int(op, "frame", false, &frame)))
		return;
	if (frame < 0 || frame > 100000) {
		fn(op, NULL, "invalid_argument",
		    "a frame is a number from 0, the innermost, on", arg);
		return;
	}
	/* another thread is looked at from its innermost frame */
	if (thread != dbg.thread && op != NULL &&
	    !json_object_object_get_ex(op->args, "frame", NULL))
		frame = 0;
	view_at(op, thread, (unsigned int)frame, want, fn, arg);
}
