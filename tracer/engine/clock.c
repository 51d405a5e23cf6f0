/* SPDX-License-Identifier: ISC */
/*
 * CLOCK_MONOTONIC is the processor's clock, slewed.  Its rate is measured all
 * the time, and counted from the latest bearing, so what has been slewed in
 * between is in it.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arch.h"
#include "clock.h"

#define TRIES		5
#define FIRST_NS	2000000		/* until a rate can be told at all */
#define CLOCKS		"/sys/devices/system/clocksource/clocksource0/" \
			"available_clocksource"
#define SPAN_NS		1000000000ULL	/* over which it is measured */

struct bearing {
	uint64_t tsc, ns;
};

static struct bearing older, newest, middle;
static double rate;	/* ns per tick */
static uint64_t scaled;	/* the same times 2^32 */

uint64_t
clock_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

/* The pair that was taken in the shortest time. */
static struct bearing
take(void)
{
	struct bearing b = { 0, 0 };
	uint64_t before, after, ns, best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = arch_clock();
		ns = clock_ns();
		after = arch_clock();
		if (after - before >= best)
			continue;
		best = after - before;
		b.tsc = before + (after - before) / 2;
		b.ns = ns;
	}
	return (b);
}

static void
rate_set(void)
{
	if (newest.tsc > older.tsc)
		rate = (double)(newest.ns - older.ns) /
		    (double)(newest.tsc - older.tsc);
	scaled = (uint64_t)(rate * 4294967296.0);
}

static void
begin(void)
{
	older = middle = take();
	do
		newest = take();
	while (newest.ns - older.ns < FIRST_NS);
	rate_set();
}

void
clock_mark(void)
{
	if (rate <= 0) {
		begin();
		return;
	}
	newest = take();
	if (newest.ns - middle.ns > SPAN_NS) {
		older = middle;
		middle = newest;
	}
	rate_set();
}

uint64_t
clock_span(uint64_t ticks)
{
	return ((uint64_t)((unsigned __int128)ticks * scaled >> 32));
}

uint64_t
clock_convert(uint64_t tsc)
{
	uint64_t d;

	if (tsc >= newest.tsc)
		return (newest.ns + clock_span(tsc - newest.tsc));
	d = clock_span(newest.tsc - tsc);
	return (d > newest.ns ? 0 : newest.ns - d);
}

uint64_t
clock_ticks(uint64_t ms)
{
	if (rate <= 0)
		clock_mark();
	return ((uint64_t)((double)ms * 1e6 / rate));
}

static bool
has_word(char *line, const char *word)
{
	char *at, *rest = line;

	while ((at = strsep(&rest, " \n")) != NULL)
		if (strcmp(at, word) == 0)
			return (true);
	return (false);
}

const char *
clock_warning(const char *path)
{
	char line[256];
	bool trusted = true;
	FILE *f;

	f = fopen(path == NULL ? CLOCKS : path, "re");
	if (f == NULL)
		return (NULL);
	if (fgets(line, sizeof(line), f) != NULL)
		trusted = has_word(line, "tsc");
	(void)fclose(f);
	return (trusted ? NULL : "the kernel does not trust this machine's "
	    "TSC, so times of calls may be wrong and calls may be missing; "
	    "run the program on one processor: taskset -c 0");
}
