/* SPDX-License-Identifier: ISC */
/*
 * How many events match, and where the n-th of them is, without looking at
 * them all: by the counters, by the summaries of segments, and by their times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_int.h"

#define CALLS	(1U << EVENT_ENTER | 1U << EVENT_EXIT)
#define SEEK_FROM	2000U	/* fewer are skipped one by one */

/* -- a chunk's records -------------------------------------------------- */
/* Matches from one time on and before another, by looking at each. */
static uint64_t
count_records(
    struct filter *f, const struct chunk *c, uint64_t from, uint64_t ts)
{
	static uint8_t data[SEG_DATA];
	struct seg_first first = chunk_first(c);
	uint32_t at = 0;
	uint64_t n = 0;
	struct rec r[2];
	int32_t size;

	if (chunk_read(f->st, c, 0, data, c->bytes) == -1)
		return 0;
	while ((size = rec_read(data + at, c->bytes - at, &first, r)) > 0 &&
	    r[0].ts < ts) {
		n += r[0].ts >= from && filter_rec(f, &r[0]);
		n += r[1].kind != 0 && r[1].ts >= from && r[1].ts < ts &&
		     filter_rec(f, &r[1]);
		at += (uint32_t)size;
	}
	return n;
}

/* The usual question, and most rows of all: only who was called. */
static uint64_t
count_functions(const struct filter *f, const struct seg_sum *sums,
    uint32_t n)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (sums[i].fn < f->nfns && f->fns[sums[i].fn] != 0)
			count += sums[i].count;
	return count;
}

/* -- what has no number ------------------------------------------------- */
/* A chunk of which single records are read. */
struct look {
	const struct chunk *chunk;
	uint8_t	*data;			/* SEG_DATA bytes */
	uint32_t asked;
	bool	 whole;			/* all of it has been read */
};

#define LOOKS_MOST	16U	/* single ones before all of it is read */

/* The exit that ends in the record at a unit; false = there is none. */
static bool
look_at(const struct store *st, struct look *l, uint16_t unit, struct rec *r)
{
	uint32_t at = unit * SEG_UNIT, left = l->chunk->bytes - at;
	struct seg_first first = chunk_first(l->chunk);
	struct rec both[2];

	if (at >= l->chunk->bytes)
		return false;
	if (!l->whole && ++l->asked > LOOKS_MOST)
		l->whole = chunk_read(st, l->chunk, 0, l->data,
		    l->chunk->bytes) == 0;
	if (!l->whole) {
		left = left < REC_SIZE_MAX ? left : REC_SIZE_MAX;
		if (chunk_read(st, l->chunk, at, l->data + at, left) == -1)
			return false;
	}
	if (rec_read(l->data + at, left, &first, both) <= 0)
		return false;
	*r = both[both[1].kind != 0];
	return r->kind == REC_EXIT;
}

/* Counts the matching keys of a row; if a key cannot tell, its record does. */
static uint64_t
count_looking(struct filter *f, struct look *l, const struct seg_sum *row,
    const uint64_t *keys, const uint16_t *units)
{
	uint64_t count = 0;
	struct rec r;
	uint32_t i;
	int match;

	for (i = 0; i < row->count; i++) {
		match = values_key(f, row->fn, keys[i]);
		if (match == -1)
			match = look_at(f->st, l, units[i], &r) &&
			    r.fn == row->fn && r.class == row->class &&
			    values_match(f, &r);
		count += match == 1;
	}
	return count;
}

/* Matches among what has neither number nor one answer for all. */
static uint64_t
count_others(struct filter *f, const struct chunk *c)
{
	static uint8_t data[SEG_DATA];
	struct look look = { .chunk = c, .data = data };
	const struct seg_sum *row;
	struct others o;
	uint32_t i, at = 0;
	uint64_t count = 0, sure;
	bool perhaps;

	chunk_others(f->st, c, &o);
	for (i = 0; i < o.nrows; at += row->count, i++) {
		row = &o.rows[i];
		sure = values_row(f, row, o.keys + at, &perhaps);
		count += perhaps ? count_looking(f, &look, row, o.keys + at,
		    o.units + at) : sure;
	}
	return count;
}

/*
 * The same, kept: pages begin where something is.  Chunks that are sealed do
 * not change, and none goes as long as somebody asks.
 */
static uint64_t
others_of(struct filter *f, const struct chunk *c)
{
	bool keep = c->sealed && c->slot < f->ncounts;
	uint64_t count;

	if (keep && f->counts[c->slot] != 0)
		return f->counts[c->slot] - 1U;
	store_tick(f->st);
	count = count_others(f, c);
	if (keep)
		f->counts[c->slot] = (uint16_t)(count + 1);
	return count;
}

/* -- one chunk ---------------------------------------------------------- */
static uint64_t
count_rows(struct filter *f, const struct chunk *c)
{
	static struct seg_sum sums[SEG_SUMS];
	bool others = false;
	uint64_t count = 0;
	uint32_t n, i;
	int some;

	store_tick(f->st);
	n = chunk_sums(f->st, c, sums);
	if (!f->by_result && (f->kinds & CALLS) == CALLS)
		return count_functions(f, sums, n);
	for (i = 0; i < n; i++) {
		some = filter_sum(f, sums[i].fn, sums[i].class);
		if (some == 1)
			count += sums[i].count;
		others = others || some == -1;
	}
	return count + (others ? others_of(f, c) : 0);
}

static uint64_t
count_chunk(struct filter *f, const struct chunk *c)
{
	/* its numbers stand there if no more is asked */
	if (!filter_selective(f))
		return ((f->kinds & 1U << EVENT_ENTER) != 0 ? c->nenter : 0) +
		    ((f->kinds & 1U << EVENT_EXIT) != 0 ?
		    c->count - c->nenter : 0);
	if (!filter_chunk(f, c))
		return 0;
	return f->by_result && !f->summed ? others_of(f, c) :
	    count_rows(f, c);
}

bool
count_some(struct filter *f, const struct chunk *c)
{
	if (f->by_result && c->slot < f->ncounts && f->counts[c->slot] > 1)
		return true;
	return !filter_selective(f) || count_chunk(f, c) > 0;
}

/* -- all ---------------------------------------------------------------- */
/* Counts a function's matches; false: some are to be counted in the chunks. */
static bool
count_function(struct filter *f, uint32_t fn, uint64_t *n)
{
	static const uint16_t last[] = { CLASS_ODD, CLASS_ENTER, CLASS_OTHER };
	const struct counters *t = &f->st->counters;
	bool whole = true;
	uint64_t have;
	uint32_t i;
	int some;

	for (i = 0; i <= CLASS_MAX + 3; i++) {
		uint16_t class = i <= CLASS_MAX ? (uint16_t)i :
		    last[i - CLASS_MAX - 1];

		if ((have = counters_count(t, fn, class)) == 0)
			continue;
		some = filter_sum(f, fn, class);
		whole = whole && some != -1;
		*n += some == 1 ? have : 0;
	}
	return whole;
}

/* Counts the matches that the counters knows; false if these are not all. */
static bool
count_by_tally(struct filter *f, uint64_t *n)
{
	bool whole = true;
	uint32_t fn;

	*n = 0;
	for (fn = 0; fn < f->st->counters.nfns; fn++)
		if (f->fns == NULL || (fn < f->nfns && f->fns[fn] != 0))
			whole &= count_function(f, fn, n);
	return whole;
}

/* Counts the matches that the counters does not know. */
static uint64_t
count_rest(struct filter *f)
{
	const struct store *st = f->st;
	uint64_t n = 0;
	uint32_t i, k;

	for (i = 0; i < st->nthreads; i++)
		for (k = 0; k < st->threads[i]->nchunks; k++)
			if (filter_chunk(f, st->threads[i]->chunks[k]))
				n += others_of(f, st->threads[i]->chunks[k]);
	return n;
}

static bool
thread_wanted(const struct filter *f, const struct thread *t)
{
	return f->tid == -1 || f->tid == (int64_t)t->tid;
}

static uint64_t
count_thread(struct filter *f, const struct thread *t)
{
	uint64_t n = 0;
	uint32_t i;

	if (!filter_selective(f))
		return ((f->kinds & 1U << EVENT_ENTER) != 0 ? t->nenter : 0) +
		    ((f->kinds & 1U << EVENT_EXIT) != 0 ? t->nexit : 0);
	for (i = 0; i < t->nchunks; i++)
		n += count_chunk(f, t->chunks[i]);
	return n;
}

static uint64_t
count_calls(struct filter *f)
{
	uint64_t n = 0;
	uint32_t i;

	if (f->tid == -1 && filter_selective(f))
		return count_by_tally(f, &n) ? n : n + count_rest(f);
	for (i = 0; i < f->st->nthreads; i++)
		if (thread_wanted(f, f->st->threads[i]))
			n += count_thread(f, f->st->threads[i]);
	return n;
}

/* Output and crashes from one time on and before another. */
static uint64_t
count_texts_in(const struct filter *f, uint64_t from, uint64_t ts)
{
	char sql[200];
	sqlite3_stmt *s;
	uint64_t n = 0;

	snprintf(sql, sizeof(sql),
	    "SELECT count(*) FROM texts WHERE ts>=? AND "
	    "ts<? AND (1<<kind)&%u AND kind<=%d%s",
	    f->kinds, EVENT_CRASH, f->tid == -1 ? "" : " AND tid=?");
	if (sqlite3_prepare_v2(f->st->db, sql, -1, &s, NULL) != SQLITE_OK)
		return 0;
	sqlite3_bind_int64(
	    s, 1, from > INT64_MAX ? INT64_MAX : (sqlite3_int64)from);
	sqlite3_bind_int64(
	    s, 2, ts > INT64_MAX ? INT64_MAX : (sqlite3_int64)ts);
	if (f->tid != -1)
		sqlite3_bind_int64(s, 3, f->tid);
	if (sqlite3_step(s) == SQLITE_ROW)
		n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static uint64_t
count_texts(const struct filter *f)
{
	uint64_t n = 0;
	int kind;

	if (f->tid != -1)
		return count_texts_in(f, 0, INT64_MAX);
	for (kind = EVENT_STDOUT; kind <= EVENT_CRASH; kind++)
		if ((f->kinds & 1U << kind) != 0)
			n += f->st->ntexts[kind];
	return n;
}

/* Calls of a thread that are later than ts: they are the last ones. */
static uint64_t
count_calls_after(struct filter *f, const struct thread *t, uint64_t ts)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = t->nchunks; i > 0 && t->chunks[i - 1]->last_ts > ts; i--) {
		store_tick(f->st);
		if (filter_chunk(f, t->chunks[i - 1]))
			n += count_records(
			    f, t->chunks[i - 1], ts + 1, UINT64_MAX);
	}
	return n;
}

/*
 * Counts matches that are there and not shown now.  Events that come in
 * meanwhile are not shown either, and may be missed here.
 */
static uint64_t
count_hidden(struct filter *f)
{
	const struct store *st = f->st;
	uint64_t ts = st->horizon, n = 0;
	uint32_t i;

	if (st->latest_ts <= ts)
		return 0;
	for (i = 0; f->calls && i < st->nthreads; i++)
		if (thread_wanted(f, st->threads[i]))
			n += count_calls_after(f, st->threads[i], ts);
	if (f->texts)
		n += count_texts_in(f, ts + 1, INT64_MAX);
	return n;
}

uint64_t
count_all(struct filter *f)
{
	uint64_t later, n;

	if (f->by_result && f->counts == NULL) {
		f->ncounts = f->st->nslots;
		f->counts = calloc(f->ncounts + 1, sizeof(*f->counts));
		if (f->counts == NULL)
			f->ncounts = 0;
	}
	/* first, so that nothing is left out that was not counted */
	later = count_hidden(f);
	n = (f->calls ? count_calls(f) : 0) + (f->texts ? count_texts(f) : 0);
	return n > later ? n - later : 0;
}

/* -- the n-th ----------------------------------------------------------- */
struct span {
	const struct chunk *chunk;
	uint64_t count, sum;		/* sum: with all that begin before */
};

static int
by_begin(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;

	return a->chunk->first_ts < b->chunk->first_ts ? -1 :
	    a->chunk->first_ts > b->chunk->first_ts;
}

/* Spans of all chunks, by the time at which they begin. */
static struct span *
spans_of(struct filter *f, size_t *n)
{
	const struct store *st = f->st;
	const struct thread *t;
	struct span *all;
	size_t i, k;

	for (*n = 0, i = 0; i < st->nthreads; i++)
		*n += st->threads[i]->nchunks;
	if ((all = calloc(*n + 1, sizeof(*all))) == NULL)
		return NULL;
	for (*n = 0, i = 0; f->calls && i < st->nthreads; i++) {
		t = st->threads[i];
		for (k = 0; thread_wanted(f, t) && k < t->nchunks; k++)
			all[(*n)++].chunk = t->chunks[k];
	}
	qsort(all, *n, sizeof(*all), by_begin);
	return all;
}

/* Counts until there are more than offset; how many spans that takes. */
static size_t
count_spans(struct filter *f, struct span *all, size_t n, uint64_t offset)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n && sum <= offset; i++) {
		all[i].count = count_chunk(f, all[i].chunk);
		all[i].sum = sum += all[i].count;
	}
	return i;
}

static uint64_t
most_before(const struct filter *f, const struct span *all, size_t i)
{
	return (i == 0 ? 0 : all[i - 1].sum) +
	       (f->texts ? count_texts_in(f, 0, all[i].chunk->first_ts) : 0);
}

/* Exactly how many match before the beginning of span i. */
static uint64_t
count_before(struct filter *f, const struct span *all, size_t i)
{
	uint64_t ts = all[i].chunk->first_ts, n;
	size_t k;

	n = f->texts ? count_texts_in(f, 0, ts) : 0;
	for (k = 0; k < i; k++)
		n += all[k].chunk->last_ts < ts
			 ? all[k].count
			 : count_records(f, all[k].chunk, 0, ts);
	return n;
}

void
count_seek(struct filter *f, uint64_t offset, struct place *p,
    uint64_t *skip)
{
	struct span *all;
	size_t n, low = 0, high, mid;

	*p = (struct place){ 0, 0, 0 };
	*skip = offset;
	if (offset < SEEK_FROM || (all = spans_of(f, &n)) == NULL)
		return;
	n = count_spans(f, all, n, offset);
	/* the last span before which there surely are not too many */
	for (high = n; low + 1 < high;) {
		mid = low + (high - low) / 2;
		if (most_before(f, all, mid) <= offset)
			low = mid;
		else
			high = mid;
	}
	if (n > 0 && most_before(f, all, low) <= offset) {
		p->ts = all[low].chunk->first_ts;
		*skip = offset - count_before(f, all, low);
	}
	free(all);
}
