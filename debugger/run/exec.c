/* SPDX-License-Identifier: ISC */
/*
 * Letting the program run, stopping it, ending it.  The op that waits for the
 * result is noted before the request is written, and a refused request leaves
 * the program stopped as it was.
 */
#include <sys/queue.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/base/process_watch.h"
#include "debugger/base/program_state.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/loads.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/profile.h"
#include "debugger/editor/dapserver.h"
#include "debugger/stop/summary.h"
#include "debugger/stop/wait.h"
#include "debugger/text/json_make.h"
#include "engine.h"
#include "exec.h"
#include "launch.h"
#include "resume_check.h"

#define COUNT_MAX	100000
#define PAUSES		5	/* how often one is asked for again, */
#define PAUSE_AGAIN_MS	500	/* after that much time without a stop */
#define LOAD_MS		50	/* for a stop at a load, where such stops come */
#define LEAVE_MS	10000	/* for an adapter to let go of a process */
#define LEFT_MS		100	/* between looks whether it has, */
#define LEFT_LOOKS	30	/* of which there are so many */

/* A command that lets the program run, and the adapter's request for it. */
struct resume {
	const char	*command;
	const char	*request;
	enum intent	 intent;
	const char	*lldb;		/* by instruction, in its own words */
};

static const struct resume resumes[] = {
	{ "continue", "continue", INTENT_CONTINUE, NULL },
	{ "next", "next", INTENT_STEP, "thread step-inst-over" },
	{ "step", "stepIn", INTENT_STEP, "thread step-inst" },
	{ "finish", "stepOut", INTENT_STEP, NULL },
	{ "until", "continue", INTENT_CONTINUE, NULL },
};

/* A request that came while a stop was being examined. */
struct queued {
	TAILQ_ENTRY(queued) entry;
	struct op	*op;		/* held */
	void		(*fn)(struct op *);
};

TAILQ_HEAD(queue, queued);
static struct queue	 settling = TAILQ_HEAD_INITIALIZER(settling);
/* And what begins anew, while an adapter is letting go of what it had. */
static struct queue	 beginning = TAILQ_HEAD_INITIALIZER(beginning);
static struct op	*counting;	/* held; steps that are left: op->word */
static struct op	*moving;	/* held; has let it run, or NULL */
static bool		stood;		/* the kernel held it before that */
static struct op	*ending;	/* held; waits for the tree's end */
static struct op	*leaving;	/* held; the adapter says it has left */
static unsigned int	left_looks;	/* that are still to be made */
static struct loop_timer leave_timer, left_timer, pause_timer;
static unsigned int	pauses_left;
static struct op	*pausing;	/* held until it is asked for again */
/* How it stood when it was to be let go. */
static struct {
	enum phase	 phase;
	bool		 has_thread;
} before;

static void	ask_pause(struct op *);

/* Holds the op that has let the program run; NULL = none. */
static void
set_moving(struct op *op)
{
	struct op *last = moving;

	moving = op == NULL ? NULL : op_ref(op);
	if (last != NULL)
		op_unref(last);
}

static const struct resume *
resume_of(const struct op *op)
{
	size_t i;

	for (i = 0; i < sizeof(resumes) / sizeof(resumes[0]); i++)
		if (strcmp(resumes[i].command, op->command->name) == 0)
			return &resumes[i];
	return &resumes[0];
}

static void
count_over(void)
{
	struct op *op = counting;

	counting = NULL;
	if (op != NULL)
		op_unref(op);
}

/* The kernel knows better than an adapter that refuses what it does. */
static bool
runs_all_the_same(void)
{
	int status;

	return stood && dbg.phase == PHASE_RUNNING && !procwatch_stands() &&
	    !procwatch_over(&status);
}

static void
on_runs_late(void)
{
	engine_change(state_runs(&dbg));
}

/* Remains stopped, unless the adapter does later what it did not. */
static void
stay_stopped(const char *why)
{
	engine_stayed(why);
	if (stood)
		resume_stayed(on_runs_late);
}

/* No answer came: it may run all the same, or it has ended.  Events tell. */
static bool
is_unknown(const struct dap_answer *a)
{
	return strcmp(a->code, "timeout") == 0 ||
	    strcmp(a->code, "adapter_exited") == 0;
}

static void
on_refused(struct op *op, const struct dap_answer *a)
{
	const char *words = a->message == NULL ? "refused" : a->message;
	char why[400];

	if (op == counting)
		count_over();
	if (runs_all_the_same()) {
		op_fail(op, a->code, "%s; but the program runs: `debugger "
		    "pause` stops it, `debugger await` waits until it stops",
		    words);
		return;
	}
	op_fail_dap(op, a);
	(void)snprintf(why, sizeof(why), "%s refused \"%s\": %s",
	    launch_adapter_name(), op->command->name, words);
	stay_stopped(why);
}

static void
on_resumed(struct op *op, const struct dap_answer *a, void *arg)
{
	bool wait = true;

	(void)arg;
	(void)op_bool(op, "wait", &wait);
	if (!a->ok && !is_unknown(a))
		on_refused(op, a);
	else if (!a->ok && !wait)
		op_fail_dap(op, a);
	else if (!wait)
		op_reply(op, summary_make(op));
}

/* Statements and lines are the same to us. */
static bool
by_instruction(struct op *op)
{
	const char *granularity = "statement";

	return op_string(op, "granularity", false, &granularity) &&
	    strcmp(granularity, "instruction") == 0;
}

static struct json_object *
resume_arguments(struct op *op)
{
	struct json_object *args = jobject();
	const char *granularity = NULL;
	int64_t thread = dbg.thread;
	bool only = false;

	(void)op_int(op, "thread", false, &thread);
	(void)op_bool(op, "thread_only", &only);
	(void)op_string(op, "granularity", false, &granularity);
	jput(args, "threadId", jint(thread));
	if (granularity != NULL)
		jput(args, "granularity", jtext(granularity));
	if (only)
		jput(args, "singleThread", jbool(true));
	return args;
}

/* A repl command of lldb where there is no request for it. */
static struct json_object *
lldb_arguments(const char *words)
{
	struct json_object *args = jobject();
	char line[128];

	(void)snprintf(line, sizeof(line), "`%s", words);
	jput(args, "expression", jtext(line));
	jput(args, "context", jtext("repl"));
	return args;
}

/* Its way of saying it: a request, or a command. */
static const char *
lldb_words(struct op *op, const struct resume *r)
{
	bool only = false;

	if (!(dbg.profile->quirks & Q_LLDB_COMMANDS))
		return NULL;
	if (op_bool(op, "thread_only", &only) && only &&
	    !adapter_can("supportsSingleThreadExecutionRequests") &&
	    r->intent == INTENT_CONTINUE)
		return "thread continue";
	if (by_instruction(op) && !adapter_can("supportsSteppingGranularity"))
		return r->lldb;
	return NULL;
}

/* Names the command that helps where an adapter does not do that. */
static const char *
remedy_of(const struct op *op)
{
	if (op != NULL && resume_of(op)->intent == INTENT_STEP)
		return "set a breakpoint where it is to stop, and `debugger "
		    "continue`";
	return dbg.attached ? "`debugger continue` tries again, `debugger "
	    "detach` lets it go" : "`debugger continue` tries again, "
	    "`debugger restart` begins anew";
}

/* It was said to run, and stands where it was. */
static void
on_not_resumed(void)
{
	struct op *op = moving;
	char why[400];

	(void)snprintf(why, sizeof(why), "%s %s \"%s\"%s: the program has not "
	    "moved; %s", launch_adapter_name(), op == NULL ? "said" :
	    "did not do", op == NULL ? "continued" : op->command->name,
	    op == NULL ? "" : " here", remedy_of(op));
	if (op != NULL && op == counting)
		count_over();
	if (op != NULL)
		op_fail(op, "refused", "%s", why);
	set_moving(NULL);
	stood = true;
	stay_stopped(why);
}

void
exec_watch(struct op *op)
{
	set_moving(op);
	resume_watch(on_not_resumed);
}

/* The state changes as this is written, not when it is answered. */
static void
send_resume(struct op *op)
{
	const struct resume *r = resume_of(op);
	const char *words = lldb_words(op, r);

	stood = procwatch_stands();
	state_resume(&dbg, r->intent);
	exec_watch(op);
	engine_tell();
	if (words != NULL)
		adapter_ask("evaluate", lldb_arguments(words), op, on_resumed,
		    NULL);
	else
		adapter_ask(r->request, resume_arguments(op), op, on_resumed,
		    NULL);
}

/* Arguments are looked at before anything changes.  false = refused. */
static bool
check(struct op *op, uint64_t *ms, int64_t *count)
{
	static const char *const grains[] = { "statement", "line",
	    "instruction" };
	const char *granularity = "line";
	int64_t thread = 0;
	bool only = false, wait = true;
	size_t i;

	*count = 1;
	if (!wait_limit(op, false, ms) || !op_bool(op, "wait", &wait) ||
	    !op_int(op, "thread", false, &thread) ||
	    !op_int(op, "count", false, count) ||
	    !op_bool(op, "thread_only", &only) ||
	    !op_string(op, "granularity", false, &granularity))
		return false;
	for (i = 0; i < 3 && strcmp(grains[i], granularity) != 0; i++)
		;
	if (i < 3 && *count >= 1 && *count <= COUNT_MAX)
		return true;
	op_fail(op, "invalid_argument", i == 3 ? "granularity must be line, "
	    "statement or instruction" : "count must be 1 to 100000");
	return false;
}

/* Refuses what this adapter cannot do, before the program moves. */
static bool
can(struct op *op)
{
	const struct resume *r = resume_of(op);
	bool only = false;

	(void)op_bool(op, "thread_only", &only);
	if (lldb_words(op, r) != NULL)
		return true;
	if (by_instruction(op) && !adapter_can("supportsSteppingGranularity")) {
		op_fail(op, "unsupported", "%s cannot step by instruction",
		    dbg.profile->name);
		return false;
	}
	if (only && !adapter_can("supportsSingleThreadExecutionRequests")) {
		op_fail(op, "unsupported", "%s cannot let one thread run alone",
		    dbg.profile->name);
		return false;
	}
	return true;
}

/* A second one takes the place of steps that are still to be done. */
static void
resume(struct op *op)
{
	uint64_t ms;
	int64_t count;
	bool wait = true;

	if (!check(op, &ms, &count) || !can(op))
		return;
	(void)op_bool(op, "wait", &wait);
	count_over();
	if (count > 1) {
		counting = op_ref(op);
		op->word = (uint64_t)count - 1;
	}
	if (wait)
		wait_add(op, dbg.epoch + 1, ms);
	engine_resuming();
	send_resume(op);
}

/* A client that waits and has been answered wants no more steps. */
static bool
is_counted(struct op *op)
{
	bool wait = true;

	(void)op_bool(op, "wait", &wait);
	return op->word > 0 && !(wait && op->answered);
}

bool
exec_goes_on(void)
{
	if (counting == NULL || loads_is_stop())
		return false;
	if (strcmp(dbg.stop.reason, "step") != 0 || !is_counted(counting)) {
		count_over();
		return false;
	}
	counting->word--;
	wait_renew(counting, dbg.epoch + 1);
	engine_going_on();
	send_resume(counting);
	wait_goes_on();
	exec_settled();
	return true;
}

/*
 * No client asked for this resume: if it is refused, the stop is a real one
 * after all.
 */
static void
on_let_go(struct op *op, const struct dap_answer *a, void *arg)
{
	char why[400];

	(void)op;
	(void)arg;
	if (a->ok || is_unknown(a) || runs_all_the_same())
		return;
	(void)snprintf(why, sizeof(why), "this stop is none that counts, but "
	    "%s refused to go on: %s", launch_adapter_name(),
	    a->message == NULL ? "it said no more" : a->message);
	stay_stopped(why);
}

void
exec_let_go(void)
{
	struct json_object *args = jobject();

	jput(args, "threadId", jint(dbg.thread));
	stood = procwatch_stands();
	state_resume(&dbg, dbg.intent);
	exec_watch(moving);
	engine_going_on();
	adapter_ask("continue", args, NULL, on_let_go, NULL);
	/* answer late waiters now: the next such stop may come first */
	wait_goes_on();
	exec_settled();
}

static void
do_later(struct queue *queue, struct op *op, void (*fn)(struct op *))
{
	struct queued *q;

	if ((q = calloc(1, sizeof(*q))) == NULL)
		fatal("request");
	q->op = op_ref(op);
	q->fn = fn;
	TAILQ_INSERT_TAIL(queue, q, entry);
}

static void
do_first(struct queue *queue)
{
	struct queued *q = TAILQ_FIRST(queue);

	TAILQ_REMOVE(queue, q, entry);
	/* the one before may have let it run */
	if (!q->op->answered && command_allowed(q->op, q->op->command->own))
		q->fn(q->op);
	op_unref(q->op);
	free(q);
}

void
exec_when_settled(struct op *op, void (*fn)(struct op *))
{
	if (dbg.gathering)
		do_later(&settling, op, fn);
	else
		fn(op);
}

void
exec_settled(void)
{
	if (dbg.phase != PHASE_RUNNING)
		set_moving(NULL);
	while (!dbg.gathering && !TAILQ_EMPTY(&settling))
		do_first(&settling);
}

static void
exec_resume(struct op *op)
{
	exec_when_settled(op, resume);
}

/* -- until -- */
/* The stop that it was meant for may be over: then it must not stay. */
static void
on_until_set(struct op *op, const char *why)
{
	if (why != NULL) {
		op_fail(op, "not_verified", "%s", why);
		return;
	}
	if (op->answered || !op_stopped(op)) {
		bps_until_drop(op);
		return;
	}
	if (dbg.gathering || bps_find(op->made) == NULL)
		op_fail(op, "refused", "the program has stopped anew "
		    "meanwhile; nothing moved");
	else
		resume(op);
	if (dbg.phase == PHASE_STOPPED)
		bps_until_drop(op);
}

static void
until(struct op *op)
{
	const char *file = NULL;
	int64_t line = 0, count;
	uint64_t ms;

	if (!check(op, &ms, &count) || !can(op))
		return;
	if (*summary_file() != '\0')
		file = summary_file();
	if (!op_string(op, "file", false, &file))
		return;
	if (file == NULL)
		op_fail(op, "invalid_argument", "the frame in view has no "
		    "source here, which a line could be of: give FILE:LINE");
	else if (op_int(op, "line", true, &line))
		bps_until(op, file, line, NULL, on_until_set);
}

static void
exec_until(struct op *op)
{
	exec_when_settled(op, until);
}

/* -- pause, await, status -- */
static void
on_pause_again(void *arg)
{
	struct op *op = pausing;

	(void)arg;
	pausing = NULL;
	if (dbg.phase == PHASE_RUNNING && dbg.intent == INTENT_PAUSE)
		ask_pause(op);
	if (op != NULL)
		op_unref(op);
}

/*
 * A pause that meets a program just being resumed is lost by some, and
 * refused by others ("not running").  False: it was tried often enough.
 */
static bool
pause_again(struct op *op)
{
	if (pauses_left == 0)
		return false;
	pauses_left--;
	if (pausing == NULL && op != NULL)
		pausing = op_ref(op);
	loop_timer_set(&pause_timer, PAUSE_AGAIN_MS, on_pause_again, NULL);
	return true;
}

static void
on_paused(struct op *op, const struct dap_answer *a, void *arg)
{
	const bool retry = a->ok || strcmp(a->code, "refused") == 0;
	bool wait = true;

	(void)arg;
	if (dbg.phase == PHASE_RUNNING && !(retry && pause_again(op)) &&
	    !a->ok && op != NULL)
		op_fail_dap(op, a);
	if (op != NULL && op_bool(op, "wait", &wait) && !wait)
		op_reply(op, summary_make(op));
}

static void
ask_pause(struct op *op)
{
	struct json_object *args = jobject();

	jput(args, "threadId", jint(dbg.thread));
	adapter_ask("pause", args, op, on_paused, NULL);
}

static void
on_pause_thread(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *list, *id;
	bool wait = true;

	(void)arg;
	if (dbg.phase != PHASE_RUNNING) {
		/* it has stopped meanwhile, and where is known */
		if (op_bool(op, "wait", &wait) && !wait)
			op_reply(op, summary_make(op));
		return;
	}
	if (!dbg.has_thread && a->ok &&
	    json_object_object_get_ex(a->body, "threads", &list) &&
	    json_object_is_type(list, json_type_array) &&
	    json_object_object_get_ex(json_object_array_get_idx(list, 0),
	    "id", &id))
		dbg.thread = json_object_get_int64(id);
	ask_pause(op);
}

static void
begin_pause(struct op *op)
{
	if (dbg.has_thread || (dbg.profile != NULL &&
	    (dbg.profile->quirks & Q_PAUSES_ALL) != 0))
		ask_pause(op);
	else
		adapter_ask("threads", NULL, op, on_pause_thread, NULL);
}

static void
on_no_load(void *arg)
{
	struct op *op = pausing;

	(void)arg;
	pausing = NULL;
	if (dbg.phase == PHASE_RUNNING && dbg.intent == INTENT_PAUSE)
		begin_pause(op);
	op_unref(op);
}

/*
 * A request to pause that meets a stop at a load leaves lldb 19 and 22 waiting
 * for 20 seconds, or with a SIGSTOP for later: such a stop is a pause as well.
 */
static void
pause_at_load(struct op *op)
{
	if (pausing != NULL)
		op_unref(pausing);
	pausing = op_ref(op);
	loop_timer_set(&pause_timer, LOAD_MS, on_no_load, NULL);
}

/* A paused program answers at once, with its present stop. */
static void
exec_pause(struct op *op)
{
	uint64_t ms;
	bool wait = true;

	if (!wait_limit(op, true, &ms) || !op_bool(op, "wait", &wait))
		return;
	if (dbg.phase != PHASE_RUNNING) {
		/* whatever it has stopped for, it is to stay, as a step does */
		if (dbg.phase == PHASE_STOPPED && dbg.gathering) {
			count_over();
			if (dbg.intent != INTENT_STEP)
				dbg.intent = INTENT_PAUSE;
		}
		wait_add(op, 0, ms);
		wait_settle();
		return;
	}
	count_over();
	dbg.intent = INTENT_PAUSE;
	pauses_left = PAUSES;
	resume_watch(on_not_resumed);
	if (wait)
		wait_add(op, dbg.epoch, ms);
	if (loads_stop_comes())
		pause_at_load(op);
	else
		begin_pause(op);
}

static void
exec_await(struct op *op)
{
	int64_t since = 0;
	uint64_t ms;

	if (!op_int(op, "since", false, &since) || !wait_limit(op, false, &ms))
		return;
	wait_add(op, since < 0 ? 0 : (uint64_t)since, ms);
	wait_settle();
}

/* Names the adapter's request that other clients' requests wait for. */
static void
put_busy(struct json_object *adapter)
{
	struct json_object *busy;
	const char *request;
	uint64_t ms = 0;

	if ((request = adapter_busy(&ms)) == NULL)
		return;
	busy = jobject();
	jput(busy, "request", jtext(request));
	jput(busy, "ms", jint((int64_t)ms));
	jput(adapter, "busy", busy);
}

static void
status(struct op *op)
{
	struct json_object *s = summary_make(op), *a;

	jput(s, "pid", jint(link_pid(dbg.pid)));
	jput(s, "program", jtext(dbg.program));
	jput(s, "attached", jbool(dbg.attached));
	if (dbg.profile != NULL) {
		a = jobject();
		jput(a, "name", jtext(launch_adapter_name()));
		jput(a, "path", jtext(launch_adapter_path()));
		jput(a, "alive", jbool(adapter_up()));
		put_busy(a);
		jput(s, "adapter", a);
	}
	op_reply(op, s);
}

static void
exec_status(struct op *op)
{
	exec_when_settled(op, status);
}

/* -- ends -- */
static struct json_object *
words_of(const char *state, const char *words)
{
	struct json_object *o = jobject();

	jput(o, "state", jtext(state));
	jput(o, "epoch", jint((int64_t)dbg.epoch));
	jput(o, "words", jtext(words));
	return o;
}

/* The program ends once, but each client that asked for it is told. */
static void
end_op(struct op *op)
{
	if (ending != NULL) {
		op_reply(ending, words_of("terminated", "ended by another "
		    "client"));
		op_unref(ending);
	}
	ending = op_ref(op);
}

/* It was let go, or was there before the adapter that has died. */
static bool
goes_on(void)
{
	return dbg.phase == PHASE_IDLE ? dbg.profile != NULL :
	    !dbg.ending.known && dbg.ending.lives;
}

/* Names the session that has ended: a user may have several. */
static struct json_object *
end_words(void)
{
	const char *base = strrchr(dbg.program, '/');
	const char *name = dbg_said.inst.session;
	/* of an id as much as lists show */
	const int len = strcmp(name, dbg_said.inst.id) == 0 ? 8 : -1;
	char words[512];

	base = base == NULL || dbg_said.image ? "" : base + 1;
	(void)snprintf(words, sizeof(words), "%s (%s%.200ssession %.*s)",
	    !goes_on() ? "the program and its debugger have ended" :
	    dbg.attached ? "the debugger has left; the process it was "
	    "attached to goes on" : "the debugger has left; the program goes "
	    "on", base, *base != '\0' ? ", " : "", len, name);
	return words_of("terminated", words);
}

/* Refuses the requests of a queue, which would wait in vain. */
static void
refuse_all(struct queue *queue)
{
	struct queued *q;

	while ((q = TAILQ_FIRST(queue)) != NULL) {
		TAILQ_REMOVE(queue, q, entry);
		op_fail(q->op, "refused", "it was ended by `debugger stop`");
		op_unref(q->op);
		free(q);
	}
}

/* Answers the client that asked for the end last: no answer follows it. */
static void
end_all(struct op *op)
{
	engine_conclude();
	dbg.gathering = false;
	engine_tell_link();
	wait_settle();
	refuse_all(&settling);
	refuse_all(&beginning);
	/* an editor's is an answer of its own */
	if (op->told != NULL)
		op_reply(op, end_words());
	engine_end();
	/* who is answered may start another one under the same name */
	link_reply_last();
	op_reply(op, end_words());
	op_unref(op);
	link_bye();
}

void
exec_tree_gone(void)
{
	struct op *op = ending;

	loop_timer_unset(&leave_timer);
	while (op == NULL && !TAILQ_EMPTY(&beginning))
		do_first(&beginning);
	if (op == NULL)
		return;
	ending = NULL;
	end_all(op);
}

static void
on_left_stop(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
	link_kill();
}

/* An adapter that does not let go takes along what it has started. */
static void
on_leave_limit(void *arg)
{
	(void)arg;
	if (!dbg.attached)
		state_over(&dbg, PHASE_TERMINATED);
	link_kill();
}

static void
disconnect(struct op *op, dap_fn fn)
{
	struct json_object *args = jobject();

	jput(args, "terminateDebuggee", jbool(false));
	before.phase = dbg.phase;
	before.has_thread = dbg.has_thread;
	state_over(&dbg, PHASE_IDLE);
	engine_change(CHANGE_ENDED);
	engine_tell_link();
	adapter_ask("disconnect", args, op, fn, NULL);
}

/* Commands that end the adapter must wait for its injector. */
static bool
refused_meanwhile(struct op *op)
{
	if (!launch_injects())
		return false;
	op_fail(op, "refused", "%s is being loaded into the program, which "
	    "ending now would kill: try again when the attach was answered, "
	    "within 30 seconds", dbg.profile->name);
	return true;
}

static void
exec_stop(struct op *op)
{
	const bool alive = dbg.phase != PHASE_IDLE &&
	    dbg.phase != PHASE_TERMINATED;

	if (refused_meanwhile(op))
		return;
	count_over();
	end_op(op);
	if (!launch_tree_up()) {
		exec_tree_gone();
		return;
	}
	if (dbg.phase == PHASE_IDLE) {
		/* it is leaving what was let go, and must not take it along */
		loop_timer_set(&leave_timer, LEAVE_MS, on_leave_limit, NULL);
		return;
	}
	if (dbg.attached && alive && adapter_up()) {
		/* it was there before us and shall be afterwards */
		loop_timer_set(&leave_timer, LEAVE_MS, on_leave_limit, NULL);
		disconnect(NULL, on_left_stop);
		return;
	}
	if (alive)
		launch_failed("refused", "it was ended by `debugger stop`");
	else
		link_kill();
}

/* It was not let go: it is as it was, and there is nothing to wait for. */
static void
stay(void)
{
	if (dbg.phase != PHASE_IDLE || !adapter_up())
		return;
	dbg.phase = before.phase;
	dbg.has_thread = before.has_thread;
	dbg.epoch++;
	if (dbg.phase == PHASE_STOPPED)
		engine_change(CHANGE_STOPPED);
	else
		engine_tell();
	if (ending != NULL)
		return;
	loop_timer_unset(&leave_timer);
	while (!TAILQ_EMPTY(&beginning))
		do_first(&beginning);
}

static void
detached(struct op *op)
{
	const pid_t pid = link_pid(dbg.pid);
	char words[128];

	(void)snprintf(words, sizeof(words), pid != 0 ?
	    "detached; process %d goes on" : "detached; the process goes on",
	    (int)pid);
	if (!dbg.attached)
		launch_let_go();
	launch_over();
	op_reply(op, words_of("idle", words));
	adapter_shut();
	/* what it debugged is not below it */
	if (dbg.attached)
		link_kill();
}

static bool
is_held_still(void)
{
	return dbg.phase == PHASE_IDLE && adapter_up() && procwatch_traced();
}

/* The end of the adapter would be the program's, if it is still traced. */
static void
on_left_look(void *arg)
{
	struct op *op = leaving;

	(void)arg;
	if (is_held_still() && left_looks-- > 0) {
		loop_timer_set(&left_timer, LEFT_MS, on_left_look, NULL);
		return;
	}
	leaving = NULL;
	if (is_held_still()) {
		op_fail(op, "refused", "%s said that it let go of the program, "
		    "and still holds it: `debugger detach` tries again, "
		    "`debugger stop` ends debugging", launch_adapter_name());
		stay();
	} else
		detached(op);
	op_unref(op);
}

static void
on_detached(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)arg;
	if (!a->ok && strcmp(a->code, "adapter_exited") != 0) {
		op_fail_dap(op, a);
		/* one that is late may be letting go of it all the same */
		if (strcmp(a->code, "refused") == 0)
			stay();
		return;
	}
	leaving = op_ref(op);
	left_looks = LEFT_LOOKS;
	on_left_look(NULL);
}

/* Some take five seconds for that: nobody else waits for it. */
static void
exec_detach(struct op *op)
{
	count_over();
	disconnect(op, on_detached);
}

/*
 * Examines what is left of the last program before the next one begins.  A
 * program that is being detached would end with its adapter, so the adapter
 * gets its time.
 */
static void
begin_anew(struct op *op, void (*fn)(struct op *))
{
	if (refused_meanwhile(op))
		return;
	if (dbg.phase != PHASE_IDLE || !launch_tree_up()) {
		exec_when_settled(op, fn);
		return;
	}
	if (leave_timer.slot == 0)
		loop_timer_set(&leave_timer, LEAVE_MS, on_leave_limit, NULL);
	do_later(&beginning, op, fn);
}

static void
exec_start(struct op *op)
{
	begin_anew(op, launch_start);
}

static void
exec_attach(struct op *op)
{
	begin_anew(op, launch_attach);
}

static void
exec_restart(struct op *op)
{
	begin_anew(op, launch_restart);
}

#define EVERYWHERE	ON_ANY
#define STARTABLE	(ON(PHASE_IDLE) | ON(PHASE_TERMINATED))
#define STARTED		(ON_ANY & ~ON(PHASE_IDLE))

const struct command exec_commands[] = {
	{ "start", false, STARTABLE, exec_start },
	{ "attach", false, STARTABLE, exec_attach },
	{ "restart", false, EVERYWHERE, exec_restart },
	{ "detach", false, ON_LIVE, exec_detach },
	{ "stop", false, EVERYWHERE, exec_stop },
	{ "status", true, EVERYWHERE, exec_status },
	{ "continue", false, ON_STOPPED, exec_resume },
	{ "next", false, ON_STOPPED, exec_resume },
	{ "step", false, ON_STOPPED, exec_resume },
	{ "finish", false, ON_STOPPED, exec_resume },
	{ "until", false, ON_STOPPED, exec_until },
	{ "pause", false, STARTED, exec_pause },
	{ "await", true, STARTED, exec_await },
	{ .name = NULL }
};
