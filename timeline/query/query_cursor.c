/* SPDX-License-Identifier: ISC */
/*
 * Events in the order of time: a heap with one source per thread and one for
 * output and crashes.  A source stands at the beginning of a segment until
 * its time has come, and only then reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "query_int.h"

#define WINDOW		65536U		/* bytes read at once, */
#define WINDOW_MANY	8192U		/* with many threads */
#define MANY		128

struct source {
	struct thread *t;		/* NULL: output and crashes */
	uint32_t chunk, off;		/* next record */
	uint8_t	*window;		/* owned; part of the chunk */
	uint32_t win_off, win_len, win_cap;
	struct place key;
	bool	 loaded;		/* an event is there, not only a time */
	bool	 half;			/* rec[1] comes next */
	struct rec rec[2];		/* what has been read last */
	const struct rec *now;		/* the event of it */
	uint8_t	 room[PACK_WHOLE];	/* its captures, if they were packed */
};

struct cursor {
	struct filter *f;
	struct store *st;
	struct place after;
	uint64_t to;
	struct source *all;		/* owned */
	struct source **heap;
	uint32_t n, nall;
	bool	 shown;			/* heap[0] has been returned */
	sqlite3_stmt *texts;
};

static int
compare(const struct place *a, const struct place *b)
{
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->ord != b->ord)
		return a->ord < b->ord ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* -- the heap ----------------------------------------------------------- */
static void
sift_down(struct cursor *c, uint32_t i)
{
	struct source *s = c->heap[i];
	uint32_t child;

	while ((child = 2 * i + 1) < c->n) {
		if (child + 1 < c->n && compare(&c->heap[child + 1]->key,
		    &c->heap[child]->key) < 0)
			child++;
		if (compare(&s->key, &c->heap[child]->key) <= 0)
			break;
		c->heap[i] = c->heap[child];
		i = child;
	}
	c->heap[i] = s;
}

static void
forget_window(struct source *s)
{
	free(s->window);
	s->window = NULL;
	s->win_cap = s->win_len = 0;
}

static void
drop_first(struct cursor *c)
{
	forget_window(c->heap[0]);
	c->heap[0] = c->heap[--c->n];
	if (c->n > 0)
		sift_down(c, 0);
}

/* -- calls -------------------------------------------------------------- */
/* Makes len bytes at off of the chunk readable; NULL if they are not. */
static const uint8_t *
window_at(struct cursor *c, struct source *s, const struct chunk *ch,
    uint32_t off, uint32_t *left)
{
	uint32_t want = c->nall > MANY ? WINDOW_MANY : WINDOW;
	uint8_t *bigger;

	if (off >= s->win_off && off < s->win_off + s->win_len) {
		*left = s->win_off + s->win_len - off;
		return s->window + (off - s->win_off);
	}
	if (s->win_cap > want)
		want = s->win_cap;
	if (s->win_cap < want) {
		if ((bigger = realloc(s->window, want)) == NULL)
			return NULL;
		s->window = bigger;
		s->win_cap = want;
	}
	s->win_off = off;
	s->win_len = ch->bytes - off < want ? ch->bytes - off : want;
	if (chunk_read(c->st, ch, off, s->window, s->win_len) == -1) {
		s->win_len = 0;
		return NULL;
	}
	*left = s->win_len;
	return s->window;
}

/* The record at s->off; 0 = the chunk has none there that is right. */
static uint32_t
record_at(struct cursor *c, struct source *s, const struct chunk *ch)
{
	struct seg_first first = chunk_first(ch);
	const uint8_t *p;
	uint32_t left;
	int32_t size;

	p = window_at(c, s, ch, s->off, &left);
	if (p == NULL)
		return 0;
	size = rec_read(p, left, &first, s->rec);
	if (size == 0) {
		/* its end is beyond the window: read anew from here */
		s->win_len = 0;
		if (s->win_cap < REC_SIZE_MAX) {
			forget_window(s);
			s->window = malloc(REC_SIZE_MAX);
			s->win_cap = s->window != NULL ? REC_SIZE_MAX : 0;
		}
		p = window_at(c, s, ch, s->off, &left);
		size = p == NULL ? -1 : rec_read(p, left, &first, s->rec);
	}
	return size > 0 ? (uint32_t)size : 0;
}

static bool
worth_reading(struct cursor *c, const struct chunk *ch)
{
	/* one that is not sealed costs as much to count as to read */
	return ch->last_ts >= c->after.ts && filter_chunk(c->f, ch) &&
	    (ch->nsums == 0 || count_some(c->f, ch));
}

/* Stands at the beginning of the next chunk; false = there is none. */
static bool
enter_chunk(struct cursor *c, struct source *s)
{
	const struct chunk *ch;

	s->win_len = 0;
	s->loaded = s->half = false;
	s->off = 0;
	if (s->chunk >= s->t->nchunks)
		return false;
	ch = s->t->chunks[s->chunk];
	s->key = (struct place){ ch->first_ts, s->t->ord, ch->first_seq };
	return ch->first_ts <= c->to;
}

/* The next event of the chunk; false = there is none that is right. */
static bool
next_of(struct cursor *c, struct source *s, const struct chunk *ch)
{
	uint32_t size;

	if (s->half) {
		s->half = false;
		s->now = &s->rec[1];
	} else {
		if (s->off >= ch->bytes || (size = record_at(c, s, ch)) == 0)
			return false;
		s->off += size;
		s->half = s->rec[1].kind != 0;
		s->now = &s->rec[0];
	}
	s->key = (struct place){ s->now->ts, s->t->ord, s->now->seq };
	return true;
}

static bool
is_wanted(struct cursor *c, const struct source *s)
{
	return compare(&s->key, &c->after) > 0 && filter_rec(c->f, s->now);
}

/* Goes to the next event that is wanted, or to the next chunk. */
static bool
step_calls(struct cursor *c, struct source *s)
{
	const struct chunk *ch = s->t->chunks[s->chunk];

	if (s->off == 0)
		store_tick(c->st);
	if (s->off > 0 || worth_reading(c, ch)) {
		while (next_of(c, s, ch)) {
			if (s->now->ts > c->to)
				return false;
			if (is_wanted(c, s)) {
				s->loaded = true;
				return true;
			}
		}
	}
	s->chunk++;
	return enter_chunk(c, s);
}

/* The first chunk that ends at ts or later. */
static uint32_t
first_chunk(const struct thread *t, uint64_t ts)
{
	uint32_t low = 0, high = t->nchunks, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->chunks[mid]->last_ts < ts)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* -- output and crashes ------------------------------------------------- */
static bool
open_texts(struct cursor *c)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
	    "SELECT id,ts,kind,tid,parent,thread,body FROM "
	    "texts WHERE (ts,id)>(?,?) AND ts<=? AND (1<<kind)&%u AND "
	    "kind<=%d%s "
	    "ORDER BY ts,id",
	    c->f->kinds, EVENT_CRASH, c->f->tid == -1 ? "" : " AND tid=?");
	if (sqlite3_prepare_v2(c->st->db, sql, -1, &c->texts, NULL) !=
	    SQLITE_OK)
		return false;
	sqlite3_bind_int64(c->texts, 1, (sqlite3_int64)c->after.ts);
	/* of texts at that time those with a greater id, and all threads' */
	sqlite3_bind_int64(c->texts, 2, c->after.ord > 0 ? INT64_MAX :
	    (sqlite3_int64)c->after.seq);
	sqlite3_bind_int64(c->texts, 3, c->to > INT64_MAX ? INT64_MAX :
	    (sqlite3_int64)c->to);
	if (c->f->tid != -1)
		sqlite3_bind_int64(c->texts, 4, c->f->tid);
	return true;
}

static bool
step_texts(struct cursor *c, struct source *s)
{
	if (sqlite3_step(c->texts) != SQLITE_ROW)
		return false;
	s->key = (struct place){ (uint64_t)sqlite3_column_int64(c->texts, 1),
		0, (uint64_t)sqlite3_column_int64(c->texts, 0) };
	s->loaded = true;
	return true;
}

/* A crash: which it was, where, and in which calls. */
static void
withhold(struct seen *ev)
{
	static const char *const kept[] = { "signal", "signalName", "code",
		"handled", "threadName", "binary", "function", "sourceFile",
		"line", "offset", "lastEvents", "openCalls" };
	static struct text shown = { .max = TEXT_MAX };
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = tok == NULL ? NULL :
	    json_tokener_parse_ex(tok, ev->data, (int)ev->len), *v;
	const char *text;
	size_t i;

	text_free(&shown);
	text_puts(&shown, "{\"valuesWithheld\":true");
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (json_object_object_get_ex(o, kept[i], &v)) {
			text = json_object_to_json_string_ext(v,
			    JSON_C_TO_STRING_PLAIN);
			text_printf(&shown, ",\"%s\":", kept[i]);
			text_put(&shown, text, strlen(text));
		}
	text_puts(&shown, "}");
	json_object_put(o);
	if (tok != NULL)
		json_tokener_free(tok);
	ev->data = shown.p == NULL ? "{}" : shown.p;
	ev->len = shown.p == NULL ? 2 : shown.len;
}

static void
show_text(const struct cursor *c, const struct source *s, struct seen *ev)
{
	*ev = (struct seen){.id = id_of(0, s->key.seq),
	    .ts = s->key.ts,
	    .kind = (uint8_t)sqlite3_column_int(c->texts, 2),
	    .tid = (uint32_t)sqlite3_column_int64(c->texts, 3),
	    .parent = (uint64_t)sqlite3_column_int64(c->texts, 4),
	    .name = (const char *)sqlite3_column_text(c->texts, 5),
	    .data = sqlite3_column_blob(c->texts, 6),
	    .len = (size_t)sqlite3_column_bytes(c->texts, 6)};
	if (ev->data == NULL)
		ev->data = "";
	/* it lasts until the next crash is shown */
	if (c->st->names_only && ev->kind == EVENT_CRASH)
		withhold(ev);
}

static void
show_call(struct source *s, struct seen *ev)
{
	const struct rec *r = s->now;

	*ev = (struct seen){ .id = id_of(s->key.ord, s->key.seq),
		.ts = s->key.ts, .duration = r->duration,
		.parent = r->back - 1 < r->seq - 1 ?
		    id_of(s->key.ord, r->seq - r->back) : 0,
		.fn = r->fn, .tid = s->t->tid, .kind = r->kind,
		.flags = r->flags, .thread = s->t,
		.data = rec_captures(r, s->room), .len = r->len };
}

/* -- the cursor --------------------------------------------------------- */
static void
add_source(struct cursor *c, struct thread *t)
{
	struct source *s = &c->all[c->nall];

	*s = (struct source){ .t = t };
	if (t == NULL) {
		if (!open_texts(c) || !step_texts(c, s))
			return;
	} else {
		s->chunk = first_chunk(t, c->after.ts);
		if (!enter_chunk(c, s))
			return;
	}
	c->nall++;
	c->heap[c->n++] = s;
}

static void
add_sources(struct cursor *c)
{
	struct thread *t;
	uint32_t i;

	if (c->f->texts)
		add_source(c, NULL);
	for (i = 0; c->f->calls && i < c->st->nthreads; i++) {
		t = c->st->threads[i];
		if (c->f->tid == -1 || c->f->tid == (int64_t)t->tid)
			add_source(c, t);
	}
	for (i = c->n / 2; i-- > 0;)
		sift_down(c, i);
}

struct cursor *
cursor_open(struct filter *f, const struct place *after, uint64_t to)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->f = f;
	c->st = f->st;
	c->after = *after;
	c->to = to < f->st->settled ? to : f->st->settled;
	if (c->to > f->st->horizon)
		c->to = f->st->horizon;
	c->all = calloc(f->st->nthreads + 1, sizeof(*c->all));
	c->heap = calloc(f->st->nthreads + 1, sizeof(struct source *));
	f->st->pins++;
	if (c->all == NULL || c->heap == NULL) {
		cursor_close(c);
		return NULL;
	}
	add_sources(c);
	return c;
}

int
cursor_next(struct cursor *c, struct seen *ev)
{
	struct source *s;

	while (c->n > 0) {
		s = c->heap[0];
		if (s->loaded && !c->shown) {
			if (s->t == NULL)
				show_text(c, s, ev);
			else
				show_call(s, ev);
			c->shown = true;
			return 1;
		}
		c->shown = false;
		if (s->t == NULL ? step_texts(c, s) : step_calls(c, s))
			sift_down(c, 0);
		else
			drop_first(c);
	}
	return 0;
}

void
cursor_close(struct cursor *c)
{
	uint32_t i;

	if (c == NULL)
		return;
	sqlite3_finalize(c->texts);
	for (i = 0; c->all != NULL && i < c->nall; i++)
		free(c->all[i].window);
	free(c->all);
	free(c->heap);
	c->st->pins--;
	free(c);
}

/* -- places ------------------------------------------------------------- */
static int
place_of_text(struct store *st, uint64_t seq, struct place *p)
{
	sqlite3_stmt *s;
	int ret = -1;

	if (sqlite3_prepare_v2(st->db, "SELECT ts FROM texts WHERE id=?", -1,
	    &s, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(s, 1, (sqlite3_int64)seq);
	if (sqlite3_step(s) == SQLITE_ROW) {
		*p = (struct place){ (uint64_t)sqlite3_column_int64(s, 0), 0,
			seq };
		ret = 0;
	}
	sqlite3_finalize(s);
	return ret;
}

/* The time of the last record up to seq, which may have been lost. */
static uint64_t
time_of(const struct store *st, const struct chunk *ch, uint64_t seq)
{
	static uint8_t data[SEG_DATA];
	struct seg_first first = chunk_first(ch);
	uint64_t ts = ch->first_ts;
	uint32_t at = 0;
	struct rec r[2];
	int32_t size;

	if (chunk_read(st, ch, 0, data, ch->bytes) == -1)
		return ts;
	while ((size = rec_read(data + at, ch->bytes - at, &first, r)) > 0 &&
	    r[0].seq <= seq) {
		ts = r[r[1].kind != 0 && r[1].seq <= seq].ts;
		at += (uint32_t)size;
	}
	return ts;
}

int
place_of(struct store *st, uint64_t id, struct place *p)
{
	uint32_t ord = id_ord(id), i;
	uint64_t seq = id_seq(id);
	const struct thread *t;

	*p = (struct place){ 0, 0, 0 };
	if (ord == 0)
		return place_of_text(st, seq, p);
	/* a thread that is no more has been evicted: all that is here is later */
	if ((t = thread_by_ord(st, ord)) == NULL)
		return ord < st->next_ord ? 0 : -1;
	if (seq >= t->next_seq || seq == 0)
		return -1;
	for (i = t->nchunks; i > 0 && t->chunks[i - 1]->first_seq > seq; i--)
		;
	if (i > 0)
		*p = (struct place){ time_of(st, t->chunks[i - 1], seq), ord,
			seq };
	return 0;
}
