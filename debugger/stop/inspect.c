/* SPDX-License-Identifier: ISC */
/*
 * The commands that look at a stopped program: where it is, its stack, its
 * variables, its threads.  Only frame, up, down and thread move what the
 * others look at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "debugger/view/frames.h"
#include "debugger/view/looks.h"
#include "debugger/view/source.h"
#include "debugger/view/vars.h"
#include "debugger/view/view.h"
#include "summary.h"

#define THREADS_PLACED	64	/* that are asked where they are */
#define FRAMES_MOST	1000	/* of one answer */
#define FRAMES_DEEPEST	1000000

/* -- context, frame, thread --------------------------------------------- */
static void
reply_view(struct op *op, const struct view *v)
{
	struct json_object *o;
	int64_t around = SOURCE_AROUND;
	char place[512];
	struct bound b;

	if (!bound_init(&b, op) || !op_int(op, "lines", false, &around))
		return;
	if (around < 0 || around > SOURCE_MOST / 2)
		around = SOURCE_AROUND;
	o = jobject();
	jput_str(o, "state", "stopped");
	jput_int(o, "epoch", (int64_t)dbg.epoch);
	frame_words(view_frame(v), place, sizeof(place));
	jput_fmt(o, "words", "frame %u: %s", v->frame, place);
	summary_view(&b, o, v, around);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
on_context(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	(void)arg;
	if (code != NULL)
		op_fail(op, code, "%s", why);
	else
		reply_view(op, v);
}

static bool
names_place(struct op *op)
{
	return json_object_object_get_ex(op->args, "thread", NULL) ||
	    json_object_object_get_ex(op->args, "frame", NULL);
}

/* The view being gathered comes first in the queue: it is complete now. */
static void
on_gathered(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	(void)v;
	(void)code;
	(void)why;
	(void)arg;
	op_reply(op, summary_make(op));
}

/* A read-only client gets what was gathered; the adapter is not asked. */
static void
context(struct op *op)
{
	if (dbg.phase != PHASE_STOPPED || !op->ask.rw ||
	    (!names_place(op) && !dbg.gathering))
		op_reply(op, summary_make(op));
	else
		view_ask(op, VIEW_VARIABLES,
		    names_place(op) ? on_context : on_gathered, NULL);
}

static void
on_selected(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	(void)arg;
	if (code != NULL) {
		op_fail(op, code, "%s", why);
		return;
	}
	dbg.thread = v->thread;
	dbg.has_thread = true;
	dbg.frame = v->frame;
	summary_select(v);
	reply_view(op, v);
}

static void
select_frame(struct op *op, int64_t index)
{
	if (index < 0)
		op_fail(op, "no_such", "this is the innermost frame, 0: "
		    "there is none below it");
	else if (index > FRAMES_MOST)
		op_fail(op, "no_such", "there is no frame %" PRId64, index);
	else
		view_at(op, dbg.thread, (unsigned int)index, VIEW_VARIABLES,
		    on_selected, NULL);
}

static void
frame(struct op *op)
{
	int64_t index = dbg.frame;

	if (op_int(op, "index", false, &index))
		select_frame(op, index);
}

static void
up(struct op *op)
{
	select_frame(op, (int64_t)dbg.frame + 1);
}

static void
down(struct op *op)
{
	select_frame(op, (int64_t)dbg.frame - 1);
}

static void
thread(struct op *op)
{
	int64_t id = dbg.thread;

	if (!op_int(op, "id", false, &id))
		return;
	view_at(op, id, id == dbg.thread ? dbg.frame : 0, VIEW_VARIABLES,
	    on_selected, NULL);
}

/* -- locals, args ------------------------------------------------------- */
static void
on_variables(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	const char *key = arg;
	struct json_object *o, *vars;
	int64_t offset = 0;
	struct bound b;

	if (code != NULL) {
		op_fail(op, code, "%s", why);
		return;
	}
	if (!bound_init(&b, op) || !op_int(op, "offset", false, &offset))
		return;
	vars = strcmp(key, "locals") == 0 ? v->locals : v->arguments;
	o = jobject();
	jput(o, "thread", thread_json(v));
	jput(o, "frame", frame_json(view_frame(v), v->frame));
	b.used += jsize(o);
	vars_put_some(&b, o, key, vars, offset < 0 ? 0 : offset, FORMAT_NONE);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
variables(struct op *op, const char *key)
{
	const char *path = NULL;

	if (!op_string(op, "path", false, &path))
		return;
	/* the rest of one of them is what print shows */
	if (path != NULL)
		look_print(op, path);
	else
		view_ask(op, VIEW_VARIABLES, on_variables,
		    (void *)(uintptr_t)key);
}

static void
locals(struct op *op)
{
	variables(op, "locals");
}

static void
args(struct op *op)
{
	variables(op, "arguments");
}

/* -- backtrace ---------------------------------------------------------- */
struct trace {
	int64_t		 thread;
	struct json_object *frames;	/* the adapter's */
	struct json_object *vars;	/* per frame: {"arguments","locals"} */
	bool		 all;
	size_t		 n, at;		/* frames up to n, from `from` on */
	size_t		 from;
};

static void
free_trace(void *p)
{
	struct trace *t = p;

	json_object_put(t->frames);
	json_object_put(t->vars);
	free(t);
}

static void
put_frame(struct bound *b, struct trace *t, struct json_object *o, size_t i)
{
	struct json_object *vars = jat(t->vars, i - t->from);

	if (t->thread == dbg.thread && i == dbg.frame)
		jput_bool(o, "selected", true);
	if (vars == NULL)
		return;
	vars_put_some(b, o, "arguments", jget_arr(vars, "arguments"), 0,
	    FORMAT_NONE);
	vars_put_some(b, o, "locals", jget_arr(vars, "locals"), 0, FORMAT_NONE);
}

static void
reply_trace(struct op *op, struct trace *t)
{
	struct json_object *o, *arr, *one;
	struct bound b;
	size_t i, n = jlen(t->frames) < t->n ? jlen(t->frames) : t->n;

	if (!bound_init(&b, op))
		return;
	o = jone_int("thread", t->thread);
	frames_warn(o, t->frames, t->all);
	arr = jarray();
	b.used += jsize(o) + 64;
	for (i = t->from; i < n; i++) {
		one = frame_json(jat(t->frames, i), i);
		b.used += jsize(one) + 16;
		put_frame(&b, t, one, i);
		jadd(arr, one);
		if (bound_left(&b) < 256 && ++i)
			break;
	}
	jput(o, "frames", arr);
	if (i < jlen(t->frames) || !t->all)
		bound_cut(&b, "frames", (int64_t)(i - t->from), t->all ?
			(int64_t)jlen(t->frames) : -1, NULL, (int64_t)i);
	if (t->all)
		jput_int(o, "total", (int64_t)jlen(t->frames));
	bound_done(&b, o);
	op_reply(op, o);
}

/* The variables of one frame after the other. */
static void
on_trace_vars(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct trace *t = op->data;
	struct json_object *vars = jobject();

	(void)arg;
	if (code != NULL && strcmp(code, "not_stopped") == 0) {
		json_object_put(vars);
		op_fail(op, code, "%s", why);
		return;
	}
	if (code == NULL) {
		jput(vars, "arguments", json_object_get(v->arguments));
		jput(vars, "locals", json_object_get(v->locals));
	}
	jadd(t->vars, vars);
	if (++t->at < t->n && t->at < jlen(t->frames))
		view_at(op, t->thread, (unsigned int)t->at, VIEW_VARIABLES,
		    on_trace_vars, NULL);
	else
		reply_trace(op, t);
}

static void
have_frames(struct op *op, struct trace *t)
{
	if (t->vars == NULL || jlen(t->frames) == 0)
		reply_trace(op, t);
	else
		view_at(op, t->thread, (unsigned int)t->from, VIEW_VARIABLES,
		    on_trace_vars, NULL);
}

/* Behind the end there is nothing to show. */
static bool
is_there(struct op *op, const struct trace *t)
{
	if (t->from == 0 || t->from < jlen(t->frames))
		return true;
	op_fail(op, "no_such", "there is no frame %zu: the stack has frames 0 "
	    "to %zu", t->from, jlen(t->frames) - (jlen(t->frames) > 0));
	return false;
}

static void
on_long_trace(struct op *op, const struct dap_answer *a, void *arg)
{
	struct trace *t = arg;

	if (!a->ok) {
		op_fail_dap(op, a);
		return;
	}
	json_object_put(t->frames);
	t->frames = json_object_get(jget_arr(a->body, "stackFrames"));
	t->all = jlen(t->frames) < t->n + 1;
	if (is_there(op, t))
		have_frames(op, t);
}

static void
on_trace(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct trace *t = op->data;
	struct json_object *req;

	(void)arg;
	if (code != NULL) {
		op_fail(op, code, "%s", why);
		return;
	}
	t->thread = v->thread;
	t->frames = json_object_get(v->frames);
	t->all = v->all_frames;
	if (t->all || t->n < jlen(t->frames)) {
		if (is_there(op, t))
			have_frames(op, t);
		return;
	}
	req = jone_int("threadId", t->thread);
	jput_int(req, "startFrame", 0);
	jput_int(req, "levels", (int64_t)t->n + 1);
	adapter_ask("stackTrace", req, op, on_long_trace, t);
}

static void
backtrace(struct op *op)
{
	int64_t limit = VIEW_FRAMES, from = 0;
	bool with_locals = false;
	struct trace *t;

	if (!op_int(op, "limit", false, &limit) ||
	    !op_int(op, "offset", false, &from) ||
	    !op_bool(op, "locals", &with_locals))
		return;
	if (from < 0 || from > FRAMES_DEEPEST) {
		op_fail(op, "invalid_argument", "offset is %" PRId64
		    ": a backtrace begins at a frame from 0 to %d", from,
		    FRAMES_DEEPEST);
		return;
	}
	if (limit < 1 || limit > FRAMES_MOST) {
		op_fail(op, "invalid_argument", "limit is %" PRId64
		    ": a backtrace has from 1 to %d frames", limit,
		    FRAMES_MOST);
		return;
	}
	if ((t = calloc(1, sizeof(*t))) == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	t->from = t->at = (size_t)from;
	t->n = t->from + (size_t)limit;
	if (with_locals)
		t->vars = jarray();
	op->data = t;
	op->free_data = free_trace;
	view_ask(op, VIEW_PLACE, on_trace, NULL);
}

/* -- threads ------------------------------------------------------------ */
struct crowd {
	struct json_object *threads;	/* ours, as they will be shown */
	unsigned int	 pending;
};

static void
free_crowd(void *p)
{
	struct crowd *c = p;

	json_object_put(c->threads);
	free(c);
}

static void
crowd_less(struct op *op, struct crowd *c)
{
	struct json_object *o, *arr;
	struct bound b;
	size_t i;

	if (--c->pending > 0 || !bound_init(&b, op))
		return;
	o = jobject();
	arr = jarray();
	b.used += 32;
	for (i = 0; i < jlen(c->threads); i++)
		if (!bound_add(&b, arr,
			json_object_get(jat(c->threads, i)))) {
			bound_cut(&b, "threads", (int64_t)i,
			    (int64_t)jlen(c->threads), NULL, (int64_t)i);
			break;
		}
	jput(o, "threads", arr);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
on_place(struct op *op, const struct dap_answer *a, void *arg)
{
	struct crowd *c = op->data;
	struct json_object *top = NULL, *one = arg;
	struct json_object *f;

	if (a->ok)
		top = jat(jget_arr(a->body, "stackFrames"), 0);
	if (top != NULL) {
		f = frame_json(top, 0);
		jput_str(one, "function", jget_str(f, "function"));
		jput_str(one, "file", jget_str(f, "file"));
		if (jget_num(f, "line", 0) > 0)
			jput_int(one, "line", jget_num(f, "line", 0));
		json_object_put(f);
	}
	crowd_less(op, c);
}

static void
on_threads(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *list, *one, *req;
	struct crowd *c = op->data;
	int64_t id;
	size_t i;

	(void)arg;
	if (!a->ok) {
		op_fail_dap(op, a);
		return;
	}
	list = jget_arr(a->body, "threads");
	c->pending = 1;
	for (i = 0; i < jlen(list); i++) {
		id = jget_num(jat(list, i), "id", 0);
		one = jone_int("id", id);
		jput_str(one, "name", jget_str(jat(list, i), "name"));
		jput_bool(one, "selected", dbg.has_thread && id == dbg.thread);
		jput_str(one, "state", phase_name(dbg.phase));
		jadd(c->threads, one);
		if (dbg.phase != PHASE_STOPPED || i >= THREADS_PLACED)
			continue;
		req = jone_int("threadId", id);
		jput_int(req, "startFrame", 0);
		jput_int(req, "levels", 1);
		c->pending++;
		adapter_ask("stackTrace", req, op, on_place, one);
	}
	crowd_less(op, c);
}

static void
on_old_threads(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
}

static void
threads(struct op *op)
{
	struct crowd *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	c->threads = jarray();
	op->data = c;
	op->free_data = free_crowd;
	/* lldb's first answer after a start is one of long ago */
	if (dialect()->lldb_commands)
		adapter_ask("threads", NULL, op, on_old_threads, NULL);
	adapter_ask("threads", NULL, op, on_threads, NULL);
}

const struct command look_commands[] = {
	{ "context", true, ON_ANY, context },
	{ "frame", false, ON_STOPPED, frame },
	{ "up", false, ON_STOPPED, up },
	{ "down", false, ON_STOPPED, down },
	{ "thread", false, ON_STOPPED, thread },
	{ "threads", true, ON_LIVE, threads },
	{ "locals", false, ON_STOPPED, locals },
	{ "args", false, ON_STOPPED, args },
	{ "backtrace", false, ON_STOPPED, backtrace },
	{ NULL, false, 0, NULL }
};
