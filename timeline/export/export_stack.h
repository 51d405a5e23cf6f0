/* SPDX-License-Identifier: ISC */
/*
 * The stacks of threads while their events pass by.  Events may be missing
 * (lost, sampled, evicted): what an event's parent says is what counts.
 */
#ifndef TIMELINE_EXPORT_STACK_H
#define TIMELINE_EXPORT_STACK_H

#include "timeline/query/query_int.h"

#define STACK_DEPTH_MAX	4096	/* calls deeper than that are not on it */
#define STACK_BUCKETS	1024

struct frame {
	uint64_t id, ts;
	uint64_t within;		/* ns in calls from here, so far */
	uint32_t fn, node;		/* node: the user's */
};

struct stack {
	struct stack *next;		/* of the same bucket */
	const struct thread *thread;
	struct frame *frames;		/* the innermost last */
	uint32_t n, cap;
};

/* Zero it first. */
struct stacks {
	struct stack *buckets[STACK_BUCKETS];
};

/* The stack of a thread; NULL = no memory.  *fresh: it was not there. */
struct stack *stack_of(struct stacks *, const struct thread *, bool *fresh);
/* How many frames there are up to the one with that id; 0 = it is not there. */
uint32_t stack_keep(const struct stack *, uint64_t id);
/* The same for a call that begins in id: a full stack stays. */
uint32_t stack_within(const struct stack *, uint64_t id);
/* A call begins; NULL = it is too deep or has no end, or no memory. */
struct frame *stack_push(struct stack *, const struct seen *);
void	 stacks_free(struct stacks *);

#endif
