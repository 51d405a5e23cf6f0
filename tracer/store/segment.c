/* SPDX-License-Identifier: ISC */
/* Segments: records of calls as they lie on disk. */
#include <string.h>

#include "segment.h"

#define SEG_MAGIC	UINT64_C(0x32676573636c6c64)	/* "dllcseg2" */
#define SLOTS		(2 * 4096)	/* power of two above SEG_SUMS */

_Static_assert(sizeof(struct seg_head) == SEG_HEAD, "header of a segment");
_Static_assert(sizeof(struct rec) == REC_HEAD, "head of a record");
_Static_assert(sizeof(struct seg_sum) == 8, "row of a summary");
_Static_assert(SEG_HEAD + SEG_DATA + SEG_SUMS * sizeof(struct seg_sum) +
    SEG_RECORDS * (sizeof(uint64_t) + sizeof(uint16_t)) <= SEG_SIZE,
    "a segment holds its index");
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
	m = mix(m, (uint64_t)h->nothers << 32 | h->nkeys);
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
	    out->nsums <= out->count && out->nothers <= out->nsums &&
	    out->nkeys <= out->count && out->first_seq >= 1 &&
	    out->first_seq <= SEQ_MAX && out->first_ts <= out->last_ts;
}

/*
 * The duration counts as well: nothing changes once it is written.  Sums of
 * products, as these do not wait for each other: it is made of every record.
 */
static inline uint16_t
rec_check(const struct rec *r)
{
	uint64_t m;

	m = r->ts * UINT64_C(0x9e3779b97f4a7c15);
	m += r->duration * UINT64_C(0xc2b2ae3d27d4eb4f);
	m += (r->parent ^ (uint64_t)r->class << 48) *
	    UINT64_C(0x165667b19e3779f9);
	m += ((uint64_t)r->fn << 32 | r->delta) *
	    UINT64_C(0xd6e8feb86659fd93);
	m += ((uint64_t)r->len << 16 | r->kind | (unsigned)r->flags << 8) *
	    UINT64_C(0xff51afd7ed558ccd);
	m ^= m >> 32;
	return (uint16_t)((m * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
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
	    (r->class > CLASS_MAX && !class_is_other(r->class))))
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

/* -- the index ---------------------------------------------------------- */
uint64_t
seg_key_of(const void *bytes, size_t len, uint64_t tag)
{
	const uint8_t *p = bytes;
	uint64_t m = mix(tag, len), word = 0;

	if (len <= sizeof(word)) {
		memcpy(&word, p, len);
		if (word != 0)
			return word;
	}
	for (; len > 0; p += sizeof(word), len -= sizeof(word)) {
		word = 0;
		memcpy(&word, p, len < sizeof(word) ? len : sizeof(word));
		m = mix(m, word ^ tag);
		if (len < sizeof(word))
			break;
	}
	m = mix(m, tag);
	return m == 0 ? 1 : m;
}

uint64_t
seg_key(const void *captures, size_t len, uint64_t tag)
{
	const uint8_t *p = captures, *last = NULL;
	size_t size = 0, n = 0, whole;
	uint16_t head[2];		/* status, bytes */
	uint64_t word = 0;

	/* nearly all are one register */
	for (; len >= sizeof(head); p += whole, len -= whole, n++) {
		memcpy(head, p, sizeof(head));
		whole = sizeof(head) + ((head[1] + 3U) & ~3U);
		if (head[0] != 0 || whole > len)
			return 0;
		last = p + sizeof(head);
		size = head[1];
	}
	if (len != 0 || last == NULL)
		return 0;
	if (n == 1 && size <= sizeof(word)) {
		memcpy(&word, last, size);
		return word;
	}
	return seg_key_of(last, size, tag);
}

/* Rows as they are found, and of records that have no number: */
struct pass {
	uint16_t slots[SLOTS];		/* row + 1; 0 = none */
	struct seg_sum *rows;
	uint32_t nrows, nkeys;
	uint64_t *keys;			/* NULL: these are not wanted */
	uint16_t *key_rows, *blocks;
};

/* The row of a function and class; SEG_SUMS: there is no room. */
static uint32_t
row_of(struct pass *p, uint32_t fn, uint16_t class)
{
	uint32_t i = (fn * 2654435761u ^ class * 40503u) >> 7;

	for (;; i++) {
		i &= SLOTS - 1;
		if (p->slots[i] == 0)
			break;
		if (p->rows[p->slots[i] - 1].fn == fn &&
		    p->rows[p->slots[i] - 1].class == class)
			return p->slots[i] - 1U;
	}
	if (p->nrows == SEG_SUMS)
		return SEG_SUMS;
	p->rows[p->nrows] = (struct seg_sum){ fn, class, 0 };
	p->slots[i] = (uint16_t)(p->nrows + 1);
	return p->nrows++;
}

static void
pass(struct pass *p, const uint8_t *data, size_t len, uint64_t tag)
{
	const uint8_t *captures, *at = data;
	uint32_t row;
	int32_t size;
	struct rec r;

	for (; (size = rec_read(at, len, &r, &captures)) > 0;
	    at += size, len -= (size_t)size) {
		if ((row = row_of(p, r.fn, r.class)) == SEG_SUMS)
			return;
		p->rows[row].count++;
		if (p->keys == NULL || !class_is_other(r.class))
			continue;
		p->keys[p->nkeys] = r.class == CLASS_ODD ? 0 :
		    seg_key(captures, r.len, tag);
		p->key_rows[p->nkeys] = (uint16_t)row;
		p->blocks[p->nkeys++] = (uint16_t)((at - data) / SEG_BLOCK);
	}
}

uint32_t
seg_summarize(const uint8_t *data, size_t len, struct seg_sum *out)
{
	static struct pass p;

	p = (struct pass){ .rows = out };
	pass(&p, data, len, 0);
	return p.nrows;
}

/* Rows with numbers to the front; starts[old row] = where its keys go. */
static void
order_rows(const struct pass *p, struct seg_index *out, uint32_t *starts)
{
	uint32_t i, front = 0, at = 0;

	for (i = 0; i < p->nrows; i++)
		if (!class_is_other(p->rows[i].class))
			out->rows[front++] = p->rows[i];
	out->nrows = p->nrows;
	out->nothers = p->nrows - front;
	for (i = 0; i < p->nrows; i++) {
		if (!class_is_other(p->rows[i].class))
			continue;
		out->rows[front++] = p->rows[i];
		starts[i] = at;
		at += p->rows[i].count;
	}
	out->nkeys = at;
}

void
seg_index(const uint8_t *data, size_t len, uint64_t tag,
    struct seg_index *out)
{
	static struct pass p;
	static struct seg_sum rows[SEG_SUMS];
	static uint64_t keys[SEG_RECORDS];
	static uint16_t key_rows[SEG_RECORDS], blocks[SEG_RECORDS];
	static uint32_t starts[SEG_SUMS];
	uint32_t i, at;

	p = (struct pass){ .rows = rows, .keys = keys, .key_rows = key_rows,
		.blocks = blocks };
	pass(&p, data, len, tag);
	order_rows(&p, out, starts);
	for (i = 0; i < p.nkeys; i++) {
		at = starts[key_rows[i]]++;
		out->keys[at] = keys[i];
		out->blocks[at] = blocks[i];
	}
}

bool
seg_sums_good(const struct seg_sum *sums, uint32_t n, uint32_t count)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (sums[i].class > CLASS_MAX && sums[i].class < CLASS_ODD)
			return false;
		total += sums[i].count;
	}
	return total == count;
}

bool
seg_others_good(const struct seg_sum *rows, uint32_t nothers,
    uint32_t nkeys)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < nothers; i++) {
		if (!class_is_other(rows[i].class))
			return false;
		total += rows[i].count;
	}
	return total == nkeys;
}
