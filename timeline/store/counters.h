/* SPDX-License-Identifier: ISC */
/*
 * How often each function was entered, and left with which return value.
 * Equal values, as captured, share a number ("class"), at most CLASS_MAX + 1 of
 * a function.  So counting by function and by return value needs no look at
 * the events.  Class 0 is kept for a value that is all zero: NULL and false
 * have a number however many other values came before.  A value without a
 * number is CLASS_OTHER or CLASS_ODD (segment.h).
 */
#ifndef TIMELINE_STORE_COUNTERS_H
#define TIMELINE_STORE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#define FN_MAX		(1U << 20)	/* function ids are below */
#define CLASS_RAW	20U		/* longest captures with a class */

struct fn_tally;

struct counters {
	struct fn_tally	*fns;	/* owned */
	uint32_t	 nfns;
};

/* Makes room for fn, below FN_MAX and not there yet.  -1: no memory. */
int	 counters_grow(struct counters *, uint32_t fn);

/* The same, if it is not there yet. */
static inline int
counters_reserve(struct counters *t, uint32_t fn)
{
	return fn < t->nfns ? 0 : counters_grow(t, fn);
}

/*
 * The class of what fn returned, a new one if there is room, else
 * CLASS_OTHER.  fn has been reserved.
 */
uint16_t counters_class(struct counters *, uint32_t fn, const void *raw,
	    size_t len);
/* A class that is in use on disk has this value. */
void	 counters_learn(struct counters *, uint32_t fn, uint16_t class,
	    const void *raw, size_t len);
/* Adds n, which may be negative, to a reserved function's count. */
void	 counters_add(struct counters *, uint32_t fn, uint16_t class,
	    int64_t n);
/* 0 for what has never been added. */
uint64_t counters_count(const struct counters *, uint32_t fn, uint16_t class);
/* The value of a class, borrowed; NULL = not known. */
const void *counters_raw(const struct counters *, uint32_t fn, uint16_t class,
	    size_t *len);
/* No function from there on was ever entered or left. */
uint32_t counters_end(const struct counters *);
void	 counters_free(struct counters *);

#endif
