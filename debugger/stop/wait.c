/* SPDX-License-Identifier: ISC */
/*
 * Waiting for stops.  A stop answers every client that waits for one.  The word
 * of a waiter is the epoch that the stop must be newer than.
 */
#include <json-c/json.h>

#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "inst/waiters.h"
#include "summary.h"
#include "wait.h"

#define LONGEST_S	(24 * 60 * 60)
#define LATE_MS		50	/* to look again whether a stop was one */

static struct waiters	 waiting = TAILQ_HEAD_INITIALIZER(waiting);
static uint64_t		 await_ms, request_ms;

void
wait_init(uint32_t await_s, uint32_t request_s)
{
	await_ms = (uint64_t)await_s * 1000;
	request_ms = (uint64_t)request_s * 1000;
}

/* Nothing will stop there by itself: not worth waiting for. */
bool
wait_at_rest(void)
{
	return dbg.phase == PHASE_STOPPED || dbg.phase == PHASE_TERMINATED ||
	    dbg.phase == PHASE_IDLE;
}

/*
 * A pause comes at once or, of a program that sits in a system call of an
 * interpreter's, perhaps never: nobody should wait for it as long as for a
 * stop that the program has yet to run to.
 */
bool
wait_limit(struct op *op, bool asked, uint64_t *ms)
{
	int64_t s = -1;

	if (!op_int(op, "timeout_s", false, &s))
		return false;
	if (s > LONGEST_S || s < -1) {
		op_fail(op, "invalid_argument", "timeout_s is %lld: it must be "
		    "0 to %d", (long long)s, LONGEST_S);
		return false;
	}
	if (s != -1)
		*ms = (uint64_t)s * 1000;
	else
		/* for the adapter's answer, then as long for the stop */
		*ms = asked ? 2 * request_ms : await_ms;
	return true;
}

/* That it still runs is an answer, not an error. */
static void
on_limit(void *arg)
{
	struct waiter *w = arg;

	/* it did stop, and how is just being found out; that may be no stop */
	if (dbg.gathering && dbg.epoch > w->word) {
		w->late = true;
		loop_timer_set(&w->timer, LATE_MS, on_limit, w);
		return;
	}
	op_reply(w->op, summary_make(w->op));
}

/* No longer; harmless when it does not wait. */
static void
wait_drop(struct op *op)
{
	struct waiter *w = waiter_of(&waiting, op);

	if (w != NULL)
		waiter_drop(&waiting, w);
}

void
wait_add(struct op *op, uint64_t since, uint64_t ms)
{
	struct waiter *w = waiter_add(&waiting, op);

	op->finished = wait_drop;
	w->word = since;
	loop_timer_set(&w->timer, ms, on_limit, w);
}

void
wait_renew(struct op *op, uint64_t since)
{
	struct waiter *w = waiter_of(&waiting, op);

	if (w != NULL)
		w->word = since;
}

static struct waiter *
due(void)
{
	struct waiter *w;

	TAILQ_FOREACH(w, &waiting, entry)
		if (dbg.epoch > w->word)
			return w;
	return NULL;
}

/* A client that waits for a stop gets an error if the adapter has died. */
static void
answer_waiter(struct op *op)
{
	struct json_object *summary = summary_make(op);

	if (dbg.phase == PHASE_TERMINATED && dbg.ending.adapter_died)
		op_fail_with(op, summary, "adapter_exited", "%s",
		    dbg.ending.words);
	else
		op_reply(op, summary);
}

static struct waiter *
late(void)
{
	struct waiter *w;

	TAILQ_FOREACH(w, &waiting, entry)
		if (w->late)
			return w;
	return NULL;
}

void
wait_goes_on(void)
{
	struct waiter *w;

	while ((w = late()) != NULL)
		op_reply(w->op, summary_make(w->op));
}

void
wait_settle(void)
{
	struct waiter *w;

	/* an answer may end its waiter and others */
	while (wait_at_rest() && !dbg.gathering && (w = due()) != NULL)
		answer_waiter(w->op);
}
