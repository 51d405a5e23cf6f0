/* SPDX-License-Identifier: ISC */
/*
 * How fast the tracer's reader is: rings full of calls (entry and return with
 * integer arguments) are read; prints millions of records per second of
 * processor time, one line per ring.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracer/engine/ringread.h"

#define SIZE	(4UL << 20)
#define WORDS	(SIZE / 8)
#define LAPS	50

static const struct capture enter[] = { { CAP_REG, 5, 4, 0, 0, 0 },
    { CAP_REG, 4, 4, 0, 0, 0 }, { 0 } };
static const struct capture leave[] = { { CAP_REG, 0, 4, 0, 0, 0 }, { 0 } };
static struct ring_programs programs = { .enter = enter, .leave = leave };
static uint64_t sum;

static const struct ring_programs *
lookup(uint32_t fn, void *arg)
{
	(void)arg;
	return (fn < 100 ? &programs : NULL);
}

static void
record(const struct ring_record *r, void *arg)
{
	(void)arg;
	sum += r->tsc + r->captures_len;
}

static void
put(uint64_t *ring, uint64_t *at, uint32_t fn, uint32_t kind,
    const void *rest, size_t len)
{
	uint64_t w[8] = { 0 }, i;
	uint32_t n = (uint32_t)(sizeof(struct agent_brief) + len + 7) / 8;
	struct agent_brief h = { (uint32_t)RECORD_ID(*at), (uint32_t)*at,
	    fn | kind << WHAT_KIND | n << WHAT_WORDS };

	memcpy(w, &h, sizeof(h));
	memcpy((uint8_t *)w + sizeof(h), rest, len);
	for (i = 0; i < n; i++)
		ring[(*at + i) & (WORDS - 1)] = w[i];
	*at += n;
}

/* A lap, less what does not fit. */
static uint64_t
fill(uint64_t *ring, uint64_t at, uint64_t end)
{
	const struct captured four = { CAP_OK, 4 };
	uint32_t args[4] = { 0 }, back[2] = { 0 };
	uint64_t n = 0;

	memcpy(&args[0], &four, 4);
	memcpy(&args[2], &four, 4);
	memcpy(&back[0], &four, 4);
	for (; at + 7 <= end; n += 2) {
		uint32_t fn = (uint32_t)(n % 100);

		put(ring, &at, fn, AGENT_ENTER, args, sizeof(args));
		put(ring, &at, fn, AGENT_EXIT, back, sizeof(back));
	}
	return (n);
}

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

int
main(void)
{
	const struct ring_ops ops = { .lookup = lookup, .record = record };
	struct ring_reader *rd;
	uint64_t *ring, n, got;
	double began;
	int i;

	programs.enters = ring_shape_of(enter);
	programs.leaves = ring_shape_of(leave);
	ring = calloc(1, SIZE);
	rd = ring == NULL ? NULL : ring_reader_new(ring, SIZE, 0);
	if (rd == NULL)
		return (1);
	for (i = 0; i < LAPS; i++) {
		n = fill(ring, ring_tail(rd), ring_tail(rd) + WORDS);
		began = now();
		got = ring_reader_read(rd, &ops, UINT64_MAX, 0, false);
		if (got != n)
			return (1);
		printf("%.2f\n", (double)n * 1e3 / (now() - began));
	}
	ring_reader_free(rd);
	free(ring);
	return (sum == 0);
}
