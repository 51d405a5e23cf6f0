/* SPDX-License-Identifier: ISC */
/* Segments: records of calls as they lie on disk. */
#include <stddef.h>
#include <string.h>

#include "segment.h"

#define SEG_MAGIC	UINT64_C(0x34676573636c6c64)	/* "dllcseg4" */

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
	    out->count <= 2 * (out->bytes / REC_BRIEF) &&
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
#define EXIT_LEN_AT	46
#define LEN_BITS	15
#define BRIEF_AT	63

_Static_assert(SEG_CAPTURES < 1 << LEN_BITS && PACK_BITS == LEN_BITS &&
    EXIT_LEN_AT + LEN_BITS <= BRIEF_AT, "fields of a head");
_Static_assert(offsetof(struct rec_brief, check) + sizeof(uint32_t) ==
    REC_BRIEF && offsetof(struct rec_brief, what) ==
    offsetof(struct rec_head, what), "both heads begin alike");

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

/* Fields of both heads, and those outside of a head that are no captures. */
struct said {
	uint64_t what, when;
	uint64_t far;			/* the distance, 0 = in the head */
	uint64_t duration;
	uint32_t back, check;
};

/* The parts of a record, told by its head. */
struct shape {
	uint32_t head;			/* bytes of it */
	uint32_t captures, len;		/* where they are, how many bytes */
	uint32_t exit, exit_len;	/* the same of REC_CALL's exit */
	uint32_t codes, exit_codes;	/* how these are packed, 0 = not */
	uint32_t size;
	uint8_t	 kind;
};

/* False: there are not as many bytes. */
static inline bool
head_get(const uint8_t *at, size_t left, struct said *h, struct shape *s)
{
	struct rec_brief b;
	struct rec_head w;

	if (left < REC_BRIEF)
		return false;
	memcpy(&b, at, REC_BRIEF);
	h->far = h->duration = 0;
	h->what = b.what;
	if (b.what >> BRIEF_AT != 0) {
		s->head = REC_BRIEF;
		h->when = b.when | (uint64_t)b.after << 48;
		h->back = b.back;
		h->check = b.check;
		return true;
	}
	if (left < REC_HEAD)
		return false;
	memcpy(&w, at, REC_HEAD);
	s->head = REC_HEAD;
	h->when = w.when;
	h->back = w.back;
	h->check = w.check;
	return true;
}

static inline void
head_put(uint8_t *at, const struct said *h)
{
	struct rec_brief b;
	struct rec_head w;

	if (h->what >> BRIEF_AT != 0) {
		b = (struct rec_brief){ .what = h->what,
			.when = (uint32_t)h->when,
			.after = (uint16_t)(h->when >> 48),
			.back = (uint16_t)h->back, .check = h->check };
		memcpy(at, &b, REC_BRIEF);
	} else {
		w = (struct rec_head){ h->what, h->when, h->back, h->check };
		memcpy(at, &w, REC_HEAD);
	}
}

/* Bytes of a duration that stands alone. */
static inline uint32_t
exit_duration(const struct shape *s)
{
	return s->kind != REC_EXIT ? 0 : s->head == REC_BRIEF ? 4 : 8;
}

static inline void
shape_of(const struct said *h, struct shape *s)
{
	uint32_t len = h->what >> LEN_AT & ((1U << LEN_BITS) - 1),
	    exit_len = h->what >> EXIT_LEN_AT & ((1U << LEN_BITS) - 1);

	s->kind = h->what >> KIND_AT & 3;
	s->codes = s->exit_codes = 0;
	if (s->head == REC_BRIEF) {
		s->codes = len;
		s->exit_codes = exit_len;
		len = pack_size(len);
		exit_len = pack_size(exit_len);
	}
	s->len = len;
	s->exit_len = exit_len;
	s->captures = s->head + exit_duration(s) +
	    (s->head == REC_HEAD && h->back == REC_FAR ? 8U : 0);
	s->exit = (s->captures + s->len + 3U) & ~3U;
	if (s->kind == REC_CALL)
		s->exit += (uint32_t)sizeof(uint32_t);
	s->size = rec_round(s->kind == REC_CALL ? s->exit + s->exit_len :
	    s->captures + s->len);
}

/* Reads the fields outside of the head that are no captures; all are there. */
static inline void
shape_fill(const uint8_t *at, const struct shape *s, struct said *h)
{
	uint32_t brief;

	if (s->head == REC_HEAD && h->back == REC_FAR)
		memcpy(&h->far, at + REC_HEAD, sizeof(h->far));
	if (exit_duration(s) == sizeof(h->duration)) {
		memcpy(&h->duration, at + s->captures - 8, 8);
	} else if (s->kind != REC_ENTER) {
		memcpy(&brief, at + (s->kind == REC_CALL ? s->exit :
		    s->captures) - sizeof(brief), sizeof(brief));
		h->duration = brief;
	}
}

/*
 * Nothing but captures changes unnoticed.  Sums of products, as these do not
 * wait for each other: it is made of every record.
 */
static inline uint32_t
rec_check(const struct said *h)
{
	uint64_t m;

	m = h->when * UINT64_C(0x9e3779b97f4a7c15);
	m += (h->what ^ h->far) * UINT64_C(0xc2b2ae3d27d4eb4f);
	m += (h->duration ^ (uint64_t)h->back << 32) *
	    UINT64_C(0x165667b19e3779f9);
	m ^= m >> 32;
	return (uint32_t)((m * UINT64_C(0x9e3779b97f4a7c15)) >> 32) ^
	    0x5ec0de;
}

/* Puts n bytes there; where the next ones go. */
static inline uint8_t *
put(uint8_t *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* Zeros from there on, at most up to a multiple of four; where that is. */
static inline uint8_t *
put_pad(uint8_t *to, const uint8_t *begin)
{
	uint32_t pad = -(uint32_t)(to - begin) & 3;

	memset(to, 0, pad);
	return to + pad;
}

/* Sets the fields for an entry or exit, or for a call, which has both. */
static inline void
say(const struct seg_first *first, const struct rec *r,
    const struct rec *leave, struct said *h)
{
	h->what = r->fn | (uint64_t)r->flags << FLAGS_AT |
	    (uint64_t)(leave != NULL ? REC_CALL : r->kind) << KIND_AT |
	    class_small(leave != NULL ? leave->class : r->class) << CLASS_AT;
	h->when = (r->ts - first->ts) | (r->seq - first->seq) << 48;
	h->duration = leave != NULL ? leave->duration :
	    r->kind == REC_EXIT ? r->duration : 0;
	h->far = 0;
	h->back = (uint32_t)r->back;
}

/* With its captures packed; its size, 0: it cannot be. */
static uint32_t
write_brief(uint8_t *to, struct said *h, const struct rec *r,
    const struct rec *leave)
{
	uint32_t duration = (uint32_t)h->duration, n;
	uint8_t *at = to + REC_BRIEF;
	int32_t codes, exit_codes = 0;

	if ((h->when & REC_WHEN_MAX) > UINT32_MAX || r->back > UINT16_MAX ||
	    h->duration != duration)
		return 0;
	if (leave == NULL && r->kind == REC_EXIT)
		at = put(at, &duration, sizeof(duration));
	if ((codes = pack(r->captures, r->len, at, &n)) == -1)
		return 0;
	at = put_pad(at + n, to);
	if (leave != NULL) {
		at = put(at, &duration, sizeof(duration));
		if ((exit_codes = pack(leave->captures, leave->len, at,
		    &n)) == -1)
			return 0;
		at = put_pad(at + n, to);
	}
	h->what |= UINT64_C(1) << BRIEF_AT | (uint64_t)codes << LEN_AT |
	    (uint64_t)exit_codes << EXIT_LEN_AT;
	h->check = rec_check(h);
	head_put(to, h);
	return (uint32_t)(at - to);
}

static uint32_t
write_whole(uint8_t *to, struct said *h, const struct rec *r,
    const struct rec *leave)
{
	uint32_t brief = (uint32_t)h->duration;
	uint8_t *at = to + REC_HEAD;

	h->what |= (uint64_t)r->len << LEN_AT;
	if (r->back >= REC_FAR) {
		h->back = REC_FAR;
		h->far = r->back;
		at = put(at, &h->far, sizeof(h->far));
	}
	if (leave == NULL && r->kind == REC_EXIT)
		at = put(at, &h->duration, sizeof(h->duration));
	at = put_pad(put(at, r->captures, r->len), to);
	if (leave != NULL) {
		h->what |= (uint64_t)leave->len << EXIT_LEN_AT;
		at = put(at, &brief, sizeof(brief));
		at = put_pad(put(at, leave->captures, leave->len), to);
	}
	h->check = rec_check(h);
	head_put(to, h);
	return (uint32_t)(at - to);
}

uint32_t
rec_write(uint8_t *to, const struct seg_first *first, const struct rec *r)
{
	struct said h;
	uint32_t size;

	say(first, r, NULL, &h);
	size = write_brief(to, &h, r, NULL);
	return size != 0 ? size : write_whole(to, &h, r, NULL);
}

uint32_t
rec_write_call(uint8_t *to, const struct seg_first *first,
    const struct rec *enter, const struct rec *leave)
{
	struct said h;
	uint32_t size;

	say(first, enter, leave, &h);
	size = write_brief(to, &h, enter, leave);
	return size != 0 ? size : write_whole(to, &h, enter, leave);
}

/* The captures of the exit behind those of an entry; false: not so. */
static bool
join_captures(uint8_t *to, const struct rec *r, const struct shape *s,
    struct said *h)
{
	uint32_t n;
	int32_t codes;

	if (s->head == REC_BRIEF) {
		if ((codes = pack(r->captures, r->len, to, &n)) == -1)
			return false;
		h->what |= (uint64_t)codes << EXIT_LEN_AT;
		(void)put_pad(to + n, to);
	} else {
		h->what |= (uint64_t)r->len << EXIT_LEN_AT;
		(void)put_pad(put(to, r->captures, r->len), to);
	}
	return true;
}

uint32_t
rec_join(uint8_t *at, size_t room, const struct seg_first *first,
    const struct rec *r)
{
	struct said h;
	struct shape s;
	uint32_t brief = (uint32_t)r->duration;

	if (!head_get(at, room, &h, &s))
		return 0;
	shape_of(&h, &s);
	/* what is said of a REC_CALL's exit is said by its entry */
	if (s.kind != REC_ENTER || r->flags != 0 || r->back != 1 ||
	    r->duration != brief || (h.what & ((1U << FN_BITS) - 1)) != r->fn ||
	    first->ts + (h.when & REC_WHEN_MAX) + brief != r->ts ||
	    first->seq + (h.when >> 48) + 1 != r->seq ||
	    s.size + sizeof(brief) + rec_round(r->len) + PACK_SLACK > room)
		return 0;
	h.what &= ~((uint64_t)63 << CLASS_AT | (uint64_t)3 << KIND_AT);
	h.what |= (uint64_t)REC_CALL << KIND_AT |
	    class_small(r->class) << CLASS_AT;
	if (!join_captures(at + s.size + sizeof(brief), r, &s, &h))
		return 0;
	memcpy(at + s.size, &brief, sizeof(brief));
	shape_of(&h, &s);
	shape_fill(at, &s, &h);
	h.check = rec_check(&h);
	head_put(at, &h);
	return s.size;
}

bool
rec_seal(uint8_t *at, size_t left)
{
	struct said h;
	struct shape s;

	if (!head_get(at, left, &h, &s))
		return false;
	shape_of(&h, &s);
	if (s.size > left)
		return false;
	shape_fill(at, &s, &h);
	h.check = rec_check(&h);
	head_put(at, &h);
	return true;
}

/* A kind that there is, with a class and captures that it can have. */
static inline bool
is_sound(const struct said *h, const struct shape *s)
{
	uint64_t small = h->what >> CLASS_AT & 63,
	    exit = h->what >> EXIT_LEN_AT & ((1U << LEN_BITS) - 1);

	return s->kind != 0 && (s->kind == REC_CALL || exit == 0) &&
	    (s->kind == REC_ENTER ? small == SMALL_ENTER :
	    small < SMALL_ENTER) &&
	    (h->what >> (EXIT_LEN_AT + LEN_BITS) & 3) == 0 &&
	    (s->head == REC_BRIEF ? pack_sound(s->codes) &&
	    pack_sound(s->exit_codes) : s->len <= SEG_CAPTURES &&
	    s->exit_len <= SEG_CAPTURES);
}

/* 1: the whole record is there and right; 0, -1: see rec_read(). */
static inline int
record_get(const uint8_t *at, size_t left, struct said *h, struct shape *s)
{
	if (!head_get(at, left, h, s))
		return 0;
	shape_of(h, s);
	if (!is_sound(h, s))
		return -1;
	if (s->size > left)
		return 0;
	shape_fill(at, s, h);
	return h->check == rec_check(h) ? 1 : -1;
}

static inline void
set_captures(struct rec *r, const uint8_t *at, uint32_t len, uint32_t codes)
{
	r->captures = at;
	r->codes = (uint16_t)codes;
	r->len = (uint16_t)(codes != 0 ? pack_whole(codes) : len);
}

int32_t
rec_read(const uint8_t *at, size_t left, const struct seg_first *first,
    struct rec r[2])
{
	struct said h;
	struct shape s;
	int got = record_get(at, left, &h, &s);

	if (got != 1)
		return got;
	r[0].ts = first->ts + (h.when & REC_WHEN_MAX);
	r[0].duration = s.kind == REC_EXIT ? h.duration : 0;
	r[0].seq = first->seq + (h.when >> 48);
	r[0].back = h.far != 0 ? h.far : h.back;
	r[0].fn = h.what & ((1U << FN_BITS) - 1);
	r[0].class = s.kind == REC_CALL ? CLASS_ENTER :
	    class_whole(h.what >> CLASS_AT & 63);
	r[0].kind = s.kind == REC_CALL ? REC_ENTER : s.kind;
	r[0].flags = h.what >> FLAGS_AT & 7;
	set_captures(&r[0], at + s.captures, s.len, s.codes);
	r[1].kind = 0;
	if (s.kind == REC_CALL) {
		r[1] = (struct rec){ .ts = r[0].ts + h.duration,
			.duration = h.duration, .seq = r[0].seq + 1,
			.back = 1, .fn = r[0].fn, .kind = REC_EXIT,
			.class = class_whole(h.what >> CLASS_AT & 63) };
		set_captures(&r[1], at + s.exit, s.exit_len, s.exit_codes);
	}
	return (int32_t)s.size;
}

const uint8_t *
rec_captures(const struct rec *r, uint8_t room[PACK_WHOLE])
{
	if (r->codes == 0)
		return r->captures;
	unpack(r->captures, r->codes, room);
	return room;
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
	/* what a function has is in one line of the processor's cache */
	uint32_t i = (fn * 2654435761u) >> 16 << 3 | (class & 7), row;

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

/* The key of an exit's captures, as they lie there. */
static uint64_t
key_at(const uint8_t *at, const struct shape *s, uint64_t tag)
{
	uint8_t room[PACK_WHOLE];
	struct rec r;

	if (s->kind == REC_CALL)
		set_captures(&r, at + s->exit, s->exit_len, s->exit_codes);
	else
		set_captures(&r, at + s->captures, s->len, s->codes);
	return seg_key(rec_captures(&r, room), r.len, tag);
}

/* Adds a written record to the index; returns its size, 0: there is none. */
static uint32_t
add_record(struct seg_building *b, const uint8_t *data, size_t len, size_t at,
    uint64_t tag)
{
	struct said h;
	struct shape s;
	uint16_t class;
	uint32_t fn;

	if (record_get(data + at, len - at, &h, &s) != 1)
		return 0;
	fn = h.what & ((1U << FN_BITS) - 1);
	if (s.kind != REC_EXIT)
		seg_building_add(b, fn, CLASS_ENTER, 0, at);
	if (s.kind == REC_ENTER)
		return s.size;
	class = class_whole(h.what >> CLASS_AT & 63);
	seg_building_add(b, fn, class, class != CLASS_OTHER ? 0 :
	    key_at(data + at, &s, tag), at);
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
