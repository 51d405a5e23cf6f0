/* SPDX-License-Identifier: ISC */
/* Times in nanoseconds, collected and summed up. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sample.h"

uint64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

void
sample_add(struct sample *s, uint64_t ns)
{
	if (s->n == s->size) {
		s->size = s->size == 0 ? 4096 : s->size * 2;
		s->v = reallocarray(s->v, s->size, sizeof(*s->v));
		if (s->v == NULL)
			err(1, "samples");
	}
	s->v[s->n++] = ns;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void
sample_print(struct sample *s, const char *name)
{
	if (s->n == 0)
		errx(1, "nothing measured for %s", name);
	qsort(s->v, s->n, sizeof(*s->v), compare);
	printf("\"%s\":{\"n\":%zu,\"min\":%" PRIu64 ",\"p50\":%" PRIu64
	    ",\"p99\":%" PRIu64 ",\"max\":%" PRIu64 "}", name, s->n, s->v[0],
	    s->v[s->n / 2], s->v[s->n * 99 / 100], s->v[s->n - 1]);
}
