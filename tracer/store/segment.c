/* SPDX-License-Identifier: ISC */
/* Segments: records of calls as they lie on disk. */
#include <string.h>

#include "segment.h"

#define SEG_MAGIC	UINT64_C(0x33676573636c6c64)	/* "dllcseg3" */

_Static_assert(sizeof(struct seg_head) == SEG_HEAD, "header of a segment");
_Static_assert(sizeof(struct rec_head) == REC_HEAD, "head of a record");
_Static_assert(sizeof(struct seg_sum) == 8, "row of a summary");
_Static_assert(SEG_HEAD + SEG_DATA + SEG_SUMS * sizeof(struct seg_sum) +
    SEG_RECORDS * (sizeof(uint64_t) + sizeof(uint16_t)) <= SEG_SIZE,
    "a segment holds its index");
_Static_assert(SEG_SUMS < UINT16_MAX && SEG_DATA / SEG_UNIT <= UINT16_MAX &&
    (SEG_SLOTS & (SEG_SLOTS - 1)) == 0, "counts of a segment");

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
	    out->bytes % SEG_UNIT == 0 && out->count <= SEG_SUMS &&
	    out->count <= 2 * (out->bytes / REC_HEAD) &&
	    out->nsums <= out->count && out->nothers <= out->nsums &&
	    out->nkeys <= out->count && out->nkeys <= SEG_RECORDS &&
	    out->first_seq >= 1 &&
	    out->first_seq <= SEQ_MAX && out->first_ts <= out->last_ts;
}

/* -- records ------------------------------------------------------------ */
#define FN_BITS		20
#define KIND_AT		20
#define FLAGS_AT	22
#define CLASS_AT	25
#define LEN_AT		31
#define EXIT_LEN_AT	45
#define LEN_BITS	14

_Static_assert(SEG_CAPTURES < 1 << LEN_BITS && EXIT_LEN_AT + LEN_BITS <= 64,
    "what a head holds");

/* Classes in six bits. */
#define SMALL_OTHER	(CLASS_MAX + 1)
#define SMALL_ODD	(CLASS_MAX + 2)
#define SMALL_ENTER	(CLASS_MAX + 3)

static inline uint64_t
class_small(uint16_t class)
{
	return class <= CLASS_MAX ? class : class == CLASS_ENTER ?
	    SMALL_ENTER : class == CLASS_ODD ? SMALL_ODD : SMALL_OTHER;
}

static inline uint16_t
class_whole(uint64_t small)
{
	return small <= CLASS_MAX ? (uint16_t)small : small == SMALL_ENTER ?
	    CLASS_ENTER : small == SMALL_ODD ? CLASS_ODD : CLASS_OTHER;
}

/* The parts of a record, told by its head. */
struct shape {
	uint64_t far;			/* the distance, 0 = in the head */
	uint64_t duration;
	uint32_t captures, len;		/* where they are, how many bytes */
	uint32_t exit, exit_len;	/* the same of REC_CALL's exit */
	uint32_t size;
	uint8_t	 kind;
};

static inline void
shape_of(const struct rec_head *h, struct shape *s)
{
	s->kind = h->what >> KIND_AT & 3;
	s->len = h->what >> LEN_AT & ((1U << LEN_BITS) - 1);
	s->exit_len = h->what >> EXIT_LEN_AT & ((1U << LEN_BITS) - 1);
	s->captures = REC_HEAD + (h->back == REC_FAR ? 8U : 0) +
	    (s->kind == REC_EXIT ? 8U : 0);
	s->exit = (s->captures + s->len + 3U) & ~3U;
	if (s->kind == REC_CALL)
		s->exit += (uint32_t)sizeof(uint32_t);
	s->size = rec_round(s->kind == REC_CALL ? s->exit + s->exit_len :
	    s->captures + s->len);
}

/* What lies outside of the head and is no capture; it is all there. */
static inline void
shape_fill(const uint8_t *at, const struct rec_head *h, struct shape *s)
{
	uint32_t brief;

	s->far = s->duration = 0;
	if (h->back == REC_FAR)
		memcpy(&s->far, at + REC_HEAD, sizeof(s->far));
	if (s->kind == REC_EXIT) {
		memcpy(&s->duration, at + s->captures - 8, 8);
	} else if (s->kind == REC_CALL) {
		memcpy(&brief, at + s->exit - 4, sizeof(brief));
		s->duration = brief;
	}
}

/*
 * Nothing but captures changes unnoticed.  Sums of products, as these do not
 * wait for each other: it is made of every record.
 */
static inline uint32_t
rec_check(const struct rec_head *h, uint64_t far, uint64_t duration)
{
	uint64_t m;

	m = h->when * UINT64_C(0x9e3779b97f4a7c15);
	m += (h->what ^ far) * UINT64_C(0xc2b2ae3d27d4eb4f);
	m += (duration ^ (uint64_t)h->back << 32) *
	    UINT64_C(0x165667b19e3779f9);
	m ^= m >> 32;
	return (uint32_t)((m * UINT64_C(0x9e3779b97f4a7c15)) >> 32) ^
	    0x5ec0de;
}

uint32_t
rec_write(uint8_t *to, const struct seg_first *first, const struct rec *r)
{
	uint32_t size = rec_size(r);
	bool is_exit = r->kind == REC_EXIT;
	uint64_t far = r->back >= REC_FAR ? r->back : 0;
	struct rec_head h = { .when = (r->ts - first->ts) |
		(r->seq - first->seq) << 48,
		.back = far != 0 ? REC_FAR : (uint32_t)r->back };

	h.what = r->fn | (uint64_t)r->kind << KIND_AT |
	    (uint64_t)r->flags << FLAGS_AT |
	    class_small(r->class) << CLASS_AT | (uint64_t)r->len << LEN_AT;
	h.check = rec_check(&h, far, is_exit ? r->duration : 0);
	/* no old bytes of ours in what is written */
	memset(to + size - SEG_UNIT, 0, SEG_UNIT);
	memcpy(to, &h, sizeof(h));
	to += sizeof(h);
	if (far != 0) {
		memcpy(to, &far, sizeof(far));
		to += sizeof(far);
	}
	if (is_exit) {
		memcpy(to, &r->duration, sizeof(r->duration));
		to += sizeof(r->duration);
	}
	if (r->len > 0)
		memcpy(to, r->captures, r->len);
	return size;
}

uint32_t
rec_join(uint8_t *at, size_t room, const struct seg_first *first,
    const struct rec *r)
{
	struct rec_head h;
	struct shape s;
	uint32_t brief = (uint32_t)r->duration;

	memcpy(&h, at, sizeof(h));
	shape_of(&h, &s);
	/* what is said of a REC_CALL's exit is said by its entry */
	if (s.kind != REC_ENTER || r->flags != 0 || r->back != 1 ||
	    r->duration != brief || (h.what & ((1U << FN_BITS) - 1)) != r->fn ||
	    first->ts + (h.when & REC_WHEN_MAX) + brief != r->ts ||
	    first->seq + (h.when >> 48) + 1 != r->seq)
		return 0;
	h.what &= ~((uint64_t)63 << CLASS_AT | (uint64_t)3 << KIND_AT);
	h.what |= (uint64_t)REC_CALL << KIND_AT |
	    class_small(r->class) << CLASS_AT |
	    (uint64_t)r->len << EXIT_LEN_AT;
	shape_of(&h, &s);
	if (s.size > room)
		return 0;
	memcpy(at + s.exit - sizeof(brief), &brief, sizeof(brief));
	if (r->len > 0)
		memcpy(at + s.exit, r->captures, r->len);
	memset(at + s.exit + r->len, 0, s.size - s.exit - r->len);
	shape_fill(at, &h, &s);
	h.check = rec_check(&h, s.far, s.duration);
	memcpy(at, &h, sizeof(h));
	return s.size;
}

uint32_t
rec_write_call(uint8_t *to, const struct seg_first *first,
    const struct rec *enter, const struct rec *leave)
{
	uint32_t size = rec_call_size(enter, leave->len), brief, pad;
	uint64_t far = enter->back >= REC_FAR ? enter->back : 0;
	struct rec_head h;

	h.when = (enter->ts - first->ts) | (enter->seq - first->seq) << 48;
	h.back = far != 0 ? REC_FAR : (uint32_t)enter->back;
	h.what = enter->fn | (uint64_t)REC_CALL << KIND_AT |
	    (uint64_t)enter->flags << FLAGS_AT |
	    class_small(leave->class) << CLASS_AT |
	    (uint64_t)enter->len << LEN_AT |
	    (uint64_t)leave->len << EXIT_LEN_AT;
	h.check = rec_check(&h, far, leave->duration);
	brief = (uint32_t)leave->duration;
	/* no old bytes of ours in what is written */
	memset(to + size - SEG_UNIT, 0, SEG_UNIT);
	memcpy(to, &h, sizeof(h));
	to += sizeof(h);
	if (far != 0) {
		memcpy(to, &far, sizeof(far));
		to += sizeof(far);
	}
	memcpy(to, enter->captures, enter->len);
	to += enter->len;
	pad = -(uint32_t)enter->len & 3;
	memset(to, 0, pad);
	to += pad;
	memcpy(to, &brief, sizeof(brief));
	memcpy(to + sizeof(brief), leave->captures, leave->len);
	return size;
}

bool
rec_seal(uint8_t *at, size_t left)
{
	struct rec_head h;
	struct shape s;

	if (left < sizeof(h))
		return false;
	memcpy(&h, at, sizeof(h));
	shape_of(&h, &s);
	if (s.size > left)
		return false;
	shape_fill(at, &h, &s);
	h.check = rec_check(&h, s.far, s.duration);
	memcpy(at, &h, sizeof(h));
	return true;
}

/* A kind that there is, with a class that it can have. */
static inline bool
is_sound(const struct rec_head *h, const struct shape *s)
{
	uint64_t small = h->what >> CLASS_AT & 63;

	return s->kind != 0 && s->len <= SEG_CAPTURES &&
	    s->exit_len <= SEG_CAPTURES &&
	    (s->kind == REC_CALL || s->exit_len == 0) &&
	    (s->kind == REC_ENTER ? small == SMALL_ENTER :
	    small < SMALL_ENTER) && h->what >> (EXIT_LEN_AT + LEN_BITS) == 0;
}

int32_t
rec_read(const uint8_t *at, size_t left, const struct seg_first *first,
    struct rec r[2])
{
	struct rec_head h;
	struct shape s;

	if (left < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	shape_of(&h, &s);
	if (!is_sound(&h, &s))
		return -1;
	if (s.size > left)
		return 0;
	shape_fill(at, &h, &s);
	if (h.check != rec_check(&h, s.far, s.duration))
		return -1;
	r[0].ts = first->ts + (h.when & REC_WHEN_MAX);
	r[0].duration = s.kind == REC_EXIT ? s.duration : 0;
	r[0].seq = first->seq + (h.when >> 48);
	r[0].back = h.back == REC_FAR ? s.far : h.back;
	r[0].captures = at + s.captures;
	r[0].fn = h.what & ((1U << FN_BITS) - 1);
	r[0].len = (uint16_t)s.len;
	r[0].class = s.kind == REC_CALL ? CLASS_ENTER :
	    class_whole(h.what >> CLASS_AT & 63);
	r[0].kind = s.kind == REC_CALL ? REC_ENTER : s.kind;
	r[0].flags = h.what >> FLAGS_AT & 7;
	r[1].kind = 0;
	if (s.kind == REC_CALL)
		r[1] = (struct rec){ .ts = r[0].ts + s.duration,
			.duration = s.duration, .seq = r[0].seq + 1, .back = 1,
			.captures = at + s.exit, .fn = r[0].fn,
			.len = (uint16_t)s.exit_len, .kind = REC_EXIT,
			.class = class_whole(h.what >> CLASS_AT & 63) };
	return (int32_t)s.size;
}

/* Whether an event can come behind another one. */
static bool
follows(const struct seg_head *h, const struct rec *before,
    const struct rec *r, bool first)
{
	return r->ts >= before->ts && r->ts <= h->last_ts &&
	    (first || r->seq > before->seq) && r->seq <= SEQ_MAX;
}

uint32_t
seg_good(const struct seg_head *h, const uint8_t *data, size_t len,
    uint32_t *count, struct rec *last)
{
	const struct seg_first first = { h->first_ts, h->first_seq };
	struct rec r[2], before = { .ts = h->first_ts };
	uint32_t at = 0, n = 0, events;
	int32_t size;

	while (n < h->count && (size = rec_read(data + at, len - at, &first,
	    r)) > 0) {
		events = r[1].kind != 0 ? 2 : 1;
		if (n + events > h->count ||
		    !follows(h, &before, &r[0], n == 0) ||
		    (events == 2 && !follows(h, &r[0], &r[1], false)))
			break;
		before = r[events - 1];
		at += (uint32_t)size;
		n += events;
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

void
seg_building_begin(struct seg_building *b)
{
	memset(b->slots, 0, sizeof(b->slots));
	b->nrows = b->nkeys = 0;
}

/* The row of a function and class; SEG_SUMS: there is no room. */
static uint32_t
row_of(struct seg_building *b, uint32_t fn, uint16_t class)
{
	uint32_t i = (fn * 2654435761u ^ class * 40503u) >> 7, row;

	for (;; i++) {
		i &= SEG_SLOTS - 1;
		if ((row = b->slots[i]) == 0)
			break;
		if (b->rows[row - 1].fn == fn && b->rows[row - 1].class == class)
			return row - 1;
	}
	if (b->nrows == SEG_SUMS)
		return SEG_SUMS;
	b->rows[b->nrows] = (struct seg_sum){ fn, class, 0 };
	b->slots[i] = (uint16_t)(b->nrows + 1);
	return b->nrows++;
}

void
seg_building_add(struct seg_building *b, uint32_t fn, uint16_t class,
    uint64_t key, size_t at)
{
	uint32_t row = row_of(b, fn, class);

	if (row == SEG_SUMS)
		return;
	b->rows[row].count++;
	if (!class_is_other(class) || b->nkeys == SEG_RECORDS)
		return;
	b->keys[b->nkeys] = key;
	b->key_rows[b->nkeys] = (uint16_t)row;
	b->units[b->nkeys++] = (uint16_t)(at / SEG_UNIT);
}

/* Rows with numbers to the front; starts[old row] = where its keys go. */
static void
order_rows(const struct seg_building *b, struct seg_index *out,
    uint32_t *starts)
{
	uint32_t i, front = 0, at = 0;

	for (i = 0; i < b->nrows; i++)
		if (!class_is_other(b->rows[i].class))
			out->rows[front++] = b->rows[i];
	out->nrows = b->nrows;
	out->nothers = b->nrows - front;
	for (i = 0; i < b->nrows; i++) {
		if (!class_is_other(b->rows[i].class))
			continue;
		out->rows[front++] = b->rows[i];
		starts[i] = at;
		at += b->rows[i].count;
	}
	out->nkeys = at;
}

void
seg_building_index(const struct seg_building *b, struct seg_index *out)
{
	static uint32_t starts[SEG_SUMS];
	uint32_t i, at;

	order_rows(b, out, starts);
	for (i = 0; i < b->nkeys; i++) {
		at = starts[b->key_rows[i]]++;
		out->keys[at] = b->keys[i];
		out->units[at] = b->units[i];
	}
}

/* What a record that has been written says; its size, 0: there is none. */
static uint32_t
add_record(struct seg_building *b, const uint8_t *data, size_t len, size_t at,
    uint64_t tag)
{
	struct rec_head h;
	struct shape s;
	uint16_t class;
	uint32_t fn, end;

	if (len - at < sizeof(h))
		return 0;
	memcpy(&h, data + at, sizeof(h));
	shape_of(&h, &s);
	if (!is_sound(&h, &s) || s.size > len - at)
		return 0;
	shape_fill(data + at, &h, &s);
	if (h.check != rec_check(&h, s.far, s.duration))
		return 0;
	fn = h.what & ((1U << FN_BITS) - 1);
	if (s.kind != REC_EXIT)
		seg_building_add(b, fn, CLASS_ENTER, 0, at);
	if (s.kind == REC_ENTER)
		return s.size;
	class = class_whole(h.what >> CLASS_AT & 63);
	end = s.kind == REC_CALL ? s.exit : s.captures;
	seg_building_add(b, fn, class, class != CLASS_OTHER ? 0 :
	    seg_key(data + at + end, s.kind == REC_CALL ? s.exit_len : s.len,
	    tag), at);
	return s.size;
}

void
seg_index(const uint8_t *data, size_t len, uint64_t tag,
    struct seg_index *out)
{
	static struct seg_building b;
	uint32_t n, size;
	size_t at = 0;

	seg_building_begin(&b);
	for (n = 0; n < SEG_RECORDS; n++, at += size)
		if ((size = add_record(&b, data, len, at, tag)) == 0)
			break;
	seg_building_index(&b, out);
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
