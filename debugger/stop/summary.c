/* SPDX-License-Identifier: ISC */
/*
 * The stop summary: all that a caller wants to know next, in one answer.  It
 * is gathered once per stop, and made for each caller within that caller's
 * bounds.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/catch.h"
#include "debugger/bps/condition.h"
#include "debugger/bps/configure.h"
#include "debugger/bps/hits.h"
#include "debugger/bps/watch.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "debugger/text/memtext.h"
#include "debugger/view/diff.h"
#include "debugger/view/exception.h"
#include "debugger/view/frames.h"
#include "debugger/view/source.h"
#include "debugger/view/vars.h"
#include "debugger/view/view.h"
#include "output.h"
#include "summary.h"

/* Facts about the present stop. */
static struct {
	bool		 have;
	struct view	 view;		/* holds what it points to */
	char		 place[512];	/* where it stopped */
	struct json_object *changed, *breakpoints, *watchpoints;
} g;

static void		(*gathered)(void);
static unsigned int	pending;

static void
hold(const struct view *v)
{
	json_object_put(g.view.frames);
	json_object_put(g.view.arguments);
	json_object_put(g.view.locals);
	g.view = *v;
	/* its references are good for nothing later */
	g.view.scopes = NULL;
	json_object_get(g.view.frames);
	json_object_get(g.view.arguments);
	json_object_get(g.view.locals);
}

void
summary_select(const struct view *v)
{
	if (g.have)
		hold(v);
}

static void
forget(void)
{
	json_object_put(g.view.frames);
	json_object_put(g.view.arguments);
	json_object_put(g.view.locals);
	json_object_put(g.changed);
	json_object_put(g.breakpoints);
	json_object_put(g.watchpoints);
	memset(&g, 0, sizeof(g));
}

/* -- gathering ---------------------------------------------------------- */
/* The same function called from elsewhere is another one's variables. */
static void
note_changes(void)
{
	struct json_object *frame = view_frame(&g.view);
	const char *name = jget_str(frame, "name");
	char key[1024];

	json_object_put(g.changed);
	snprintf(key, sizeof(key), "%" PRId64 " %zu %.800s", g.view.thread,
	    g.view.all_frames ? jlen(g.view.frames) - g.view.frame : 0,
	    name == NULL ? "" : name);
	g.changed = diff_note(key, g.view.arguments, g.view.locals);
}

static void
list_hits(void)
{
	struct bp *bp;
	size_t i;

	json_object_put(g.breakpoints);
	json_object_put(g.watchpoints);
	g.breakpoints = jarray();
	g.watchpoints = jarray();
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->hit && !bp->once && bp->catcher == 0)
			jadd(g.breakpoints, jint(bp->id));
	}
	catch_hits(exception_latest(), g.breakpoints);
	watch_hits(g.watchpoints, g.changed);
}

static void
less(void)
{
	void (*fn)(void) = gathered;

	if (--pending > 0)
		return;
	if (g.have) {
		note_changes();
		list_hits();
	}
	gathered = NULL;
	fn();
}

static void
on_exception(const struct exception *e)
{
	(void)e;
	less();
}

/* A condition that cannot be evaluated stops: that must be said. */
static void
on_condition(struct op *op, const struct dap_answer *a, void *arg)
{
	struct bp *bp = bps_find((int64_t)(intptr_t)arg);
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;
	char words[400];

	(void)op;
	if (bp != NULL && value == NULL) {
		snprintf(words, sizeof(words), "%s",
		    a->ok ? "it has no value" : memtext_error(a->message));
		bps_set(&bp->condition_error, words);
	} else if (bp != NULL) {
		bp->condition_good = true;
		bps_set(&bp->condition_error, NULL);
		bp->hit = bp->hit || hit_true(value);
	}
	less();
}

static void
ask_condition(const struct bp *bp, int64_t frame)
{
	struct json_object *args = jone_int("frameId", frame);

	jput_str(args, "expression", bp->condition);
	jput_str(args, "context", dialect()->print_context);
	pending++;
	adapter_ask("evaluate", args, NULL, on_condition,
	    (void *)(intptr_t)bp->id);
}

static bool
at_breakpoint(void)
{
	return strcmp(dbg.stop.reason, "breakpoint") == 0 ||
	    strcmp(dbg.stop.reason, "step") == 0 || dbg.stop.nhits > 0;
}

/*
 * Hits of breakpoints that we evaluate are known already; the others are marked
 * by the place of the stop.
 */
static void
mark_hits(struct json_object *innermost, int64_t frame)
{
	bool first = condition_count_once();
	enum hit hit;
	struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->checked_here)
			continue;
		hit = at_breakpoint() ?
		    hit_of(bp, &dbg.stop, innermost) : HIT_NO;
		bp->hit = hit == HIT_YES;
		if (hit != HIT_NO && first)
			bp->hits++;
		if (bp->condition != NULL && hit != HIT_NO &&
		    (hit == HIT_MAYBE || !bp->condition_good))
			ask_condition(bp, frame);
	}
}

static void
on_view(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	int64_t frame;

	(void)op;
	(void)why;
	(void)arg;
	if (code != NULL) {
		less();
		return;
	}
	hold(v);
	g.have = true;
	frame_words(view_frame(v), g.place, sizeof(g.place));
	frame = jget_num(jat(v->frames, 0), "id", 0);
	mark_hits(jat(v->frames, 0), frame);
	watch_gather(frame, less);
}

/* In a crash, the library's innermost functions are of no interest. */
static bool
is_crash(void)
{
	struct bp *bp;
	size_t i, k;

	if (strcmp(dbg.stop.reason, "exception") == 0 ||
	    strcmp(dbg.stop.reason, "signal") == 0)
		return true;
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		for (k = 0; bp->catcher != 0 && k < dbg.stop.nhits; k++)
			if (bp->has_adapter_id &&
			    dbg.stop.hits[k] == bp->adapter_id)
				return true;
	}
	return false;
}

void
summary_gather(void (*done)(void))
{
	bool crash;

	/* the same stop, looked at again: the old answers serve until then */
	if (!condition_counted())
		forget();
	view_drop();
	if (dbg.phase != PHASE_STOPPED || dbg.stop.reason == NULL) {
		done();
		return;
	}
	gathered = done;
	pending = 1;
	crash = is_crash();
	if (crash && !exception_latest()->known) {
		pending++;
		exception_read(on_exception);
	}
	view_ask(NULL, VIEW_VARIABLES | (crash && dbg.frame == 0 ?
		VIEW_FOCUS : VIEW_PLACE), on_view, NULL);
}

/* -- making ------------------------------------------------------------- */
static void
add_ids(char *out, size_t room, struct json_object *ids, const char *kind)
{
	size_t i, len = strlen(out);
	const char *what;
	int64_t id;

	for (i = 0; i < jlen(ids) && len < room; i++) {
		id = json_object_get_int64(jat(ids, i));
		what = kind != NULL ? kind :
		    bps_find(id) != NULL ? "breakpoint" : "catchpoint";
		len += (size_t)snprintf(out + len, room - len,
		    "%s%s %" PRId64, len == 0 ? "" : ", ", what, id);
	}
}

static void
put_hits_words(char *out, size_t room)
{
	out[0] = '\0';
	add_ids(out, room, g.breakpoints, NULL);
	add_ids(out, room, g.watchpoints, "watchpoint");
}

/* The same without what the program has in it. */
static void
why_looks(char *out, size_t room)
{
	const char *reason = dbg.stop.reason;
	const char *signal = sigabbrev_np(dbg.stop.signal);
	const struct exception *e = exception_latest();

	if (strcmp(reason, "exception") == 0 && e->types[0][0] != '\0')
		snprintf(out, room, "exception %s", e->types[0]);
	else if (dbg.stop.signal > 0 && signal != NULL)
		snprintf(out, room, "signal SIG%s", signal);
	else
		snprintf(out, room, "%s", reason);
}

/* Why it stands, in a few words. */
static void
why_words(char *out, size_t room, bool looks)
{
	const char *reason = dbg.stop.reason;
	const struct exception *e = exception_latest();

	put_hits_words(out, room);
	if (out[0] != '\0' && strcmp(reason, "exception") != 0)
		return;
	if (looks && (strcmp(reason, "exception") == 0 ||
	    strcmp(reason, "signal") == 0))
		why_looks(out, room);
	else if (strcmp(reason, "exception") == 0 && e->types[0][0] != '\0')
		snprintf(out, room, "exception %s%s%.600s", e->types[0],
		    e->description[0] == '\0' ? "" : ": ", e->description);
	else if (strcmp(reason, "exception") == 0 ||
	    strcmp(reason, "signal") == 0)
		snprintf(out, room, "%.600s",
		    dbg.stop.description[0] != '\0' ? dbg.stop.description :
						      reason);
	else if (strcmp(reason, "step") == 0 ||
	    strcmp(reason, "breakpoint") == 0)
		out[0] = '\0';
	else
		snprintf(out, room, "%s", reason);
}

const char *
summary_file(void)
{
	return g.have && dbg.phase == PHASE_STOPPED ? g.view.file : "";
}

/*
 * Tells whether the condition of a breakpoint that may have caused the stop has
 * failed.  A condition that was good once may be good again.
 */
static bool
condition_failed(const struct bp *bp)
{
	return bp->condition_error != NULL && (bp->hit ||
	    !bp->condition_good);
}

/* Conditions that failed are shouted: the program need not be here. */
static void
add_condition_errors(char *words, size_t room, bool looks)
{
	struct bp *bp;
	size_t i, len;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!condition_failed(bp))
			continue;
		len = strlen(words);
		snprintf(words + len, room - len, "; the condition of "
		    "breakpoint %" PRId64 " FAILED%s%.*s", bp->id,
		    looks ? "" : ": ", looks ? 0 :
			(int)strcspn(bp->condition_error, "\n"),
		    bp->condition_error);
	}
}

static void
put_failed_conditions(struct json_object *o)
{
	struct json_object *list = jarray(), *failed;
	const struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!condition_failed(bp))
			continue;
		failed = jobject();
		jput_int(failed, "id", bp->id);
		jput_str(failed, "error", bp->condition_error);
		jadd(list, failed);
	}
	if (jlen(list) > 0)
		jput(o, "failed_conditions", list);
	else
		json_object_put(list);
}

/* The client that let it run may have been answered before that was known. */
static void
add_refusal(char *words, size_t room, bool looks)
{
	size_t len = strlen(words);

	if (dbg.refused[0] != '\0')
		snprintf(words + len, room - len, "; %s", looks ?
		    "the adapter did not let it run on" : dbg.refused);
}

static void
put_stop_words(struct json_object *o, bool looks)
{
	char why[1024], words[4096];

	why_words(why, sizeof(why), looks);
	snprintf(words, sizeof(words), "stopped%s%s, %s",
	    why[0] == '\0' ? "" : ": ", why,
	    g.have ? g.place : "where is not known");
	add_condition_errors(words, sizeof(words), looks);
	add_refusal(words, sizeof(words), looks);
	jput_str(o, "words", words);
	if (dbg.refused[0] != '\0')
		jput_str(o, "refused", dbg.refused);
	put_failed_conditions(o);
}

void
summary_view(struct bound *b, struct json_object *o, const struct view *v,
    int64_t around)
{
	struct json_object *source;

	jput(o, "thread", thread_json(v));
	jput(o, "frame", frame_json(view_frame(v), v->frame));
	b->used += jsize(o);
	if ((source = frame_source(v, around)) != NULL &&
	    !bound_put(b, o, "source", source))
		bound_cut(b, "source", 0, -1, v->file, v->line);
	vars_put_some(b, o, "arguments", v->arguments, 0, FORMAT_NONE);
	vars_put_some(b, o, "locals", v->locals, 0, FORMAT_NONE);
}

static void
make_stopped(struct bound *b, struct json_object *o, int64_t around,
    bool looks)
{
	struct json_object *e;

	jput_str(o, "reason", dbg.stop.reason);
	jput_str(o, "raw_reason", dbg.stop.raw_reason);
	jput_str(o, "description", dbg.stop.description);
	put_stop_words(o, looks);
	if ((e = exception_json(exception_latest())) != NULL &&
	    !bound_put(b, o, "exception", e))
		bound_cut(b, "exception", 0, -1, NULL, 0);
	if (!g.have)
		return;
	jput(o, "breakpoints", json_object_get(g.breakpoints));
	jput(o, "watchpoints", json_object_get(g.watchpoints));
	/* a third of what is left: variables come after it */
	output_put_part(b, o, dbg.out_from, dbg.out_to, bound_left(b) / 3);
	frames_warn(o, g.view.frames, g.view.all_frames);
	summary_view(b, o, &g.view, around);
	if (!bound_put(b, o, "changed", json_object_get(g.changed)))
		bound_cut(b, "changed", 0, (int64_t)jlen(g.changed), NULL, 0);
}

static void
make_running(struct bound *b, struct json_object *o)
{
	jput_str(o, "words", dbg.intent == INTENT_PAUSE ?
	    "still running: it was told to pause and has not yet; `debugger "
	    "await` waits until it does" :
	    "still running: `debugger await` waits until it stops, `debugger "
	    "pause` stops it");
	output_put_part(b, o, dbg.out_to, dbg.ring.hdr == NULL ? 0 :
		ring_total(&dbg.ring), bound_left(b));
}

/* The only signal that no debugger sees before its program dies of it. */
static bool
is_doubtful(const struct ending *end)
{
	return !end->sure && end->code == SIGKILL && dbg.profile != NULL &&
	    (dbg.profile->quirks & Q_SIGNAL_IS_CODE) != 0;
}

/* Describes the end of debugging when the program's end is unknown. */
static const char *
unknown_words(const struct ending *end)
{
	if (end->never)
		return dbg.attached ? "the process was not attached to" :
		    "the program was not started";
	if (!end->lives)
		return "the program has ended";
	return bps_any() ? "the process goes on without a debugger, and may "
	    "die of a breakpoint that was left in it" :
	    "the process goes on without a debugger";
}

void
summary_ending(char *words, size_t room, bool looks)
{
	const struct ending *end = &dbg.ending;
	const char *name = sigabbrev_np(end->signal);

	if (!end->known)
		snprintf(words, room, "%s", unknown_words(end));
	else if (end->signal != 0)
		snprintf(words, room, "the program was ended by SIG%s",
		    name == NULL ? "?" : name);
	else
		snprintf(words, room, "the program has ended with exit code "
		    "%d%s%s%s", end->code,
		    is_doubtful(end) ? ", or by SIGKILL (" : "",
		    is_doubtful(end) ? dbg.profile->name : "",
		    is_doubtful(end) ? " calls both so)" : "");
	/* an adapter's last words, and the program's */
	if (end->words[0] != '\0' && !looks)
		snprintf(words + strlen(words), room - strlen(words), ": %s",
		    end->words);
}

static bool	(*was_let_go)(void);

void
summary_init(bool (*is_let_go)(void))
{
	was_let_go = is_let_go;
}

void
summary_idle(char *words, size_t room)
{
	if (was_let_go())
		snprintf(words, room, "the program was let go: `debugger "
		    "attach %s` takes it up again", dbg_said.inst.session);
	else
		snprintf(words, room, "no program is being debugged: "
		    "`debugger start PROGRAM` or `debugger attach PID`");
}

static void
make_over(struct bound *b, struct json_object *o, bool looks)
{
	const struct ending *end = &dbg.ending;
	char name[32], words[1024];

	if (end->known && end->signal != 0) {
		snprintf(name, sizeof(name), "SIG%s",
		    sigabbrev_np(end->signal) == NULL ? "?" :
				    sigabbrev_np(end->signal));
		jput(o, "exit", jone_str("signal", name));
	} else if (end->known)
		jput(o, "exit", jone_int("code", end->code));
	summary_ending(words, sizeof(words), looks);
	jput_str(o, "words", words);
	output_put_part(b, o, dbg.out_from, dbg.out_to, bound_left(b));
}

static const char *
state_name(void)
{
	switch (dbg.phase) {
	case PHASE_STOPPED:
	case PHASE_RUNNING:
	case PHASE_IDLE:
		return phase_name(dbg.phase);
	case PHASE_TERMINATED:
		return dbg.ending.known ? "exited" : "terminated";
	default:
		return "initializing";
	}
}

struct json_object *
summary_make(struct op *op)
{
	struct json_object *o = jobject();
	int64_t around = SOURCE_AROUND;
	const bool looks = op != NULL && !op->ask.rw;
	char words[300] = "the program is being started";
	struct bound b;

	if (!bound_init(&b, op) ||
	    (op != NULL && !op_int(op, "lines", false, &around)))
		return o;
	if (around < 0 || around > SOURCE_MOST / 2)
		around = SOURCE_AROUND;
	jput_str(o, "state", state_name());
	jput_int(o, "epoch", (int64_t)dbg.epoch);
	if (dbg.phase == PHASE_STOPPED)
		make_stopped(&b, o, around, looks);
	else if (dbg.phase == PHASE_RUNNING)
		make_running(&b, o);
	else if (dbg.phase == PHASE_TERMINATED)
		make_over(&b, o, looks);
	else {
		if (dbg.phase == PHASE_IDLE)
			summary_idle(words, sizeof(words));
		jput_str(o, "words", words);
	}
	bound_done(&b, o);
	return o;
}
