/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "ringread.h"

#define WORDS_MOST	(RECORD_WORDS + 1 + CAPTURE_BYTES_MAX / 8)
#define STUCK_NS_TICKS	1000000000ULL	/* about half a second of any tsc */
#define PASS_MOST	8	/* laps in one call: a writer may be faster */
#define TOLD		16	/* times in a lap that the writer gets room */

struct ring_reader {
	const volatile uint64_t *ring;
	uint64_t mask;		/* words - 1 */
	uint64_t at;		/* words read */
	uint64_t since;		/* tsc since which `at` has not come */
	uint64_t torn;
	uint64_t buf[WORDS_MOST];
};

struct ring_reader *
ring_reader_new(const void *ring, size_t size, uint64_t base)
{
	struct ring_reader *rd;

	rd = calloc(1, sizeof(*rd));
	if (rd == NULL)
		return (NULL);
	rd->ring = ring;
	rd->mask = size / 8 - 1;
	rd->at = base;
	return (rd);
}

void
ring_reader_free(struct ring_reader *rd)
{
	free(rd);
}

uint64_t
ring_tail(const struct ring_reader *rd)
{
	return (rd->at);
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
	/* of these nothing varies but whether there was room */
	if (c->op == CAP_REG || c->op == CAP_VEC || c->op == CAP_STACK ||
	    c->op == CAP_MEM)
		return (h->len == c->len || (h->status == CAP_CUT &&
		    h->len == 0));
	return (true);
}

static bool
slice_valid(const struct capture *c, const struct captured *h,
    const uint8_t *bytes)
{
	uint64_t n, len;

	if ((c->op != CAP_SLICE && c->op != CAP_REGSLICE &&
	    c->op != CAP_STKSLICE) || h->len == 0)
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
		if (captured_size(h.len) > len - at ||
		    !step_valid(&prog[i], &h) ||
		    !slice_valid(&prog[i], &h, bytes + at + sizeof(h)))
			return (false);
		at += captured_size(h.len);
	}
	*used = at;
	return (true);
}

/* --- records -------------------------------------------------------------- */

static inline bool
committed(const struct ring_reader *rd, uint64_t at)
{
	return ((uint32_t)(rd->ring[(at + 2) & rd->mask] >> 32) ==
	    (uint32_t)RECORD_ID(at));
}

/* Out of the program's reach.  0: no record that could be one. */
static uint64_t
take(struct ring_reader *rd)
{
	uint64_t first, words, left, size = rd->mask + 1;
	size_t i;

	words = rd->ring[(rd->at + 1) & rd->mask] >> 48;
	if (words < RECORD_WORDS || words > WORDS_MOST || words > size)
		return (0);
	first = rd->at & rd->mask;
	left = size - first < words ? size - first : words;
	for (i = 0; i < left; i++)
		rd->buf[i] = rd->ring[first + i];
	for (; i < words; i++)
		rd->buf[i] = rd->ring[i - left];
	/* the copy is what counts: it must be the same record still */
	if ((uint32_t)(rd->buf[2] >> 32) != (uint32_t)RECORD_ID(rd->at) ||
	    rd->buf[1] >> 48 != words)
		return (0);
	return (words);
}

static bool
head_valid(const struct ring_reader *rd, const struct agent_record *h,
    uint64_t now)
{
	if (h->kind == 0 || h->kind >= AGENT_KINDS ||
	    (h->flags & ~RECORD_FLAGS) != 0 || h->tsc > now ||
	    h->depth > AGENT_FRAMES + AGENT_SPARE)
		return (false);
	/* both are about what was recorded before this one */
	if (h->link > rd->at)
		return (false);
	return (h->kind == AGENT_ENTER || (h->link != 0 &&
	    h->words > RECORD_WORDS));
}

static bool
deliver(struct ring_reader *rd, const struct ring_ops *ops, uint64_t now)
{
	const struct ring_programs *p;
	struct agent_record h;
	struct ring_record r;
	size_t used, skip = sizeof(h);

	memcpy(&h, rd->buf, sizeof(h));
	if (!head_valid(rd, &h, now) ||
	    (p = ops->lookup(h.fn, ops->arg)) == NULL)
		return (false);
	memset(&r, 0, sizeof(r));
	if (h.kind == AGENT_EXIT) {
		r.start = rd->buf[RECORD_WORDS];
		skip += sizeof(r.start);
		if (r.start > h.tsc)
			return (false);
	}
	r.tsc = h.tsc;
	r.id = h.kind == AGENT_EXIT ? h.link : RECORD_ID(rd->at);
	r.link = h.link;
	r.fn = h.fn;
	r.depth = h.depth;
	r.kind = h.kind;
	r.flags = h.flags;
	r.captures = (const uint8_t *)rd->buf + skip;
	/* an exit may have none: no room, or it never returned */
	used = 0;
	if ((h.kind == AGENT_ENTER || h.words * 8UL > skip) &&
	    !captures_valid(h.kind == AGENT_ENTER ? p->enter : p->leave,
	    r.captures, h.words * 8UL - skip, &used))
		return (false);
	r.captures_len = (uint32_t)used;
	ops->record(&r, ops->arg);
	return (true);
}

/*
 * At `at` there is nothing valid, or nothing yet.  Whether there is something
 * behind it, within a lap.
 */
static bool
resync(struct ring_reader *rd)
{
	uint64_t i;

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
wait_or_skip(struct ring_reader *rd, uint64_t now, bool last)
{
	if (rd->since == 0)
		rd->since = now;
	if (!last && now - rd->since < STUCK_NS_TICKS)
		return (false);
	/* look again in a while, not at each call */
	rd->since = now;
	if (!resync(rd))
		return (false);
	rd->torn++;
	return (true);
}

size_t
ring_reader_read(struct ring_reader *rd, const struct ring_ops *ops, uint64_t now,
    uint64_t head, bool last)
{
	uint64_t end = rd->at + PASS_MOST * (rd->mask + 1), words;
	uint64_t told = rd->at;
	size_t n = 0;

	while (rd->at < end) {
		if (!committed(rd, rd->at)) {
			if (rd->at == head) {
				rd->since = 0;
				break;
			}
			if (!wait_or_skip(rd, now, last))
				break;
			continue;
		}
		words = take(rd);
		if (words != 0 && deliver(rd, ops, now))
			n++;
		else
			rd->torn++;
		if (words == 0) {
			if (!resync(rd))
				rd->at++;
			continue;
		}
		rd->at += words;
		rd->since = 0;
		if (ops->tail != NULL && rd->at - told > rd->mask / TOLD) {
			__atomic_store_n(ops->tail, rd->at, __ATOMIC_RELEASE);
			told = rd->at;
		}
	}
	return (n);
}
