/* SPDX-License-Identifier: ISC */
/* Segments: records of calls as they lie on disk. */
#include <string.h>

#include "segment.h"

#define SEG_MAGIC	UINT64_C(0x31676573636c6c64)	/* "dllcseg1" */
#define SLOTS		(2 * 4096)	/* power of two above SEG_SUMS */

_Static_assert(sizeof(struct seg_head) == SEG_HEAD, "header of a segment");
_Static_assert(sizeof(struct rec) == REC_HEAD, "head of a record");
_Static_assert(sizeof(struct seg_sum) == 8, "row of a summary");
_Static_assert(SEG_HEAD + SEG_DATA + SEG_SUMS * sizeof(struct seg_sum) <=
    SEG_SIZE, "a segment holds its summary");
_Static_assert(SEG_RECORDS <= UINT16_MAX && SEG_SUMS < SLOTS / 2,
    "counts of a segment");

static uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 29;
}

/* Tells a header from what a dead writer or somebody else left. */
static uint32_t
head_check(const struct seg_head *h)
{
	uint64_t m = mix(h->magic, h->tag), name[2];

	memcpy(name, h->name, sizeof(name));
	m = mix(m, (uint64_t)h->ord << 32 | h->tid);
	m = mix(mix(m, name[0]), name[1]);
	m = mix(mix(m, h->first_seq), h->first_ts);
	m = mix(mix(m, h->last_ts), (uint64_t)h->count << 32 | h->bytes);
	return (uint32_t)(mix(m, h->nsums) >> 32);
}

void
seg_head_seal(struct seg_head *h)
{
	h->magic = SEG_MAGIC;
	memset(h->zero, 0, sizeof(h->zero));
	h->check = head_check(h);
}

bool
seg_head_read(const void *p, uint64_t tag, struct seg_head *out)
{
	memcpy(out, p, sizeof(*out));
	return out->magic == SEG_MAGIC && out->tag == tag &&
	    out->check == head_check(out) && out->ord >= 1 &&
	    out->ord <= ORD_MAX && out->bytes <= SEG_DATA &&
	    out->bytes % SEG_BLOCK == 0 &&
	    out->count <= out->bytes / SEG_BLOCK &&
	    out->nsums <= out->count && out->first_seq >= 1 &&
	    out->first_seq <= SEQ_MAX && out->first_ts <= out->last_ts;
}

/* The duration counts as well: nothing changes once it is written. */
static uint16_t
rec_check(const struct rec *r)
{
	uint64_t m = mix(r->ts, r->duration);

	m = mix(m, r->parent ^ (uint64_t)r->class << 48);
	m = mix(m, (uint64_t)r->fn << 32 | r->delta);
	m = mix(m, (uint64_t)r->len << 16 | r->kind | (unsigned)r->flags << 8);
	return (uint16_t)(m >> 48);
}

uint32_t
rec_write(uint8_t *to, const struct rec *r, const void *captures)
{
	uint32_t size = rec_size(r->len);
	struct rec whole = *r;

	whole.check = rec_check(r);
	/* no old bytes of ours in what is written */
	memset(to + size - SEG_BLOCK, 0, SEG_BLOCK);
	memcpy(to, &whole, sizeof(whole));
	if (r->len > 0)
		memcpy(to + REC_HEAD, captures, r->len);
	return size;
}

int32_t
rec_read(const uint8_t *at, size_t left, struct rec *r,
    const uint8_t **captures)
{
	uint32_t size;

	if (left < SEG_BLOCK)
		return 0;
	memcpy(r, at, sizeof(*r));
	if (r->check != rec_check(r) || r->len > SEG_CAPTURES ||
	    (r->kind == REC_ENTER ? r->class != CLASS_ENTER :
	    r->kind != REC_EXIT ||
	    (r->class > CLASS_MAX && r->class != CLASS_OTHER)))
		return -1;
	size = rec_size(r->len);
	if (size > left)
		return 0;
	*captures = at + REC_HEAD;
	return (int32_t)size;
}

uint32_t
seg_good(const struct seg_head *h, const uint8_t *data, size_t len,
    uint32_t *count, struct rec *last)
{
	const uint8_t *captures;
	uint32_t at = 0, n = 0;
	struct rec r, before = { .ts = h->first_ts };
	int32_t size;

	while (n < h->count && (size = rec_read(data + at, len - at, &r,
	    &captures)) > 0) {
		if (r.ts < before.ts || r.ts > h->last_ts ||
		    (n > 0 && r.delta <= before.delta) ||
		    h->first_seq + r.delta > SEQ_MAX)
			break;
		before = r;
		at += (uint32_t)size;
		n++;
	}
	*count = n;
	*last = before;
	return at;
}

uint32_t
seg_summarize(const uint8_t *data, size_t len, struct seg_sum *out)
{
	static uint16_t slots[SLOTS];	/* row + 1; 0 = none */
	const uint8_t *captures;
	uint32_t n = 0, i;
	int32_t size;
	struct rec r;

	memset(slots, 0, sizeof(slots));
	for (; (size = rec_read(data, len, &r, &captures)) > 0;
	    data += size, len -= (size_t)size) {
		i = (r.fn * 2654435761u ^ r.class * 40503u) >> 7;
		for (;; i++) {
			i &= SLOTS - 1;
			if (slots[i] == 0) {
				if (n == SEG_SUMS)
					return n;
				out[n] = (struct seg_sum){ r.fn, r.class, 1 };
				slots[i] = (uint16_t)++n;
				break;
			}
			if (out[slots[i] - 1].fn == r.fn &&
			    out[slots[i] - 1].class == r.class) {
				out[slots[i] - 1].count++;
				break;
			}
		}
	}
	return n;
}

bool
seg_sums_good(const struct seg_sum *sums, uint32_t n, uint32_t count)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (sums[i].class > CLASS_MAX && sums[i].class < CLASS_ENTER)
			return false;
		total += sums[i].count;
	}
	return total == count;
}
