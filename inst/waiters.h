/* SPDX-License-Identifier: ISC */
/* Requests that are answered later: lists of them, each held. */
#ifndef INST_WAITERS_H
#define INST_WAITERS_H

#include <sys/queue.h>

#include "base/loop.h"
#include "op.h"

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct op	*op;		/* held */
	uint64_t	 word;		/* the list's own, */
	void		(*answer)(struct op *);	/* and this; NULL at first */
	struct loop_timer timer;	/* the list's, until the waiter is dropped */
	bool		 late;		/* its time is over */
};

TAILQ_HEAD(waiters, waiter);

/* Holds op. */
struct waiter *waiter_add(struct waiters *, struct op *);
/* The one of op, or NULL. */
struct waiter *waiter_of(const struct waiters *, const struct op *);
/* Lets go of it; an answer should have been given. */
void	 waiter_drop(struct waiters *, struct waiter *);

#endif
