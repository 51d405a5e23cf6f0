/* SPDX-License-Identifier: ISC */
/*
 * Copies the program's output from the session's ring into the timeline.
 * writes.c knows when and by which thread it was written; otherwise the time is
 * that at which the output is seen here.
 */
#include "timeline.h"
#include "tracer/base/link.h"
#include "tracer/engine/clock.h"
#include "tracer/session/session.h"
#include "wire/ring.h"
#include "writes.h"

#define BACKLOG (32U << 10) /* bytes; then it goes in larger pieces */

static struct ring	 ring = RING_INIT;
static uint64_t		 at;
static uint64_t latest[3]; /* by stream: of what was put in */
static bool		 armed, seen;
static bool		 resumed;	/* there was a tracer before this one */

static void
arm(void)
{
	/* without a timeline nobody reads, and it would ring at once */
	if (armed || ring.hdr == NULL || timeline_store() == NULL)
		return;
	armed = true;
	link_arm(at);
}

/*
 * As much as one read has, in pieces by who wrote them.  Times of a stream do
 * not go back, as its bytes came in that order.
 */
static void
put(const char *buf, size_t n, uint32_t stream, uint64_t now, uint64_t told)
{
	const bool much = ring_total(&ring) - at > BACKLOG;
	struct write_piece w;
	uint64_t ts;

	for (; n > 0; buf += w.len, n -= w.len) {
		w = writes_take(stream, buf, n, now, much);
		ts = w.ts == 0 ? now : w.ts;
		if (ts <= told)
			ts = told + 1;
		if (ts < latest[stream])
			ts = latest[stream];
		latest[stream] = ts;
		store_output(timeline_store(), ts,
		    stream == 2 ? EVENT_STDERR : EVENT_STDOUT,
		    w.tid == 0
			? NULL
			: &(struct store_writer){w.tid, w.parent, w.name},
		    buf, w.len);
	}
}

uint64_t
output_end(void)
{
	return ring.hdr == NULL ? 0 : ring_total(&ring);
}

void
output_put(uint64_t upto, uint64_t now, uint64_t told)
{
	static char buf[STORE_TEXT_MAX];
	uint64_t end, from;
	uint32_t stream;
	size_t n;
	bool any = false;

	while (ring.hdr != NULL && at < upto) {
		stream = ring_stream(&ring, at, &end);
		if (end <= at || end > upto)
			end = upto;
		n = end - at < sizeof(buf) ? (size_t)(end - at) : sizeof(buf);
		from = at;
		n = ring_read(&ring, &at, buf, n);
		if (n == 0 && at == from)
			break;
		/* the oldest were overwritten: what was read may be of another
		 * stream, or newer than what is asked for */
		if (at != from) {
			store_output_lost(timeline_store(), at - from);
			writes_forget();
			continue;
		}
		at += n;
		put(buf, n, stream > 2 ? 0 : stream, now, told);
		any = true;
	}
	if (any)
		timeline_told();
	arm();
}

void
output_drain(void)
{
	if (timeline_store() != NULL && at < output_end())
		timeline_read();
	arm();
}

void
output_from_now(void)
{
	at = output_end();
	writes_forget();
}

void
output_resumed(bool yes)
{
	resumed = yes;
}

void
trc_ring(int fd)
{
	ring_close(&ring);
	writes_forget();
	at = 0;
	armed = false;
	if (ring_map(&ring, fd) == -1)
		return;
	/* a predecessor has had what is in it by now */
	if (resumed && !seen)
		output_from_now();
	seen = true;
	arm();
}

void
trc_output_notice(uint64_t total)
{
	(void)total;
	armed = false;
	output_drain();
}
