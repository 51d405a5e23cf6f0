/* SPDX-License-Identifier: ISC */
/*
 * The program's output, for editors.  While the program runs, output is sent at
 * a bounded rate, and never more than a piece of it is in an editor's queue, so
 * that a stop does not wait behind a flood.  Output that is too much for a user
 * to read is left out, and a message says so.
 */
#include <json-c/json.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/utf8.h"
#include "dapserver.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/link.h"
#include "debugger/text/clean.h"
#include "debugger/text/json_make.h"
#include "wire/ring.h"

#define PIECE_MAX	(16U << 10)	/* of one event */
#define QUEUE_ROOM	((size_t)64 << 10)	/* of events that wait */
#define BEHIND_MAX	(64U << 10)	/* more than that is left out, */
#define BEHIND_KEPT	(32U << 10)	/* but for the last of it */
#define PACE_MS		50		/* between two looks into the ring */

static struct loop_timer pace_timer;
static bool		 armed;		/* a notice will come */
static uint64_t		 looked;	/* how far all were told, or could be */

static void
tell(struct editor *e, const char *category, const char *text, size_t len)
{
	struct json_object *body = jobject();

	jput(body, "category", jtext(category));
	jput(body, "output", jtext_len(text, len));
	editor_event(e, "output", body);
}

/* Moves on to at.  Telling may fetch, which begins where this has ended. */
static void
leave_out(struct editor *e, uint64_t at)
{
	const uint64_t bytes = at - e->output;
	char words[128];
	int n = snprintf(words, sizeof(words), "[%" PRIu64 " bytes of output "
	    "are left out; `debugger output` shows what is kept]\n", bytes);

	e->output = at;
	e->begun[0].len = e->begun[1].len = 0;
	tell(e, "console", words, (size_t)n);
}

static void
tell_text(struct editor *e, bool err, const char *text, size_t len)
{
	char *clean;

	if (len == 0)
		return;
	clean = utf8_clean(text, &len);
	tell(e, err ? "stderr" : "stdout", clean, len);
	free(clean);
}

/* All of it but for a character that has begun at its end: that is kept. */
static void
tell_read(struct editor *e, bool err, const char *buf, size_t len)
{
	size_t n = len - utf8_unfinished(buf, len);

	e->begun[err].len = len - n;
	memcpy(e->begun[err].bytes, buf + n, len - n);
	tell_text(e, err, buf, n);
}

/* Sends one stretch of one stream; false: nothing is there. */
static bool
tell_piece(struct editor *e, uint64_t to)
{
	static char buf[sizeof(e->begun[0].bytes) + PIECE_MAX];
	uint64_t at = e->output, end;
	const bool err = ring_stream(&dbg.ring, at, &end) == 2;
	const size_t before = e->begun[err].len;
	size_t n;

	if (end > to || end <= at)
		end = to;
	n = end - at < PIECE_MAX ? (size_t)(end - at) : PIECE_MAX;
	n = ring_read(&dbg.ring, &at, buf + before, n);
	if (at > e->output) {
		/* it was overtaken: the next look is at what is there */
		leave_out(e, at);
		return at < to;
	}
	e->output = at + n;
	memcpy(buf, e->begun[err].bytes, before);
	if (n > 0)
		tell_read(e, err, buf, before + n);
	return n > 0;
}

/* Sends the beginnings of characters that will not be completed any more. */
static void
tell_begun(struct editor *e)
{
	size_t i, n;

	for (i = 0; i < 2; i++) {
		n = e->begun[i].len;
		e->begun[i].len = 0;
		tell_text(e, i == 1, e->begun[i].bytes, n);
	}
}

void
editor_output(struct editor *e, bool all)
{
	uint64_t to;

	if (dbg.ring.hdr == NULL)
		return;
	/* at a stop, what was written before it */
	to = all ? dbg.out_to : ring_total(&dbg.ring);
	if (e->output < to && to - e->output > BEHIND_MAX &&
	    (all || e->queued < QUEUE_ROOM))
		leave_out(e, to - BEHIND_KEPT);
	while (e->output < to && !e->last && (all || e->queued < QUEUE_ROOM))
		if (!tell_piece(e, to))
			break;
	if (all && dbg.phase == PHASE_TERMINATED)
		tell_begun(e);
}

/* Begins with the output since the last stop: no editor waits for older. */
void
editor_output_begin(struct editor *e)
{
	const uint64_t total = dbg.ring.hdr == NULL ? 0 :
	    ring_total(&dbg.ring);

	e->output = dbg.out_to < total ? dbg.out_to : total;
	editor_output(e, false);
	dap_output_wait();
}

static bool
somebody(void)
{
	struct editor *e;

	LIST_FOREACH(e, &editors, entry)
		if (e->ready && !e->last)
			return true;
	return false;
}

void
dap_output_wait(void)
{
	if (armed || pace_timer.slot != 0 || dbg.ring.hdr == NULL ||
	    dbg.phase != PHASE_RUNNING || !somebody())
		return;
	armed = true;
	link_arm(looked);
}

static void
on_pace(void *arg)
{
	(void)arg;
	dap_output_wait();
}

/*
 * Sends new output.  A slow editor gets the rest when it fetches: nothing
 * waits for it.
 */
void
dap_output(void)
{
	struct editor *e, *next;

	armed = false;
	if (dbg.ring.hdr == NULL)
		return;
	looked = ring_total(&dbg.ring);
	for (e = LIST_FIRST(&editors); e != NULL; e = next) {
		next = LIST_NEXT(e, entry);
		if (e->ready)
			editor_output(e, false);
	}
	loop_timer_set(&pace_timer, PACE_MS, on_pace, NULL);
}

/* A new program begins: output from before is old. */
void
dap_new_output(void)
{
	struct editor *e;

	armed = false;
	loop_timer_unset(&pace_timer);
	looked = dbg.ring.hdr == NULL ? 0 : ring_total(&dbg.ring);
	LIST_FOREACH(e, &editors, entry) {
		e->output = looked;
		e->begun[0].len = e->begun[1].len = 0;
	}
}
