/* SPDX-License-Identifier: ISC */
/* From the processor's clock to CLOCK_MONOTONIC. */
#ifndef DL_TRACER_CLOCK_H
#define DL_TRACER_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);	/* CLOCK_MONOTONIC */
/* Takes a new bearing; what is converted next should not be much older. */
void	 clock_mark(void);
uint64_t clock_convert(uint64_t tsc);
uint64_t clock_span(uint64_t ticks);	/* in ns */
/* Ticks in so many milliseconds. */
uint64_t clock_ticks(uint64_t ms);
/* A warning if the kernel does not offer the TSC as a clock: processors differ,
 * or it stops.  Else NULL.  path: a list of clocks; NULL: the kernel's. */
const char *clock_warning(const char *path);

#endif
