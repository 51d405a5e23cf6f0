/* SPDX-License-Identifier: ISC */
/*
 * What the program writes, from the session's ring into the timeline.  The
 * time is that at which it is seen here.
 */
#include "engine/clock.h"
#include "link.h"
#include "ring.h"
#include "session.h"
#include "timeline.h"

static struct ring	 ring = RING_INIT;
static uint64_t		 at;
static bool		 armed, seen;

static void
arm(void)
{
	/* without a timeline nobody reads, and it would ring at once */
	if (armed || ring.hdr == NULL || timeline_store() == NULL)
		return;
	armed = true;
	link_arm(at);
}

void
output_drain(void)
{
	static char buf[STORE_TEXT_MAX];
	struct store *st = timeline_store();
	uint64_t end, from, now = clock_ns();
	uint32_t stream;
	size_t n;

	while (st != NULL && ring.hdr != NULL && at < ring_total(&ring)) {
		stream = ring_stream(&ring, at, &end);
		n = end > at && end - at < sizeof(buf) ? (size_t)(end - at) :
		    sizeof(buf);
		from = at;
		n = ring_read(&ring, &at, buf, n);
		if (n == 0 && at == from)
			break;
		/* the oldest were overwritten: from here on it is another's */
		if (at != from)
			stream = ring_stream(&ring, at, &end);
		store_output(st, now, stream == 2 ? EVENT_STDERR :
		    EVENT_STDOUT, 0, buf, n);
		at += n;
	}
	timeline_told();
	arm();
}

void
output_from_now(void)
{
	at = ring.hdr == NULL ? 0 : ring_total(&ring);
}

void
trc_ring(int fd)
{
	ring_close(&ring);
	at = 0;
	armed = false;
	if (ring_map(&ring, fd) == -1)
		return;
	/* a predecessor has had what is in it by now */
	if (session_hello.resumed && !seen)
		output_from_now();
	seen = true;
	arm();
}

void
trc_doorbell(uint64_t total)
{
	(void)total;
	armed = false;
	output_drain();
}
