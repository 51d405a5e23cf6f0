/* SPDX-License-Identifier: ISC */
/* links: timeline/store/pack.c timeline/store/segment.c timeline/store/counters.c common/base/json.c common/base/text.c */
/* The tracer's segments: what is written is read, what is not right is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "timeline/store/counters.h"
#include "timeline/store/segment.h"

static uint8_t	data[SEG_DATA];
static const struct seg_first first = { 100, 1 };

static struct rec
some_rec(uint32_t after, uint16_t len)
{
	static const uint8_t captures[SEG_CAPTURES] = "captured";

	return (struct rec){ .ts = 100 + after, .duration = 7, .back = 9,
		.fn = after % 3, .seq = 1 + after, .len = len, .class = 2,
		.captures = captures, .kind = REC_EXIT };
}

/* Writes n records, of sizes that differ; their bytes. */
static uint32_t
fill(uint32_t n)
{
	static const uint16_t lens[] = { 0, 12, 24, 25, 88, 89, 1028 };
	uint32_t i, at = 0;
	struct rec r;

	for (i = 0; i < n; i++) {
		r = some_rec(i, lens[i % 7]);
		at += rec_write(data + at, &first, &r);
	}
	return at;
}

/* An entry, and the exit that can be one with it. */
static struct rec
entry(uint32_t after, uint16_t len, uint64_t back)
{
	struct rec r = some_rec(after, len);

	r.kind = REC_ENTER;
	r.class = CLASS_ENTER;
	r.duration = 0;
	r.flags = 1;
	r.back = back;
	return r;
}

static struct rec
its_exit(const struct rec *enter, uint64_t duration, uint16_t len)
{
	struct rec r = some_rec(0, len);

	r.ts = enter->ts + duration;
	r.duration = duration;
	r.fn = enter->fn;
	r.seq = enter->seq + 1;
	r.back = 1;
	return r;
}

static struct seg_head
head_of(uint32_t count, uint32_t bytes)
{
	struct seg_head h = { .tag = 5, .ord = 1, .tid = 77, .name = "main",
		.first_seq = 1, .first_ts = 100, .last_ts = 100000,
		.count = count, .bytes = bytes };

	seg_head_seal(&h);
	return h;
}

static void
records_come_back(void **state)
{
	uint32_t len = fill(100), at = 0, i;
	struct rec r[2];
	int32_t size;

	(void)state;
	for (i = 0; i < 100; i++) {
		size = rec_read(data + at, len - at, &first, r);
		assert_true(size > 0);
		assert_int_equal(r[0].seq, 1 + i);
		assert_int_equal(r[0].ts, 100 + i);
		assert_int_equal(r[0].duration, 7);
		assert_int_equal(r[0].back, 9);
		assert_int_equal(r[0].class, 2);
		assert_int_equal(r[0].kind, REC_EXIT);
		assert_int_equal(r[1].kind, 0);
		if (r[0].len >= 8)
			assert_memory_equal(r[0].captures, "captured", 8);
		at += (uint32_t)size;
	}
	assert_int_equal(at, len);
	assert_int_equal(rec_read(data + at, 0, &first, r), 0);
}

/* The greatest values that fit into a head, and values that do not. */
static void
extremes_come_back(void **state)
{
	static const uint64_t backs[] = { 0, 1, REC_FAR - 1, REC_FAR,
	    (uint64_t)REC_FAR + 1, SEQ_MAX };
	static const uint16_t classes[] = { 0, CLASS_MAX, CLASS_ODD,
	    CLASS_OTHER };
	struct rec r = some_rec(0, SEG_CAPTURES), out[2];
	uint32_t size;
	size_t i;

	(void)state;
	r.ts = first.ts + REC_WHEN_MAX;
	r.seq = first.seq + REC_AFTER_MAX;
	r.duration = UINT64_MAX;
	r.fn = FN_MAX - 1;
	r.flags = 7;
	for (i = 0; i < 6; i++) {
		r.back = backs[i];
		r.class = classes[i % 4];
		size = rec_write(data, &first, &r);
		assert_int_equal(rec_read(data, size, &first, out), size);
		assert_int_equal(out[0].ts, r.ts);
		assert_int_equal(out[0].seq, r.seq);
		assert_int_equal(out[0].back, r.back);
		assert_int_equal(out[0].duration, UINT64_MAX);
		assert_int_equal(out[0].fn, FN_MAX - 1);
		assert_int_equal(out[0].flags, 7);
		assert_int_equal(out[0].class, r.class);
		assert_int_equal(out[0].len, SEG_CAPTURES);
	}
}

static void
a_call_is_one_record(void **state)
{
	static const uint16_t lens[] = { 0, 4, 12, 13, 24, 1028 };
	struct rec in, out, r[2];
	uint32_t size, alone;
	size_t i, k, far;

	(void)state;
	for (i = 0; i < 72; i++) {
		k = i % 36;
		far = i / 36;
		in = entry(3, lens[k / 6], far ? (uint64_t)1 << 33 : 5);
		out = its_exit(&in, UINT32_MAX, lens[k % 6]);
		memset(data, 0xff, 4096);
		alone = rec_write(data, &first, &in);
		size = rec_join(data, sizeof(data), &first, &out);
		if (in.len == 0 && out.len > 0 && !far) {
			/* what is packed is so as a whole */
			assert_int_equal(size, 0);
			size = rec_write_call(data, &first, &in, &out);
		}
		assert_true(size > 0);
		/* it saves its own head */
		assert_true(size <= alone + rec_size(&out) - 16);
		assert_int_equal(rec_read(data, size, &first, r), size);
		assert_int_equal(r[0].kind, REC_ENTER);
		assert_int_equal(r[0].class, CLASS_ENTER);
		assert_int_equal(r[0].ts, in.ts);
		assert_int_equal(r[0].seq, in.seq);
		assert_int_equal(r[0].back, in.back);
		assert_int_equal(r[0].flags, 1);
		assert_int_equal(r[0].duration, 0);
		assert_int_equal(r[0].len, in.len);
		assert_memory_equal(r[0].captures, in.captures, in.len);
		assert_int_equal(r[1].kind, REC_EXIT);
		assert_int_equal(r[1].class, 2);
		assert_int_equal(r[1].ts, out.ts);
		assert_int_equal(r[1].duration, UINT32_MAX);
		assert_int_equal(r[1].seq, out.seq);
		assert_int_equal(r[1].back, 1);
		assert_int_equal(r[1].fn, in.fn);
		assert_int_equal(r[1].flags, 0);
		assert_int_equal(r[1].len, out.len);
		assert_memory_equal(r[1].captures, out.captures, out.len);
	}
}

/* -- what is packed ----------------------------------------------------- */
/* Captures as the agent writes them; bytes of it. */
static uint16_t
capture(uint8_t *to, uint16_t status, uint16_t len, uint64_t v)
{
	const uint16_t head[2] = { status, len };
	uint16_t whole = (uint16_t)((len + 3) & ~3);

	memset(to, 0, 4U + whole);
	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), &v, len < 8 ? len : 8);
	return (uint16_t)(sizeof(head) + whole);
}

/* Every value that there is a code for, and those beside it. */
static const struct {
	uint64_t v;
	uint16_t len, packed;
} values[] = { { 0, 8, 0 }, { 1, 8, 6 }, { UINT64_MAX, 8, 8 },
	{ (UINT64_C(1) << 48) - 1, 8, 6 }, { UINT64_C(1) << 48, 8, 8 },
	{ 0, 4, 1 }, { 255, 4, 1 }, { 256, 4, 4 }, { UINT32_MAX, 4, 4 },
	{ 0, 2, 2 }, { 0xabcd, 2, 2 }, { 0, 1, 1 }, { 0xff, 1, 1 } };
#define NVALUES	(sizeof(values) / sizeof(values[0]))

static void
values_are_packed(void **state)
{
	uint8_t raw[PACK_WHOLE], to[PACK_WHOLE + PACK_SLACK],
	    back[PACK_WHOLE];
	uint32_t n, packed, len, sum;
	size_t i, k;
	int32_t codes;

	(void)state;
	for (i = 0; i < NVALUES; i++)
		for (n = 0; n <= PACK_MOST; n++) {
			for (k = len = sum = 0; k < n; k++) {
				len += capture(raw + len, 0,
				    values[(i + k) % NVALUES].len,
				    values[(i + k) % NVALUES].v);
				sum += values[(i + k) % NVALUES].packed;
			}
			memset(to, 0xee, sizeof(to));
			codes = pack(raw, len, to, &packed);
			assert_true(codes >= 0 && codes < 1 << PACK_BITS);
			assert_true(pack_sound((uint32_t)codes));
			assert_int_equal(packed, sum);
			assert_int_equal(pack_size((uint32_t)codes), sum);
			assert_int_equal(pack_whole((uint32_t)codes), len);
			for (k = len + PACK_SLACK; k < sizeof(to); k++)
				assert_int_equal(to[k], 0xee);
			unpack(to, (uint32_t)codes, back);
			assert_memory_equal(back, raw, len);
		}
}

static void
others_are_not_packed(void **state)
{
	uint8_t raw[6 * 12], to[sizeof(raw) + PACK_SLACK];
	uint32_t len, packed, i;

	(void)state;
	for (len = i = 0; i <= PACK_MOST; i++)
		len += capture(raw + len, 0, 8, i);
	assert_int_equal(pack(raw, len, to, &packed), -1);
	/* cut off, at each byte that is no end */
	for (i = 1; i < len; i++)
		if (i % 12 != 0)
			assert_int_equal(pack(raw, i, to, &packed), -1);
	for (i = 0; i < 4; i++) {
		capture(raw, i == 0, i == 1 ? 16 : i == 2 ? 3 : 8, 7);
		assert_int_equal(pack(raw, i == 1 ? 20 : i == 2 ? 8 : 12, to,
		    &packed), i == 3 ? 2 : -1);
	}
	/* nothing is lost of what fills up */
	capture(raw, 0, 2, 7);
	raw[7] = 1;
	assert_int_equal(pack(raw, 8, to, &packed), -1);
	capture(raw, 0, 1, 7);
	raw[5] = 1;
	assert_int_equal(pack(raw, 8, to, &packed), -1);
	assert_false(pack_sound(7 << 3));
	assert_true(pack_sound(7));
}

/* Packed records of each kind, and records with far values and whole heads. */
static void
packed_records_come_back(void **state)
{
	uint8_t in_raw[PACK_WHOLE], out_raw[PACK_WHOLE], room[PACK_WHOLE];
	struct rec in = entry(3, 0, 5), out, r[2];
	uint32_t size, brief = 0, i;

	(void)state;
	in.captures = in_raw;
	in.len = capture(in_raw, 0, 8, 0x7ffe12345678);
	in.len = (uint16_t)(in.len + capture(in_raw + in.len, 0, 4, 3));
	for (i = 0; i < 4; i++) {
		in.back = i == 1 ? UINT16_MAX : i == 2 ? UINT16_MAX + 1 : 5;
		in.ts = first.ts + (i == 3 ? (uint64_t)UINT32_MAX + 1 : 9);
		out = its_exit(&in, 77, 0);
		out.captures = out_raw;
		out.len = capture(out_raw, 0, 8, i == 1 ? 0 : 9);
		rec_write(data, &first, &in);
		size = rec_join(data, sizeof(data), &first, &out);
		/* by either way the same bytes */
		memcpy(data + 4096, data, size);
		assert_int_equal(rec_write_call(data, &first, &in, &out),
		    size);
		assert_memory_equal(data, data + 4096, size);
		/* head, 6 + 1, duration, 6 or none */
		if (i == 0)
			assert_int_equal(brief = size, 20 + 8 + 4 + 8);
		assert_int_equal(size, i == 1 ? brief - 8 : i == 0 ? brief :
		    24 + 20 + 4 + 12);
		assert_int_equal(rec_read(data, size, &first, r), size);
		assert_int_equal(r[0].ts, in.ts);
		assert_int_equal(r[0].back, in.back);
		assert_int_equal(r[0].len, in.len);
		assert_memory_equal(rec_captures(&r[0], room), in_raw, in.len);
		assert_int_equal(r[1].duration, 77);
		assert_int_equal(r[1].len, out.len);
		assert_memory_equal(rec_captures(&r[1], room), out_raw,
		    out.len);
		/* and the exit alone */
		size = rec_write(data, &first, &out);
		assert_int_equal(rec_read(data, size, &first, r), size);
		assert_int_equal(r[0].ts, out.ts);
		assert_int_equal(r[0].duration, 77);
		assert_memory_equal(rec_captures(&r[0], room), out_raw,
		    out.len);
	}
	/* nothing comes behind the last one */
	in.ts = first.ts;
	out = its_exit(&in, 77, 0);
	out.captures = out_raw;
	out.len = capture(out_raw, 0, 8, 9);
	size = rec_write(data, &first, &out);
	assert_int_equal(rec_read(data, size, &first, r), size);
	data[4] ^= 5;
	assert_true(rec_seal(data, sizeof(data)));
	assert_int_equal(rec_read(data, sizeof(data), &first, r), -1);
}

/* An entry and an exit that do not fit one record stay two. */
static void
not_all_are_joined(void **state)
{
	struct rec in = entry(3, 12, 5), exit = its_exit(&in, 100, 12), r[2],
	    other;
	uint32_t size = rec_write(data, &first, &in), i;

	(void)state;
	for (i = 0; i < 8; i++) {
		other = exit;
		switch (i) {
		case 0: other.flags = 2; break;
		case 1: other.back = 2; break;
		case 2: other.seq++; break;
		case 3: other.fn++; break;
		case 4: other.duration++; break;
		case 5:
			other.duration += (uint64_t)1 << 32;
			other.ts += (uint64_t)1 << 32;
			break;
		case 6: other.ts++; break;
		case 7: other.back = 0; break;
		}
		assert_int_equal(rec_join(data, sizeof(data), &first, &other),
		    0);
	}
	assert_int_equal(rec_join(data, size + 15 + PACK_SLACK, &first,
	    &exit), 0);
	assert_int_equal(rec_read(data, size, &first, r), size);
	assert_int_equal(r[1].kind, 0);
	assert_int_equal(rec_join(data, size + 16 + PACK_SLACK, &first,
	    &exit), size + 16);
	/* nor twice */
	assert_int_equal(rec_join(data, sizeof(data), &first, &exit), 0);
}

static void
a_record_may_be_cut_off(void **state)
{
	struct rec in = entry(1, 96, 1), out = its_exit(&in, 9, 12), r[2];
	uint8_t *copy;
	uint32_t size, n;

	(void)state;
	rec_write(data, &first, &in);
	size = rec_join(data, sizeof(data), &first, &out);
	assert_int_equal(size, 136);
	for (n = 0; n < size; n++) {
		/* its own memory, so that reading on would be noticed */
		copy = malloc(n + 1);
		memcpy(copy, data, n);
		assert_int_equal(rec_read(copy, n, &first, r), 0);
		free(copy);
	}
}

/* Any bit of a record but what is captured is covered. */
static void
flipped(uint32_t size, uint32_t from, uint32_t to)
{
	struct rec out[2];
	size_t bit;
	int32_t got;

	for (bit = from * 8; bit < to * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		/* or it is longer now than what is there */
		got = rec_read(data, size, &first, out);
		assert_true(got <= 0);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(rec_read(data, size, &first, out), size);
}

static void
flipped_bits_are_noticed(void **state)
{
	struct rec r = some_rec(3, 24), in = entry(3, 12, 4),
	    exit = its_exit(&in, 77, 12), out[2];
	uint32_t size;

	(void)state;
	size = rec_write(data, &first, &r);
	flipped(size, 0, REC_HEAD + 8);
	r.back = (uint64_t)1 << 34;
	size = rec_write(data, &first, &r);
	flipped(size, 0, REC_HEAD + 16);
	in.back = 4;
	in.len = exit.len = 0;
	size = rec_write_call(data, &first, &in, &exit);
	assert_int_equal(size, REC_BRIEF + 4);
	flipped(size, 0, size);
	size = rec_write(data, &first, &exit);
	flipped(size, 0, size);
	in.len = exit.len = 12;
	rec_write(data, &first, &in);
	size = rec_join(data, sizeof(data), &first, &exit);
	flipped(size, 0, REC_HEAD);
	flipped(size, REC_HEAD + 12, REC_HEAD + 16);
	memset(data, 0, size);
	assert_int_equal(rec_read(data, size, &first, out), -1);
}

static void
heads_are_checked(void **state)
{
	struct seg_head h = head_of(10, 640), out, bad;
	uint8_t *bytes = (uint8_t *)&bad;
	size_t bit;

	(void)state;
	assert_true(seg_head_read(&h, 5, &out));
	assert_int_equal(out.tid, 77);
	assert_false(seg_head_read(&h, 6, &out));
	for (bit = 0; bit < offsetof(struct seg_head, zero) * 8; bit++) {
		bad = h;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(seg_head_read(&bad, 5, &out));
	}
}

/* A right check does not make nonsense sense. */
static void
heads_are_bounded(void **state)
{
	struct seg_head h, out;
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		h = head_of(10, 640);
		switch (i) {
		case 0: h.bytes = SEG_DATA + SEG_UNIT; break;
		case 1: h.bytes = 102; break;
		case 2: h.count = 2 * (640 / REC_BRIEF) + 1; break;
		case 3: h.nsums = 11; break;
		case 4: h.ord = 0; break;
		case 5: h.ord = ORD_MAX + 1; break;
		case 6: h.first_seq = 0; break;
		case 7: h.first_ts = h.last_ts + 1; break;
		}
		seg_head_seal(&h);
		assert_false(seg_head_read(&h, 5, &out));
	}
}

static void
good_is_what_comes_before_bad(void **state)
{
	uint32_t len = fill(50), count, at = 0, n;
	struct seg_head h;
	struct rec r[2], last;
	int32_t size;

	(void)state;
	h = head_of(50, len);
	assert_int_equal(seg_good(&h, data, len, &count, &last), len);
	assert_int_equal(count, 50);
	assert_int_equal(last.seq, 50);
	/* each record in turn is the first that is not right */
	for (n = 0; n < 50; n++) {
		size = rec_read(data + at, len - at, &first, r);
		data[at] ^= 1;
		assert_int_equal(seg_good(&h, data, len, &count, &last), at);
		assert_int_equal(count, n);
		data[at] ^= 1;
		at += (uint32_t)size;
	}
	h.count = 20;
	seg_good(&h, data, len, &count, &last);
	assert_int_equal(count, 20);
}

static uint32_t
two(const struct rec *a, const struct rec *b)
{
	struct seg_head h = head_of(3, 128);
	uint32_t len = rec_write(data, &first, a), count;
	struct rec last;

	len += rec_write(data + len, &first, b);
	seg_good(&h, data, len, &count, &last);
	return count;
}

static void
time_and_sequence_go_forward(void **state)
{
	struct seg_head h = head_of(3, 128);
	struct rec a = entry(5, 0, 1), b = some_rec(6, 0), last, exit;
	uint32_t count, size;

	(void)state;
	b.ts = a.ts - 1;
	assert_int_equal(two(&a, &b), 1);
	b.ts = a.ts;
	b.seq = a.seq;
	assert_int_equal(two(&a, &b), 1);
	b.seq++;
	assert_int_equal(two(&a, &b), 2);
	b.ts = h.last_ts + 1;
	assert_int_equal(two(&a, &b), 1);
	/* nor does the second half of a call leave what the head says */
	exit = its_exit(&a, h.last_ts - a.ts, 0);
	rec_write(data, &first, &a);
	size = rec_join(data, sizeof(data), &first, &exit);
	assert_int_equal(seg_good(&h, data, size, &count, &last), size);
	assert_int_equal(count, 2);
	assert_int_equal(last.ts, h.last_ts);
	h.last_ts--;
	assert_int_equal(seg_good(&h, data, size, &count, &last), 0);
	h.last_ts++;
	h.count = 1;
	assert_int_equal(seg_good(&h, data, size, &count, &last), 0);
	/* what comes behind is after its second half */
	h.count = 3;
	b = some_rec(6, 0);
	b.ts = h.last_ts;
	rec_write(data + size, &first, &b);
	seg_good(&h, data, sizeof(data), &count, &last);
	assert_int_equal(count, 2);
}

static void
summaries_count(void **state)
{
	static struct seg_index index;
	struct seg_sum *sums = index.rows;
	uint32_t len, i;

	(void)state;
	len = fill(90);
	seg_index(data, len, 5, &index);
	assert_int_equal(index.nrows, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(sums[i].count, 30);
		assert_int_equal(sums[i].class, 2);
	}
	assert_true(seg_sums_good(sums, 3, 90));
	assert_false(seg_sums_good(sums, 3, 91));
	assert_false(seg_sums_good(sums, 2, 90));
	sums[0].class = CLASS_MAX + 1;
	assert_false(seg_sums_good(sums, 3, 90));
	/* as many functions as there are records */
	for (i = len = 0; i < SEG_RECORDS; i++) {
		struct rec in = entry(2 * i, 0, 1), out = its_exit(&in, 0, 0);

		in.fn = out.fn = i * 128;
		out.class = CLASS_OTHER;
		rec_write(data + len, &first, &in);
		len += rec_join(data + len, sizeof(data) - len, &first, &out);
	}
	assert_true(len <= SEG_DATA);
	seg_index(data, len, 5, &index);
	assert_int_equal(index.nrows, SEG_SUMS);
	assert_true(seg_sums_good(sums, SEG_SUMS, 2 * SEG_RECORDS));
	assert_int_equal(index.nkeys, SEG_RECORDS);
	assert_true(seg_others_good(index.rows + SEG_RECORDS, index.nothers,
	    index.nkeys));
	assert_int_equal(index.units[1], (REC_BRIEF + 4) / SEG_UNIT);
}

/* -- classes of return values ------------------------------------------- */
static uint16_t
class_of(struct counters *t, uint64_t v)
{
	uint8_t raw[12] = { 0, 0, 8, 0 };

	memcpy(raw + 4, &v, 8);
	return counters_class(t, 3, raw, sizeof(raw));
}

static void
values_have_classes(void **state)
{
	struct counters t = { NULL, 0 };
	const uint8_t *raw;
	uint64_t v;
	size_t len;

	(void)state;
	assert_int_equal(counters_reserve(&t, 3), 0);
	for (v = 1; v <= CLASS_MAX; v++)
		assert_int_equal(class_of(&t, v), v);
	assert_int_equal(class_of(&t, 7), 7);
	/* no more are left, but nothing is kept for zero alone */
	assert_int_equal(class_of(&t, 1000), CLASS_OTHER);
	assert_int_equal(class_of(&t, 0), 0);
	assert_int_equal(class_of(&t, 0), 0);
	assert_int_equal(counters_class(&t, 3, "0123456789abcdefghijk", 21),
	    CLASS_OTHER);
	raw = counters_raw(&t, 3, 7, &len);
	assert_non_null(raw);
	assert_int_equal(len, 12);
	assert_int_equal(raw[4], 7);
	assert_null(counters_raw(&t, 99, 0, &len));
	counters_free(&t);
}

static void
classes_are_counted(void **state)
{
	struct counters t = { NULL, 0 };

	(void)state;
	counters_reserve(&t, 500);
	counters_add(&t, 500, CLASS_ENTER, 3);
	counters_add(&t, 500, 0, 2);
	counters_add(&t, 500, CLASS_OTHER, 4);
	counters_add(&t, 500, CLASS_OTHER, -1);
	assert_int_equal(counters_count(&t, 500, CLASS_ENTER), 3);
	assert_int_equal(counters_count(&t, 500, 0), 2);
	assert_int_equal(counters_count(&t, 500, CLASS_OTHER), 3);
	assert_int_equal(counters_count(&t, 500, 1), 0);
	assert_int_equal(counters_count(&t, 90000, CLASS_ENTER), 0);
	counters_free(&t);
}

static void
learnt_classes_are_not_given_again(void **state)
{
	const uint8_t raw[12] = { 0, 0, 8, 0, 42 };
	struct counters t = { NULL, 0 };

	(void)state;
	counters_reserve(&t, 3);
	counters_learn(&t, 3, 1, raw, sizeof(raw));
	assert_int_equal(class_of(&t, 42), 1);
	assert_int_equal(class_of(&t, 43), 2);
	/* one value has one class, whatever a file says */
	counters_learn(&t, 3, 9, raw, sizeof(raw));
	assert_int_equal(class_of(&t, 42), 1);
	counters_free(&t);
}

/* -- text --------------------------------------------------------------- */
static void
text_is_escaped(void **state)
{
	static const struct {
		const char *raw, *json, *plain;
	} rows[] = {
		{ "a\"b\\c\n", "\"a\\\"b\\\\c\\n\"", "a\"b\\\\c\\n" },
		{ "\x1b[2J\x01", "\"\\u001b[2J\\u0001\"", "\\x1b[2J\\x01" },
		{ "\xc3\xa9", "\"\xc3\xa9\"", "\xc3\xa9" },
		{ "\xc3", "\"\xef\xbf\xbd\"", "\\xc3" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
		    "\\xed\\xa0\\x80" },
		{ "\xc2\x9b", "\"\xc2\x9b\"", "\\xc2\\x9b" },
		{ "\x7f", "\"\\u007f\"", "\\x7f" },
	};
	struct text t = { .max = TEXT_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text_reset(&t, SIZE_MAX);
		json_quoted(&t, rows[i].raw, strlen(rows[i].raw));
		assert_string_equal(t.p, rows[i].json);
		text_reset(&t, SIZE_MAX);
		text_plain(&t, rows[i].raw, strlen(rows[i].raw));
		assert_string_equal(t.p, rows[i].plain);
	}
	text_free(&t);
}

static void
text_is_bounded(void **state)
{
	struct text t = { .max = 10 };

	(void)state;
	text_puts(&t, "12345678");
	text_puts(&t, "abc");
	assert_true(t.bad);
	text_puts(&t, "x");
	assert_string_equal(t.p, "12345678");
	text_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back),
		cmocka_unit_test(extremes_come_back),
		cmocka_unit_test(values_are_packed),
		cmocka_unit_test(others_are_not_packed),
		cmocka_unit_test(packed_records_come_back),
		cmocka_unit_test(a_call_is_one_record),
		cmocka_unit_test(not_all_are_joined),
		cmocka_unit_test(a_record_may_be_cut_off),
		cmocka_unit_test(flipped_bits_are_noticed),
		cmocka_unit_test(heads_are_checked),
		cmocka_unit_test(heads_are_bounded),
		cmocka_unit_test(good_is_what_comes_before_bad),
		cmocka_unit_test(time_and_sequence_go_forward),
		cmocka_unit_test(summaries_count),
		cmocka_unit_test(values_have_classes),
		cmocka_unit_test(classes_are_counted),
		cmocka_unit_test(learnt_classes_are_not_given_again),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(text_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
