/* SPDX-License-Identifier: ISC */
/* Which functions of a process the patterns choose. */
#ifndef TRACER_PLAN_H
#define TRACER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/record/process.h"

struct choice {
	uint32_t fn;
	uint64_t addr;		/* relocated */
	uint32_t budget;
	bool	 raw;		/* without types, if there are none */
	uint32_t same;		/* another function's number, whose code it is;
				 * FN_NONE = it is its own */
};

struct plan {
	struct choice	*v;	/* owned */
	size_t		 n, cap;
	bool		 full;	/* memory or numbers are short */
};

/*
 * Libraries without debug information of their own are of interest only to
 * who wants registers; of the program itself it is said that it has none.
 */
bool	 plan_is_usual(const struct binary *);
/* Whether all binaries that matter have been read, or cannot be. */
bool	 plan_read(const struct process *);
/* Lists the functions wanted of a process; counts the matches in the rows. */
void	 plan_make(struct process *, uint32_t budget, struct plan *);
/* Whether what they take is known; else it has been asked for. */
bool	 plan_typed(const struct plan *);
void	 plan_free(struct plan *);

#endif
