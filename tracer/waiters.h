/* SPDX-License-Identifier: ISC */
/* Requests that are answered later: lists of them, each held. */
#ifndef TRACER_WAITERS_H
#define TRACER_WAITERS_H

#include <sys/queue.h>

#include "op.h"

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct op	*op;		/* held */
	uint64_t word;                  /* the list's own, */
	void (*answer)(struct op *);    /* and this; NULL at first */
};

TAILQ_HEAD(waiters, waiter);

/* Holds op. */
struct waiter *waiter_add(struct waiters *, struct op *);
/* Lets go of it; an answer should have been given. */
void	 waiter_drop(struct waiters *, struct waiter *);
/* Refuses all of them. */
void	 waiters_fail(struct waiters *, const char *code, const char *next,
	    const char *words);

#endif
