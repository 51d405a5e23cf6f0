/* SPDX-License-Identifier: ISC */
/*
 * Recovers what another writer left: reads every segment once; a segment ends
 * at its first record that is not right.  Threads that the writer had are over.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_int.h"

struct found {
	struct seg_head head;
	uint32_t slot;
};

static int
by_thread(const void *va, const void *vb)
{
	const struct found *a = va, *b = vb;

	if (a->head.ord != b->head.ord)
		return a->head.ord < b->head.ord ? -1 : 1;
	return a->head.first_seq < b->head.first_seq ? -1 :
	    a->head.first_seq > b->head.first_seq;
}

/* The next slot at or after this one in which something is written. */
static uint32_t
next_slot(const struct store *st, uint32_t slot)
{
	off_t at = lseek(st->files.calls_fd, (off_t)slot * SEG_SIZE,
	    SEEK_DATA);

	if (at == -1)
		return errno == ENXIO ? st->nslots : slot;
	return (uint32_t)(at / SEG_SIZE);
}

static struct found *
find_all(struct store *st, size_t *n)
{
	struct found *all = NULL, *more, f;
	size_t cap = 0;
	uint8_t head[SEG_HEAD];

	*n = 0;
	for (f.slot = next_slot(st, 0); f.slot < st->nslots;
	    f.slot = next_slot(st, f.slot + 1)) {
		if (pread(st->files.calls_fd, head, sizeof(head),
		    (off_t)f.slot * SEG_SIZE) != (ssize_t)sizeof(head))
			continue;
		if (!seg_head_read(head, st->tag, &f.head)) {
			slot_put(st, f.slot, SEG_SIZE);
			continue;
		}
		if (*n == cap) {
			cap = 2 * cap + 64;
			more = reallocarray(all, cap, sizeof(*all));
			if (more == NULL) {
				free(all);
				return NULL;
			}
			all = more;
		}
		all[(*n)++] = f;
	}
	if (*n > 0)
		qsort(all, *n, sizeof(*all), by_thread);
	return all;
}

static void
count_event(struct store *st, struct thread *t, struct chunk *c,
    const struct rec *r)
{
	uint8_t room[PACK_WHOLE];

	if (r->kind == REC_EXIT && !class_is_other(r->class))
		counters_learn(&st->counters, r->fn, r->class,
		    rec_captures(r, room), r->len);
	counters_add(&st->counters, r->fn, r->class, 1);
	*(r->kind == REC_ENTER ? &t->nenter : &t->nexit) += 1;
	c->nenter += r->kind == REC_ENTER;
}

/* Counts what is in a segment, and learns the values of its classes. */
static void
count(struct store *st, struct thread *t, struct chunk *c,
    const uint8_t *data, uint32_t len)
{
	struct seg_first first = chunk_first(c);
	struct rec r[2];
	int32_t size;
	int i;

	for (; (size = rec_read(data, len, &first, r)) > 0;
	    data += size, len -= (uint32_t)size)
		for (i = 0; i < 2 && r[i].kind != 0; i++)
			count_event(st, t, c, &r[i]);
}

/* Bytes of good records whose functions can be counted. */
static uint32_t
countable(struct store *st, const struct seg_first *first,
    const uint8_t *data, uint32_t len)
{
	uint32_t at = 0, n = 0;
	struct rec r[2];
	int32_t size;

	while (n++ < SEG_RECORDS && (size = rec_read(data + at, len - at,
	    first, r)) > 0 && r[0].fn < FN_MAX &&
	    counters_reserve(&st->counters, r[0].fn) == 0)
		at += (uint32_t)size;
	return at;
}

/*
 * Whether the index in the segment can be that of its records.  A wrong index
 * is written anew; if that fails, the index is made when it is needed.
 */
static bool
same_index(const struct seg_head *h, uint32_t n, const struct seg_index *x)
{
	return n == h->count && h->nsums == x->nrows &&
	    h->nothers == x->nothers && h->nkeys == x->nkeys;
}

static void
take(struct store *st, struct thread *t, const struct found *f)
{
	static uint8_t data[SEG_DATA];
	static struct seg_index x;
	const struct seg_head *h = &f->head;
	const struct seg_first first = { h->first_ts, h->first_seq };
	struct chunk *c;
	struct rec last;
	uint32_t n, len;
	ssize_t have;

	have = pread(st->files.calls_fd, data, h->bytes,
	    (off_t)f->slot * SEG_SIZE + SEG_HEAD);
	if (have <= 0)
		return;
	len = seg_good(h, data, (size_t)have, &n, &last);
	len = countable(st, &first, data, len);
	seg_good(h, data, len, &n, &last);
	if (n == 0 || h->first_seq < t->next_seq ||
	    h->first_ts < t->last_ts || (c = chunk_add(t)) == NULL)
		return;
	c->slot = f->slot;
	c->first_seq = h->first_seq;
	c->first_ts = h->first_ts;
	c->last_ts = last.ts;
	c->last_seq = last.seq;
	c->count = n;
	c->bytes = c->written = len;
	c->used = (SEG_HEAD + len + 4095) & ~4095U;
	st->used += c->used;
	st->collected += n;
	t->next_seq = c->last_seq + 1;
	t->last_ts = last.ts;
	if (last.ts > st->latest_ts)
		st->latest_ts = last.ts;
	count(st, t, c, data, len);
	seg_index(data, len, st->tag, &x);
	chunk_index(c, &x);
	if (!same_index(h, n, &x) && chunk_write_index(st, t, c, &x) == -1)
		c->nsums = 0;
	else
		chunk_charge(st, c);
	chunk_trim(st, c);
}

int
store_recover(struct store *st, char why[STORE_WHY])
{
	struct thread *t = NULL;
	struct found *all;
	struct stat sb;
	size_t n, i;

	if (fstat(st->files.calls_fd, &sb) == -1) {
		snprintf(why, STORE_WHY, "calls: %s", strerror(errno));
		return -1;
	}
	st->nslots = (uint32_t)((sb.st_size + SEG_SIZE - 1) / SEG_SIZE);
	all = find_all(st, &n);
	for (i = 0; i < n && all != NULL; i++) {
		if (t == NULL || t->ord != all[i].head.ord) {
			t = thread_new(st, all[i].head.ord, all[i].head.tid);
			if (t == NULL)
				break;
			t->gone = true;
			memcpy(t->name, all[i].head.name, sizeof(t->name));
			t->name[sizeof(t->name) - 1] = '\0';
			if (t->ord >= st->next_ord)
				st->next_ord = t->ord + 1;
		}
		take(st, t, &all[i]);
	}
	free(all);
	/* what the writer had not come back to, or nobody can read */
	slots_trim(st, 0);
	st->collected += st->ntexts[EVENT_STDOUT] + st->ntexts[EVENT_STDERR] +
	    st->ntexts[EVENT_CRASH];
	return 0;
}
