/* SPDX-License-Identifier: ISC */
/* links: tracer/store/segment.c tracer/store/tally.c tracer/store/text.c */
/* The tracer's segments: what is written is read, what is not right is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tracer/store/segment.h"
#include "tracer/store/tally.h"
#include "tracer/store/text.h"

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

/* What does not fit into a head, and the greatest that does. */
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

/* What one record could not say stays two. */
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
	assert_int_equal(rec_join(data, size + 15, &first, &exit), 0);
	assert_int_equal(rec_read(data, size, &first, r), size);
	assert_int_equal(r[1].kind, 0);
	assert_int_equal(rec_join(data, size + 16, &first, &exit), size + 16);
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
		case 1: h.bytes = 100; break;
		case 2: h.count = 2 * (640 / REC_HEAD) + 1; break;
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
	assert_int_equal(index.units[1], 4);
}

/* -- classes of return values ------------------------------------------- */
static uint16_t
class_of(struct tally *t, uint64_t v)
{
	uint8_t raw[12] = { 0, 0, 8, 0 };

	memcpy(raw + 4, &v, 8);
	return tally_class(t, 3, raw, sizeof(raw));
}

static void
values_have_classes(void **state)
{
	struct tally t = { NULL, 0 };
	const uint8_t *raw;
	uint64_t v;
	size_t len;

	(void)state;
	assert_int_equal(tally_reserve(&t, 3), 0);
	for (v = 1; v <= CLASS_MAX; v++)
		assert_int_equal(class_of(&t, v), v);
	assert_int_equal(class_of(&t, 7), 7);
	/* no more are left, but nothing is kept for zero alone */
	assert_int_equal(class_of(&t, 1000), CLASS_OTHER);
	assert_int_equal(class_of(&t, 0), 0);
	assert_int_equal(class_of(&t, 0), 0);
	assert_int_equal(tally_class(&t, 3, "0123456789abcdefghijk", 21),
	    CLASS_OTHER);
	raw = tally_raw(&t, 3, 7, &len);
	assert_non_null(raw);
	assert_int_equal(len, 12);
	assert_int_equal(raw[4], 7);
	assert_null(tally_raw(&t, 99, 0, &len));
	tally_free(&t);
}

static void
classes_are_counted(void **state)
{
	struct tally t = { NULL, 0 };

	(void)state;
	tally_reserve(&t, 500);
	tally_add(&t, 500, CLASS_ENTER, 3);
	tally_add(&t, 500, 0, 2);
	tally_add(&t, 500, CLASS_OTHER, 4);
	tally_add(&t, 500, CLASS_OTHER, -1);
	assert_int_equal(tally_count(&t, 500, CLASS_ENTER), 3);
	assert_int_equal(tally_count(&t, 500, 0), 2);
	assert_int_equal(tally_count(&t, 500, CLASS_OTHER), 3);
	assert_int_equal(tally_count(&t, 500, 1), 0);
	assert_int_equal(tally_count(&t, 90000, CLASS_ENTER), 0);
	tally_free(&t);
}

static void
learnt_classes_are_not_given_again(void **state)
{
	const uint8_t raw[12] = { 0, 0, 8, 0, 42 };
	struct tally t = { NULL, 0 };

	(void)state;
	tally_reserve(&t, 3);
	tally_learn(&t, 3, 1, raw, sizeof(raw));
	assert_int_equal(class_of(&t, 42), 1);
	assert_int_equal(class_of(&t, 43), 2);
	/* one value has one class, whatever a file says */
	tally_learn(&t, 3, 9, raw, sizeof(raw));
	assert_int_equal(class_of(&t, 42), 1);
	tally_free(&t);
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
	struct text t = { .max = 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text_clear(&t);
		text_json(&t, rows[i].raw, strlen(rows[i].raw));
		assert_string_equal(t.s, rows[i].json);
		text_clear(&t);
		text_plain(&t, rows[i].raw, strlen(rows[i].raw));
		assert_string_equal(t.s, rows[i].plain);
	}
	text_free(&t);
}

static void
text_is_bounded(void **state)
{
	struct text t = { .max = 10 };

	(void)state;
	text_str(&t, "12345678");
	text_str(&t, "abc");
	assert_true(t.cut);
	text_str(&t, "x");
	assert_string_equal(t.s, "12345678");
	text_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back),
		cmocka_unit_test(extremes_come_back),
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
