/* SPDX-License-Identifier: ISC */
/* Times in nanoseconds, collected and summed up. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t	*v;
	size_t		 n, size;
};

/* Monotonic. */
uint64_t clock_ns(void);
/* Ends the program when memory runs out. */
void	 sample_add(struct sample *, uint64_t ns);
/*
 * Prints "name":{"n","min","p50","p99","max"} in nanoseconds, for use inside
 * a JSON object; sorts what it holds.  Ends the program if there is nothing.
 */
void	 sample_print(struct sample *, const char *name);

#endif
