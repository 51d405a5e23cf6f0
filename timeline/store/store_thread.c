/* SPDX-License-Identifier: ISC */
/* The threads of a timeline. */
#include <stdlib.h>
#include <string.h>

#include "store_int.h"

#define THREADS_MAX	(1U << 20)	/* a program may make threads for ever */

static struct thread **
bucket(struct store *st, uint32_t tid)
{
	return &st->buckets[tid % THREAD_BUCKETS];
}

struct thread *
thread_new(struct store *st, uint32_t ord, uint32_t tid)
{
	uint32_t cap = st->threads_cap == 0 ? 16 : 2 * st->threads_cap;
	struct thread **all, *t;

	if (st->nthreads == THREADS_MAX || ord > ORD_MAX)
		return NULL;
	if (st->nthreads == st->threads_cap) {
		all = reallocarray(st->threads, cap, sizeof(struct thread *));
		if (all == NULL)
			return NULL;
		st->threads = all;
		st->threads_cap = cap;
	}
	if ((t = calloc(1, sizeof(*t))) == NULL)
		return NULL;
	t->ord = ord;
	t->tid = tid;
	t->next_seq = 1;
	st->threads[st->nthreads++] = t;
	return t;
}

static struct thread *
find(const struct store *st, uint32_t tid)
{
	struct thread *t = st->buckets[tid % THREAD_BUCKETS];

	while (t != NULL && t->tid != tid)
		t = t->next;
	return t;
}

/* NULL: there are too many, or no memory. */
struct thread *
thread_of(struct store *st, uint32_t tid)
{
	struct thread *t;

	if (st->latest != NULL && st->latest->tid == tid)
		return st->latest;
	if ((t = find(st, tid)) == NULL) {
		if ((t = thread_new(st, st->next_ord, tid)) == NULL)
			return NULL;
		st->next_ord++;
		t->next = *bucket(st, tid);
		*bucket(st, tid) = t;
	}
	st->latest = t;
	return t;
}

struct thread *
thread_by_ord(const struct store *st, uint32_t ord)
{
	uint32_t low = 0, high = st->nthreads, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (st->threads[mid]->ord < ord)
			low = mid + 1;
		else
			high = mid;
	}
	return low < st->nthreads && st->threads[low]->ord == ord ?
	    st->threads[low] : NULL;
}

void
store_thread(struct store *st, uint32_t tid, const char *name)
{
	struct thread *t = thread_of(st, tid);
	size_t len = strnlen(name, sizeof(t->name) - 1);

	if (t == NULL)
		return;
	memset(t->name, 0, sizeof(t->name));
	memcpy(t->name, name, len);
}

const char *
store_thread_name(const struct store *st, uint32_t tid)
{
	const struct thread *t = find(st, tid);

	return t == NULL ? "" : t->name;
}

void
store_thread_gone(struct store *st, uint32_t tid)
{
	struct thread *t = find(st, tid), **p;

	if (t == NULL)
		return;
	for (p = bucket(st, tid); *p != t; p = &(*p)->next)
		;
	*p = t->next;
	t->gone = true;
	if (st->latest == t)
		st->latest = NULL;
	if (t->nchunks == 0)
		threads_sweep(st);
}

static void
thread_free(struct thread *t)
{
	free(t->chunks);
	free(t);
}

void
threads_sweep(struct store *st)
{
	uint32_t i, kept = 0;

	if (st->pins > 0)
		return;
	for (i = 0; i < st->nthreads; i++)
		if (st->threads[i]->gone && st->threads[i]->nchunks == 0)
			thread_free(st->threads[i]);
		else
			st->threads[kept++] = st->threads[i];
	st->nthreads = kept;
}

void
threads_free(struct store *st)
{
	uint32_t i, k;

	for (i = 0; i < st->nthreads; i++) {
		for (k = 0; k < st->threads[i]->nchunks; k++) {
			free(st->threads[i]->chunks[k]->fns);
			free(st->threads[i]->chunks[k]);
		}
		thread_free(st->threads[i]);
	}
	free(st->threads);
}
