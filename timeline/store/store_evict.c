/* SPDX-License-Identifier: ISC */
/*
 * Making room: whole segments are evicted, the segment whose last call is
 * oldest first.  A sixteenth of the limit is freed at once, so that many calls
 * share the cost of looking for the oldest.  The pages of evicted segments are
 * written to again, as pages that have to be given back and asked for anew
 * cost a tenth of all that a call costs.
 */
#include <stdlib.h>
#include <string.h>

#include "store_int.h"

struct candidate {
	uint64_t last_ts, last_seq;
	struct thread *thread;
};

static int
by_age(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;

	if (a->last_ts != b->last_ts)
		return a->last_ts < b->last_ts ? -1 : 1;
	if (a->thread->ord != b->thread->ord)
		return a->thread->ord < b->thread->ord ? -1 : 1;
	return a->last_seq < b->last_seq ? -1 : a->last_seq > b->last_seq;
}

static void
uncount(struct store *st, struct thread *t, const struct chunk *c)
{
	static struct seg_sum sums[SEG_SUMS];
	uint32_t n = chunk_sums(st, c, sums), i;

	for (i = 0; i < n; i++) {
		if (counters_count(&st->counters, sums[i].fn, sums[i].class) <
		    sums[i].count)
			continue;	/* somebody changed the file */
		counters_add(&st->counters, sums[i].fn, sums[i].class,
		    -(int64_t)sums[i].count);
		*(sums[i].class == CLASS_ENTER ? &t->nenter : &t->nexit) -=
		    sums[i].count;
	}
	st->evicted += c->count;
}

/* The first of a thread's: in each thread age follows order. */
static void
evict_first(struct store *st, struct thread *t)
{
	struct chunk *c = t->chunks[0];

	uncount(st, t, c);
	t->nchunks--;
	memmove(t->chunks, t->chunks + 1, t->nchunks * sizeof(struct chunk *));
	chunk_free(st, c);
}

static struct candidate *
candidates(const struct store *st, size_t *n)
{
	struct candidate *all;
	struct thread *t;
	uint32_t i, k;
	size_t count = 0;

	for (i = 0; i < st->nthreads; i++)
		count += st->threads[i]->nchunks;
	*n = 0;
	if ((all = reallocarray(NULL, count + 1, sizeof(*all))) == NULL)
		return NULL;
	for (i = 0; i < st->nthreads; i++) {
		t = st->threads[i];
		for (k = 0; k < t->nchunks; k++)
			all[(*n)++] = (struct candidate){ t->chunks[k]->last_ts,
			    t->chunks[k]->last_seq, t };
	}
	qsort(all, *n, sizeof(*all), by_age);
	return all;
}

void
store_evict(struct store *st)
{
	uint64_t goal = st->limits.calls - st->limits.calls / 16;
	struct candidate *all;
	size_t n, i;

	/* who reads now has been promised what was there */
	if (st->pins > 0 || (all = candidates(st, &n)) == NULL)
		return;
	for (i = 0; i < n && st->used + SEG_SIZE > goal; i++)
		evict_first(st, all[i].thread);
	free(all);
	if (st->shared)
		slots_trim(st, st->used);
	threads_sweep(st);
}
