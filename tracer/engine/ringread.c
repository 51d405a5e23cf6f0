/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "ringread.h"

#define WORDS_MOST	(RECORD_WORDS + CAPTURE_BYTES_MAX / 8)
#define COPY_LEAST	32	/* words: a few records */
#define COPY_MOST	2048
#define OPEN_MOST	(AGENT_FRAMES + AGENT_SPARE)
#define STUCK_NS_TICKS	1000000000ULL	/* about half a second of any tsc */
#define PASS_MOST	8	/* laps in one call: a writer may be faster */
#define TOLD		16	/* times in a lap that the writer gets room */
#define BACKLOG_WORDS	((256U << 10) / 8)
#define BACKLOGS_MOST	1024U	/* of all readers: 256 MiB */
#define BACKLOGS_KEPT	16U	/* of these the memory is never given back */

/* Steps whose captures have a fixed size, unless there was no room. */
#define FIXED_OPS	(1U << CAP_REG | 1U << CAP_VEC | 1U << CAP_STACK | \
			1U << CAP_MEM | 1U << CAP_X87)

_Static_assert(COPY_MOST >= WORDS_MOST, "a record is copied as a whole");
_Static_assert(BACKLOG_WORDS >= WORDS_MOST, "and so it is put aside");

/* Whole records that have been taken out of a ring, and not been read. */
struct backlog {
	struct backlog *next;
	uint64_t at;		/* of the first word */
	uint32_t words;
	uint64_t w[BACKLOG_WORDS];
};

static struct backlog *spare_backlog;
static uint32_t nbacklogs, nspare;

/* A call whose end has not been read. */
struct open {
	uint64_t id, tsc;
	uint32_t fn;
};

struct ring_reader {
	const volatile uint64_t *ring;
	uint64_t mask;		/* words - 1 */
	uint64_t at;		/* words read */
	uint64_t since;		/* tsc since which `at` has not come */
	struct backlog *backlog, *newest; /* of what follows `at`; owned */
	uint64_t torn;
	uint64_t missed;	/* `at` where the end of a writer was told */
	uint64_t tsc;		/* of the record before */
	bool	 astray;	/* nobody knows whether it is that */
	bool	 late;		/* what comes next is later than upto */
	bool	 more;		/* the last reading had to end before that */
	struct open *open;	/* the innermost last; OPEN_MOST of them */
	uint32_t nopen;
	uint32_t copied;	/* words of buf, from those at `at` on */
	const uint64_t *next;	/* the first of them */
	uint64_t buf[COPY_MOST];
};

/* A record as it has been copied, checked but for its captures. */
struct record {
	const uint64_t *w;
	uint64_t tsc, link, start;
	uint32_t fn, words, head;	/* head: bytes before the captures */
	uint8_t	 kind, flags;
};

struct ring_reader *
ring_reader_new(const void *ring, size_t size, uint64_t base)
{
	struct ring_reader *rd;

	rd = calloc(1, sizeof(*rd));
	if (rd == NULL)
		return (NULL);
	rd->open = calloc(OPEN_MOST, sizeof(*rd->open));
	if (rd->open == NULL) {
		free(rd);
		return (NULL);
	}
	rd->ring = ring;
	rd->mask = size / 8 - 1;
	rd->at = base;
	rd->missed = UINT64_MAX;
	rd->next = rd->buf;
	rd->astray = true;
	return (rd);
}

/* --- what has been put aside ---------------------------------------------- */

static struct backlog *
backlog_new(uint64_t at)
{
	struct backlog *s = spare_backlog;

	if (s != NULL) {
		spare_backlog = s->next;
		nspare--;
	} else if (nbacklogs == BACKLOGS_MOST ||
	    (s = malloc(sizeof(*s))) == NULL) {
		return (NULL);
	} else
		nbacklogs++;
	s->next = NULL;
	s->at = at;
	s->words = 0;
	return (s);
}

static void
backlog_drop(struct ring_reader *rd)
{
	struct backlog *s = rd->backlog;

	rd->backlog = s->next;
	if (rd->backlog == NULL)
		rd->newest = NULL;
	s->next = spare_backlog;
	spare_backlog = s;
	nspare++;
}

bool
ring_relax(void)
{
	uint32_t n = nspare > BACKLOGS_KEPT ?
	    (nspare - BACKLOGS_KEPT + 7) / 8 : 0;
	struct backlog *s;

	for (; n > 0; n--) {
		s = spare_backlog;
		spare_backlog = s->next;
		nspare--;
		nbacklogs--;
		free(s);
	}
	return (nspare > BACKLOGS_KEPT);
}

/* Reads on in what was put aside.  False: there is no more. */
static bool
backlog_take(struct ring_reader *rd)
{
	const struct backlog *s;
	uint32_t done;

	while ((s = rd->backlog) != NULL && rd->at >= s->at + s->words)
		backlog_drop(rd);
	if (s == NULL)
		return (false);
	done = (uint32_t)(rd->at - s->at);
	rd->next = s->w + done;
	rd->copied = s->words - done;
	return (true);
}

void
ring_reader_free(struct ring_reader *rd)
{
	if (rd == NULL)
		return;
	while (rd->backlog != NULL)
		backlog_drop(rd);
	free(rd->open);
	free(rd);
}

void
ring_reader_forget(struct ring_reader *rd)
{
	rd->nopen = 0;
}

uint64_t
ring_tail(const struct ring_reader *rd)
{
	return (rd->newest == NULL ? rd->at :
	    rd->newest->at + rd->newest->words);
}

bool
ring_more(const struct ring_reader *rd)
{
	return (rd->more);
}

uint64_t
ring_torn(struct ring_reader *rd)
{
	uint64_t n = rd->torn;

	rd->torn = 0;
	return (n);
}

/* --- captures ------------------------------------------------------------- */

static bool
step_valid(const struct capture *c, const struct captured *h)
{
	if (h->status >= CAP_STATUSES || h->len > capture_most(c))
		return (false);
	if (h->status == CAP_FAULT || h->status == CAP_UNREAD)
		return (h->len == 0);
	if ((FIXED_OPS >> c->op & 1) != 0)
		return (h->len == c->len || (h->status == CAP_CUT &&
		    h->len == 0));
	return (true);
}

static bool
slice_valid(const struct capture *c, const struct captured *h,
    const uint8_t *bytes)
{
	uint64_t n, len;

	if (!capture_is_slice(c) || h->len == 0)
		return (true);
	if (h->len < sizeof(n))
		return (false);
	memcpy(&n, bytes, sizeof(n));
	len = h->len - sizeof(n);
	if (c->scale == 0)
		return (len == 0);
	return (len % c->scale == 0 && (h->status == CAP_CUT ?
	    len / c->scale <= n : len / c->scale == n));
}

bool
captures_valid(const struct capture *prog, const uint8_t *bytes, size_t len,
    size_t *used)
{
	struct captured h;
	size_t at = 0, i;

	*used = 0;
	for (i = 0; prog != NULL && i < CAPTURE_MAX &&
	    prog[i].op != CAP_END; i++) {
		if (len - at < sizeof(h))
			return (false);
		memcpy(&h, bytes + at, sizeof(h));
		if (captured_size(h.len) > len - at)
			return (false);
		/* nearly all are whole, and as long as they always are */
		if (h.status == CAP_OK && h.len == prog[i].len &&
		    (FIXED_OPS >> prog[i].op & 1) != 0) {
			at += captured_size(h.len);
			continue;
		}
		if (!step_valid(&prog[i], &h) ||
		    !slice_valid(&prog[i], &h, bytes + at + sizeof(h)))
			return (false);
		at += captured_size(h.len);
	}
	*used = at;
	return (true);
}

struct ring_shape
ring_shape_of(const struct capture *prog)
{
	struct ring_shape s = { .n = 0 }, none = { .n = 0 };

	if (prog == NULL)
		return (none);
	for (; prog->op != CAP_END; prog++, s.n++) {
		if (s.n == RING_STEPS || prog->op > CAP_MEM ||
		    (FIXED_OPS >> prog->op & 1) == 0 ||
		    s.bytes + captured_size(prog->len) > UINT8_MAX)
			return (none);
		s.lens[s.n] = prog->len;
		s.bytes = (uint8_t)(s.bytes + captured_size(prog->len));
	}
	return (s);
}

static inline bool
shape_fits(const struct ring_shape *s, const uint8_t *bytes, size_t len)
{
	struct captured h;
	uint32_t i;

	if (s->n == 0 || len < s->bytes)
		return (false);
	for (i = 0; i < s->n; i++) {
		memcpy(&h, bytes, sizeof(h));
		if (h.status != CAP_OK || h.len != s->lens[i])
			return (false);
		bytes += captured_size(h.len);
	}
	return (true);
}

/* --- calls that are open -------------------------------------------------- */

/* How many there are up to that one; 0: it is not among them. */
static uint32_t
open_find(const struct ring_reader *rd, uint64_t id)
{
	uint32_t n = rd->nopen;

	while (n > 0 && rd->open[n - 1].id != id)
		n--;
	return (n);
}

/*
 * The one that a brief EXIT of the function ends: the innermost, unless an
 * interrupted record has left the reader with others.
 */
static uint32_t
open_of(const struct ring_reader *rd, uint32_t fn)
{
	uint32_t n = rd->nopen;

	while (n > 0 && rd->open[n - 1].fn != fn)
		n--;
	return (n);
}

static void
open_push(struct ring_reader *rd, uint64_t id, uint64_t tsc, uint32_t fn)
{
	/* no thread of the agent has more */
	if (rd->nopen == OPEN_MOST)
		rd->nopen = 0;
	rd->open[rd->nopen++] = (struct open){ id, tsc, fn };
}

/* --- records -------------------------------------------------------------- */

static inline bool
committed(const struct ring_reader *rd, uint64_t at)
{
	return ((uint32_t)rd->ring[at & rd->mask] == (uint32_t)RECORD_ID(at));
}

/*
 * Out of the program's reach, from `at` on.  In order, as what says that a
 * record is complete is its first word.
 */
static void
fill(struct ring_reader *rd, uint64_t words)
{
	uint64_t size = rd->mask + 1, first = rd->at & rd->mask, left;
	size_t i;

	if (words > COPY_MOST)
		words = COPY_MOST;
	if (words > size)
		words = size;
	left = size - first < words ? size - first : words;
	for (i = 0; i < left; i++)
		rd->buf[i] = rd->ring[first + i];
	for (; i < words; i++)
		rd->buf[i] = rd->ring[i - left];
	rd->copied = (uint32_t)words;
	rd->next = rd->buf;
}

static inline void
advance(struct ring_reader *rd, uint32_t words)
{
	rd->at += words;
	rd->next += words;
	rd->copied -= words;
	rd->since = 0;
}

/* Bytes of what has been copied are looked at as what they are. */
static inline uint32_t
half(const uint64_t *w, size_t byte)
{
	return ((uint32_t)(w[byte / 8] >> (byte % 8 * 8)));
}

/* The words of a record that begins there, 0: it cannot be one. */
static inline uint32_t
words_of(const uint64_t *w)
{
	uint32_t n = half(w, offsetof(struct agent_brief, what)) >> WHAT_WORDS;

	if (n != 0)
		return (n * sizeof(*w) < sizeof(struct agent_brief) ? 0 : n);
	n = half(w, offsetof(struct agent_record, words));
	return (n < RECORD_WORDS || n > WORDS_MOST ? 0 : n);
}

/* Whether at that many words behind `next` there is one, as a whole. */
static inline uint32_t
is_copied(const struct ring_reader *rd, uint32_t ahead)
{
	const uint64_t *w = rd->next + ahead;
	uint32_t words;

	if (rd->copied - ahead < 2 ||
	    (uint32_t)w[0] != (uint32_t)RECORD_ID(rd->at + ahead))
		return (0);
	words = words_of(w);
	return (words <= rd->copied - ahead ? words : 0);
}

/* A record's words as they are now, which is what will be read of it. */
static bool
put_aside(struct ring_reader *rd, uint64_t at)
{
	struct backlog *s = rd->newest;
	uint64_t w[2], *to;
	uint32_t words, i;

	w[0] = rd->ring[at & rd->mask];
	if ((uint32_t)w[0] != (uint32_t)RECORD_ID(at))
		return (false);
	w[1] = rd->ring[(at + 1) & rd->mask];
	words = words_of(w);
	if (words == 0)
		return (false);
	if (s == NULL || BACKLOG_WORDS - s->words < words) {
		if ((s = backlog_new(at)) == NULL)
			return (false);
		*(rd->newest == NULL ? &rd->backlog : &rd->newest->next) = s;
		rd->newest = s;
	}
	to = s->w + s->words;
	to[0] = w[0];
	to[1] = w[1];
	for (i = 2; i < words; i++)
		to[i] = rd->ring[(at + i) & rd->mask];
	s->words += words;
	return (true);
}

void
ring_put_aside(struct ring_reader *rd)
{
	uint64_t at = ring_tail(rd), end = at + rd->mask;

	/* the copies of a reading that goes on are here again */
	rd->copied = 0;
	while (at < end && put_aside(rd, at))
		at = ring_tail(rd);
}

static bool
whole_valid(const struct ring_reader *rd, struct record *r)
{
	r->head = sizeof(struct agent_record);
	r->tsc = r->w[offsetof(struct agent_record, tsc) / 8];
	r->link = r->w[offsetof(struct agent_record, link) / 8];
	r->start = r->w[offsetof(struct agent_record, start) / 8];
	/* it is about what was recorded before this one */
	if (r->link > rd->at)
		return (false);
	return (r->kind == AGENT_ENTER || (r->kind == AGENT_EXIT &&
	    r->link != 0));
}

/*
 * Its clock near that of the record before; if that has not been read, the
 * latest that it can have been.
 */
static inline uint64_t
brief_tsc(const struct ring_reader *rd, const struct record *r, uint64_t now)
{
	uint32_t low = (uint32_t)(r->w[0] >> 32);

	if (rd->astray)
		return (now - (uint32_t)((uint32_t)now - low));
	return (rd->tsc + (uint64_t)(int64_t)(int32_t)(low -
	    (uint32_t)rd->tsc));
}

static inline bool
brief_valid(const struct ring_reader *rd, uint64_t now, struct record *r)
{
	const struct open *o;
	uint32_t n;

	r->head = sizeof(struct agent_brief);
	r->tsc = brief_tsc(rd, r, now);
	r->link = r->start = 0;
	if (r->kind == AGENT_ENTER) {
		if (rd->nopen > 0)
			r->link = rd->open[rd->nopen - 1].id;
		return (true);
	}
	if (r->kind != AGENT_EXIT || (n = open_of(rd, r->fn)) == 0)
		return (false);
	o = &rd->open[n - 1];
	r->link = o->id;
	r->start = o->tsc;
	return (true);
}

/* Takes a record's head apart. */
static inline bool
head_valid(const struct ring_reader *rd, const uint64_t *w, uint32_t words,
    uint64_t now, struct record *r)
{
	uint32_t what = half(w, offsetof(struct agent_brief, what));

	r->w = w;
	r->words = words;
	r->fn = WHAT_FN(what);
	r->kind = what >> WHAT_KIND & 3;
	r->flags = what >> WHAT_FLAGS & RECORD_FLAGS;
	if (what >> WHAT_WORDS == 0 ? !whole_valid(rd, r) :
	    !brief_valid(rd, now, r))
		return (false);
	return (r->tsc <= now && r->start <= r->tsc);
}

/* An exit may have no captures: no room, or it never returned. */
static inline bool
get_captures(const struct record *r, const struct capture *prog,
    const struct ring_shape *shape, const uint8_t **bytes, uint32_t *len)
{
	size_t room = r->words * sizeof(uint64_t) - r->head, used = 0;

	*bytes = (const uint8_t *)r->w + r->head;
	if (!(r->kind == AGENT_EXIT && (r->flags & RECORD_BARE) != 0) &&
	    prog != NULL) {
		if (shape_fits(shape, *bytes, room))
			used = shape->bytes;
		else if (!captures_valid(prog, *bytes, room, &used))
			return (false);
	}
	*len = (uint32_t)used;
	return (true);
}

/*
 * The EXIT that ends a call in which nothing else was recorded, right behind
 * its ENTER: its words, 0: it is not there, or has to be told alone.
 */
static uint32_t
take_exit(struct ring_reader *rd, const struct ring_programs *p, uint64_t now,
    uint32_t ahead, struct ring_record *out)
{
	uint32_t words = is_copied(rd, ahead), what;
	struct record r;

	if (words == 0)
		return (0);
	r.w = rd->next + ahead;
	what = half(r.w, offsetof(struct agent_brief, what));
	r.words = words;
	r.head = sizeof(struct agent_brief);
	r.kind = AGENT_EXIT;
	r.flags = what >> WHAT_FLAGS & RECORD_FLAGS;
	if ((what & ~((uint32_t)RECORD_BARE << WHAT_FLAGS)) !=
	    (out->fn | AGENT_EXIT << WHAT_KIND | words << WHAT_WORDS))
		return (0);
	out->end = out->tsc + (uint32_t)((uint32_t)(r.w[0] >> 32) -
	    (uint32_t)out->tsc);
	if (out->end > now || out->end - out->tsc >= BRIEF_TICKS ||
	    !get_captures(&r, p->leave, &p->leaves, &out->exit_captures,
	    &out->exit_captures_len))
		return (0);
	rd->tsc = out->end;
	return (words);
}

static void
note_exit(struct ring_reader *rd, const struct record *r)
{
	uint32_t n = open_find(rd, r->link);

	if (n > 0)
		rd->nopen = n - 1;
}

/* The words of what has been told, or is too late; 0: it is not valid. */
static uint32_t
deliver(struct ring_reader *rd, const struct ring_ops *ops, uint64_t now,
    uint32_t words, struct ring_record *out)
{
	const struct ring_programs *p;
	struct record r;
	uint32_t more;

	if (!head_valid(rd, rd->next, words, now, &r) ||
	    (p = ops->lookup(r.fn, ops->arg)) == NULL ||
	    !get_captures(&r, r.kind == AGENT_ENTER ? p->enter : p->leave,
	    r.kind == AGENT_ENTER ? &p->enters : &p->leaves, &out->captures,
	    &out->captures_len))
		return (0);
	if (ops->upto != 0 && r.tsc > ops->upto) {
		rd->since = 0;
		rd->late = true;
		return (words);
	}
	rd->tsc = r.tsc;
	rd->astray = false;
	out->tsc = r.tsc;
	out->start = r.start;
	out->fn = r.fn;
	out->link = r.link;
	out->kind = r.kind;
	out->flags = r.flags;
	if (r.kind == AGENT_EXIT) {
		note_exit(rd, &r);
		out->flags &= (uint8_t)~RECORD_BARE;
		out->id = r.link;
	} else {
		rd->nopen = r.link == 0 ? 0 : open_find(rd, r.link);
		out->id = RECORD_ID(rd->at);
	}
	out->depth = rd->nopen;
	if (r.kind == AGENT_ENTER && (r.flags & RECORD_OPEN) == 0) {
		more = p->apart ? 0 : take_exit(rd, p, now, words, out);
		if (more != 0)
			out->kind = RING_CALL;
		else
			open_push(rd, out->id, r.tsc, r.fn);
		words += more;
	}
	ops->record(out, ops->arg);
	return (words);
}

/*
 * At `at` there is nothing valid, or nothing yet.  Whether there is something
 * behind it, within a lap.
 */
static bool
resync(struct ring_reader *rd)
{
	uint64_t i;

	rd->copied = 0;
	rd->astray = true;
	for (i = 1; i <= rd->mask; i++) {
		if (!committed(rd, rd->at + i))
			continue;
		rd->at += i;
		rd->since = 0;
		return (true);
	}
	return (false);
}

/* True: go on reading. */
static bool
wait_or_skip(struct ring_reader *rd, uint64_t now, uint64_t head, bool last)
{
	if (rd->since == 0)
		rd->since = now;
	if (!last && now - rd->since < STUCK_NS_TICKS)
		return (false);
	/* look again in a while, not at each call */
	rd->since = now;
	if (!resync(rd)) {
		/* within one record the program may have been killed */
		if (last && head - rd->at > WORDS_MOST &&
		    rd->missed != rd->at) {
			rd->missed = rd->at;
			rd->torn++;
		}
		return (false);
	}
	rd->torn++;
	return (true);
}

/*
 * Reads a record, or passes over words that could have been one.  Returns the
 * number of words; 0: the record is late.
 */
static uint32_t
read_one(struct ring_reader *rd, const struct ring_ops *ops, uint64_t now,
    uint32_t words, size_t *n, struct ring_record *out)
{
	uint32_t told;

	if ((half(rd->next, offsetof(struct agent_brief, what)) >> WHAT_KIND &
	    3) == AGENT_VOID)
		return (words);
	told = deliver(rd, ops, now, words, out);
	if (rd->late)
		return (0);
	if (told == 0) {
		rd->torn++;
		rd->astray = true;
		return (words);
	}
	*n += told != words && out->kind == RING_CALL ? 2 : 1;
	return (told);
}

/*
 * The words of a whole record at `at`, copied; 0: there is none.  bad: there is
 * what says that it is one.  Looked at once, as the writer may be about to say
 * so.
 */
static uint32_t
next_words(struct ring_reader *rd, uint64_t head, bool *bad)
{
	uint32_t words = is_copied(rd, 0);
	uint64_t ahead = head - rd->at;

	*bad = false;
	if (words == 0 && backlog_take(rd))
		words = is_copied(rd, 0);
	if (words != 0)
		return (words);
	/* what has been copied may be older than what is there now */
	if (!committed(rd, rd->at))
		return (0);
	fill(rd, ahead < COPY_LEAST || ahead > rd->mask + 1 ? COPY_LEAST :
	    ahead);
	words = (uint32_t)rd->next[0] == (uint32_t)RECORD_ID(rd->at) ?
	    words_of(rd->next) : 0;
	if (words > rd->copied)
		fill(rd, words);
	words = is_copied(rd, 0);
	*bad = words == 0;
	return (words);
}

size_t
ring_reader_read(struct ring_reader *rd, const struct ring_ops *ops,
    uint64_t now, uint64_t head, bool last)
{
	uint64_t lap = rd->mask + 1, told = rd->at, end = ops->briefly ?
	    rd->at + lap : ring_tail(rd) + PASS_MOST * lap;
	struct ring_record out = { .kind = 0 };
	uint32_t words;
	bool bad;
	size_t n = 0;

	/* nothing is taken from a former call: it may have been written over */
	rd->copied = 0;
	rd->late = false;
	while (rd->at < end) {
		words = next_words(rd, head, &bad);
		if (words != 0) {
			words = read_one(rd, ops, now, words, &n, &out);
			if (words == 0)
				break;
			advance(rd, words);
		} else if (bad) {
			rd->torn++;
			if (!resync(rd))
				rd->at++;
		} else if (rd->at == head) {
			rd->since = 0;
			break;
		} else if (!wait_or_skip(rd, now, head, last)) {
			break;
		}
		if (rd->at - told <= rd->mask / TOLD)
			continue;
		told = rd->at;
		if (ops->tail != NULL)
			__atomic_store_n(ops->tail, ring_tail(rd),
			    __ATOMIC_RELEASE);
		if (ops->breathe != NULL)
			ops->breathe(ops->arg);
	}
	rd->more = rd->at >= end;
	return (n);
}
