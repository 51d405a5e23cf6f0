/* SPDX-License-Identifier: ISC */
/*
 * An adapter may answer that the program runs and leave it where it was:
 * lldb-dap 19 does so when it cannot step out of a frame.  No event follows.
 * The program stands if the kernel says that all of its threads do and the
 * adapter shows the stack, twice in a row.  Either alone says too little: an
 * adapter that evaluates a condition stops all threads, but shows no stack;
 * debugpy shows the stack of a running thread.
 * A program that has run since and stands again has a stop on its way, which a
 * busy host may delay for seconds.
 *
 * An adapter may refuse a request and carry it out all the same, later.  The
 * program runs then if the kernel says so while the adapter is at nothing that
 * runs it, such as an expression.
 */
#include <json-c/json.h>

#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/base/process_watch.h"
#include "debugger/dap/adapter.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "resume_check.h"

#define LOOK_MS 300
#define LOOK_MOST_MS 4800 /* between looks at one that runs for long */
#define LOOKS 2           /* its stop may be on its way at the first */
#define LOOKS_MOVED 40    /* and is, if it has run since */

static struct loop_timer timer;
static uint64_t epoch, pause_ms, switches;
static unsigned int stood; /* looks in a row that found it so */
static void (*found_fn)(void);

static struct loop_timer late_timer;
static uint64_t stayed_epoch, late_ms; /* 0: nothing has stayed */
static void (*late_fn)(void);

static void on_look(void *);

static bool
runs_on(void)
{
	return dbg.phase == PHASE_RUNNING && dbg.epoch == epoch;
}

static void
look_later(bool stands)
{
	stood = stands ? stood + 1 : 0;
	if (stands)
		pause_ms = LOOK_MS;
	else if (pause_ms < LOOK_MOST_MS)
		pause_ms *= 2;
	loop_timer_set(&timer, pause_ms, on_look, NULL);
}

static void
on_stack(struct op *op, const struct dap_answer *a, void *arg)
{
	bool stands = a->ok && jlen(jget_arr(a->body, "stackFrames")) > 0 &&
		      procwatch_stands();

	(void)op;
	(void)arg;
	if (!runs_on() || timer.slot != 0)
		return;
	if (stands && stood + 1 >= (procwatch_switches() == switches ? LOOKS :
	    LOOKS_MOVED))
		found_fn();
	else
		look_later(stands);
}

static void
ask_stack(int64_t thread)
{
	struct json_object *args = jone_int("threadId", thread);

	jput_int(args, "startFrame", 0);
	jput_int(args, "levels", 1);
	adapter_ask("stackTrace", args, NULL, on_stack, NULL);
}

static void
on_threads(struct op *op, const struct dap_answer *a, void *arg)
{
	int64_t thread;

	(void)op;
	(void)arg;
	if (!runs_on() || timer.slot != 0)
		return;
	if (a->ok && jget_int(jat(jget_arr(a->body, "threads"), 0), "id",
	    &thread))
		ask_stack(thread);
	else
		look_later(false);
}

static void
on_look(void *arg)
{
	uint64_t ms;

	(void)arg;
	if (!runs_on())
		return;
	/* a request that it has not answered yet may let it run */
	if (adapter_busy(&ms) != NULL || !procwatch_stands())
		look_later(false);
	else if (dbg.has_thread)
		ask_stack(dbg.thread);
	else
		/* it was just begun */
		adapter_ask("threads", NULL, NULL, on_threads, NULL);
}

void
resume_watch(void (*found)(void))
{
	found_fn = found;
	/* a pause is asked for in the middle of it */
	if (epoch != dbg.epoch)
		switches = procwatch_switches();
	epoch = dbg.epoch;
	stood = 0;
	pause_ms = LOOK_MS;
	loop_timer_set(&timer, pause_ms, on_look, NULL);
}

static bool
stays(void)
{
	return dbg.phase == PHASE_STOPPED && dbg.epoch == stayed_epoch;
}

void
resume_look(void)
{
	uint64_t ms;
	int status;

	if (!stays() || adapter_busy(&ms) != NULL || procwatch_stands() ||
	    procwatch_over(&status))
		return;
	loop_timer_unset(&late_timer);
	late_fn();
}

static void
on_late(void *arg)
{
	(void)arg;
	resume_look();
	if (!stays())
		return;
	if (late_ms < LOOK_MOST_MS)
		late_ms *= 2;
	loop_timer_set(&late_timer, late_ms, on_late, NULL);
}

void
resume_stayed(void (*found)(void))
{
	late_fn = found;
	stayed_epoch = dbg.epoch;
	late_ms = LOOK_MS;
	loop_timer_set(&late_timer, late_ms, on_late, NULL);
}
