/* SPDX-License-Identifier: ISC */
/* Writes of the program that were seen, until their bytes have come. */
#include <sys/queue.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "writes.h"

#define SEEN_MOST 16384 /* of one fd; the oldest are given up */
#define LOOK_MOST                                                              \
	256                 /* that are tried on a place, or behind which a    \
			     * late one is put */
#define SURE 8              /* bytes by which a write is known anywhere */
#define NEAR_NS 10000000ULL /* parts of a line that are put together */

struct seen {
	TAILQ_ENTRY(seen) entry;
	uint64_t left; /* bytes that have not come */
	bool begun;
	struct write_seen w;
};

TAILQ_HEAD(seens, seen);

/* Writes to one fd, in the order of their times. */
struct queue {
	struct seens all;
	uint32_t n;
	bool vain; /* the last one was not found: its bytes seem
		    * to go elsewhere */
};

static struct queue queues[2] = {{.all = TAILQ_HEAD_INITIALIZER(queues[0].all)},
    {.all = TAILQ_HEAD_INITIALIZER(queues[1].all)}};
/* By stream: the one that the last bytes were of, and how those ended. */
static struct {
	struct seen *now;
	bool crlf; /* a terminal makes CR LF of LF */
} streams[3];

static struct queue *
queue_of(const struct seen *s)
{
	return &queues[s->w.fd - 1];
}

static void
drop(struct seen *s)
{
	struct queue *q = queue_of(s);
	size_t i;

	TAILQ_REMOVE(&q->all, s, entry);
	q->n--;
	for (i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (streams[i].now == s)
			streams[i].now = NULL;
	free(s);
}

void
writes_forget(void)
{
	struct seen *s;
	size_t i;

	for (i = 0; i < 2; i++) {
		while ((s = TAILQ_FIRST(&queues[i].all)) != NULL)
			drop(s);
		queues[i].vain = false;
	}
	memset(streams, 0, sizeof(streams));
}

void
writes_seen(const struct write_seen *w)
{
	struct queue *q = &queues[w->fd == 2];
	struct seen *s, *before;
	uint32_t i = 0;

	if (w->len == 0 || w->fd < 1 || w->fd > 2 ||
	    (s = calloc(1, sizeof(*s))) == NULL)
		return;
	if (q->n == SEEN_MOST)
		drop(TAILQ_FIRST(&q->all));
	s->w = *w;
	s->left = w->len;
	/* threads are read one after the other */
	TAILQ_FOREACH_REVERSE(before, &q->all, seens, entry)
	if (before->w.ts <= w->ts || i++ == LOOK_MOST)
		break;
	if (before == NULL)
		TAILQ_INSERT_HEAD(&q->all, s, entry);
	else
		TAILQ_INSERT_AFTER(&q->all, before, s, entry);
	q->n++;
}

/* -- matching ------------------------------------------------------------- */

/*
 * Whether a write begins with these bytes, or with as many as there are.
 * *crlf: whether they have gone through a terminal; left as it is if that
 * cannot be told.
 */
static bool
begins(const struct write_seen *w, const char *p, size_t n, bool *crlf)
{
	bool seen = *crlf;
	size_t i, k = 0;

	for (i = 0; i < w->nhead && k < n; i++, k++) {
		if (w->head[i] == '\n') {
			seen = p[k] == '\r';
			if (seen && ++k == n)
				break;
		}
		if ((uint8_t)p[k] != w->head[i])
			return false;
	}
	*crlf = seen;
	return true;
}

/* How many of n bytes a write still has; takes them off. */
static size_t
cover(struct seen *s, const char *p, size_t n, bool crlf)
{
	size_t i;

	if (!crlf) {
		n = s->left < n ? (size_t)s->left : n;
		s->left -= n;
		return n;
	}
	for (i = 0; i < n && s->left > 0; i++)
		if (p[i] != '\r' || (i + 1 < n && p[i + 1] != '\n'))
			s->left--;
	return i;
}

/* The first of a queue that begins so.  sure: one that says how. */
static struct seen *
find(const struct queue *q, const char *p, size_t n, bool *crlf, bool sure)
{
	struct seen *s;
	uint32_t i = 0;

	TAILQ_FOREACH(s, &q->all, entry)
	{
		if (i++ == LOOK_MOST)
			break;
		if (s->begun || (s->w.nhead == 0 && sure))
			continue;
		if (begins(&s->w, p, n, crlf))
			return s;
	}
	return NULL;
}

/* Searches the stream's own fd, then the other, which may be the same file. */
static struct seen *
find_any(uint32_t stream, const char *p, size_t n, bool *crlf)
{
	bool crlf2 = *crlf;
	struct seen *s, *other;

	if (stream != 0) {
		s = find(&queues[stream - 1], p, n, crlf, false);
		return s != NULL ? s
				 : find(&queues[2 - stream], p, n, crlf, true);
	}
	s = find(&queues[0], p, n, crlf, false);
	other = find(&queues[1], p, n, &crlf2, false);
	if (other == NULL || (s != NULL && s->w.ts <= other->w.ts))
		return s;
	*crlf = crlf2;
	return other;
}

/*
 * Writes of the same thread that came before one that has been found have
 * failed, or have gone elsewhere.
 */
static void
drop_passed(const struct seen *found)
{
	struct queue *q = queue_of(found);
	struct seen *s, *next;
	uint32_t i = 0;

	for (s = TAILQ_FIRST(&q->all);
	     s != NULL && s != found && i++ < LOOK_MOST; s = next) {
		next = TAILQ_NEXT(s, entry);
		if (s->w.tid == found->w.tid)
			drop(s);
	}
}

/*
 * Where in the bytes, behind their first, a write begins that cannot be
 * mistaken; n = nowhere.
 */
static size_t
next_known(uint32_t stream, const char *p, size_t n, uint64_t *ts)
{
	const struct seen *s;
	const char *at;
	size_t q, len, best = n;
	uint32_t i;

	for (q = 0; q < 2; q++) {
		if (stream != 0 && stream != q + 1)
			continue;
		i = 0;
		TAILQ_FOREACH(s, &queues[q].all, entry)
		{
			if (i++ == LOOK_MOST / 16)
				break;
			/* up to where a terminal would have changed it */
			at = memchr(s->w.head, '\n', s->w.nhead);
			len = at == NULL
				  ? s->w.nhead
				  : (size_t)(at - (const char *)s->w.head);
			if (s->begun || len < SURE ||
			    (at = memmem(p + 1, best - 1, s->w.head, len)) ==
				NULL)
				continue;
			best = (size_t)(at - p);
			*ts = s->w.ts;
		}
	}
	return best;
}

/* -- taking --------------------------------------------------------------- */

/* The bytes at p are this one's; ended ones are gone then. */
static void
take_one(uint32_t stream, struct seen *s, struct write_piece *piece,
    const char *p, size_t n)
{
	uint64_t ts;

	if (!s->begun)
		drop_passed(s);
	s->begun = true;
	queue_of(s)->vain = false;
	streams[stream].now = s;
	if (s->w.len == UINT64_MAX) {
		/* as far as it can be its */
		piece->len += next_known(stream, p, n, &ts);
		drop(s);
		return;
	}
	piece->len += cover(s, p, n, streams[stream].crlf);
	if (s->left == 0)
		drop(s);
}

/* The one that the last bytes were of, unless another one begins here. */
static struct seen *
current(uint32_t stream, const char *p, size_t n)
{
	struct seen *s = streams[stream].now, *other;
	bool crlf = streams[stream].crlf;

	if (s == NULL)
		return NULL;
	/* it may have been written in part */
	other = find(queue_of(s), p, n, &crlf, true);
	if (other == NULL || other->w.nhead < SURE || n < SURE)
		return s;
	drop(s);
	return NULL;
}

static bool
goes_with(const struct write_piece *piece, const struct seen *s, char last,
    bool merge)
{
	return s->w.tid == piece->tid && s->w.parent == piece->parent &&
	       (merge || (last != '\n' && s->w.ts - piece->ts < NEAR_NS));
}

struct write_piece
writes_take(uint32_t stream, const char *p, size_t n, uint64_t now, bool merge)
{
	struct write_piece piece = {.len = 0};
	bool *crlf = &streams[stream].crlf;
	struct seen *s;

	(void)writes_awaited(now);
	if ((s = current(stream, p, n)) == NULL &&
	    (s = find_any(stream, p, n, crlf)) == NULL) {
		piece.len = next_known(stream, p, n, &piece.ts);
		return piece;
	}
	piece.ts = s->w.ts;
	piece.tid = s->w.tid;
	piece.parent = s->w.parent;
	memcpy(piece.name, s->w.name, sizeof(piece.name));
	take_one(stream, s, &piece, p, n);
	while (piece.len > 0 && piece.len < n && streams[stream].now == NULL) {
		s = find_any(stream, p + piece.len, n - piece.len, crlf);
		if (s == NULL || !goes_with(&piece, s, p[piece.len - 1], merge))
			break;
		take_one(stream, s, &piece, p + piece.len, n - piece.len);
	}
	return piece;
}

uint64_t
writes_awaited(uint64_t now)
{
	uint64_t first = UINT64_MAX;
	struct queue *q;
	struct seen *s;
	size_t i;

	for (i = 0; i < 2; i++) {
		q = &queues[i];
		while ((s = TAILQ_FIRST(&q->all)) != NULL && s->w.ts < now &&
		       now - s->w.ts > WRITES_WAIT_NS) {
			q->vain = !s->begun;
			drop(s);
		}
		if (s != NULL && !q->vain && s->w.ts < first)
			first = s->w.ts;
	}
	return first;
}
