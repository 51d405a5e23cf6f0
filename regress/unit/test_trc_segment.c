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

static struct rec
some_rec(uint32_t delta, uint16_t len)
{
	return (struct rec){ .ts = 100 + delta, .duration = 7, .parent = 9,
		.fn = delta % 3, .delta = delta, .len = len, .class = 2,
		.kind = REC_EXIT };
}

/* Writes n records, of sizes that differ; their bytes. */
static uint32_t
fill(uint32_t n)
{
	static const uint8_t captures[SEG_CAPTURES] = "captured";
	static const uint16_t lens[] = { 0, 12, 24, 25, 88, 89, 1028 };
	uint32_t i, at = 0;
	struct rec r;

	for (i = 0; i < n; i++) {
		r = some_rec(i, lens[i % 7]);
		at += rec_write(data + at, &r, captures);
	}
	return at;
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
	const uint8_t *captures;
	struct rec r;
	int32_t size;

	(void)state;
	for (i = 0; i < 100; i++) {
		size = rec_read(data + at, len - at, &r, &captures);
		assert_true(size > 0);
		assert_int_equal(r.delta, i);
		assert_int_equal(r.ts, 100 + i);
		assert_int_equal(r.duration, 7);
		assert_int_equal(r.parent, 9);
		if (r.len >= 8)
			assert_memory_equal(captures, "captured", 8);
		at += (uint32_t)size;
	}
	assert_int_equal(at, len);
	assert_int_equal(rec_read(data + at, 0, &r, &captures), 0);
}

static void
a_record_may_be_cut_off(void **state)
{
	uint8_t captures[100] = "x", *copy;
	struct rec r = some_rec(1, 100);
	const uint8_t *c;
	uint32_t size = rec_write(data, &r, captures), n;

	(void)state;
	assert_int_equal(size, 192);
	for (n = 0; n < size; n++) {
		/* its own memory, so that reading on would be noticed */
		copy = malloc(n + 1);
		memcpy(copy, data, n);
		assert_int_equal(rec_read(copy, n, &r, &c), 0);
		free(copy);
	}
}

/* Any bit of a record's head but what is captured is covered. */
static void
flipped_bits_are_noticed(void **state)
{
	struct rec r = some_rec(3, 24), out;
	const uint8_t *c;
	size_t bit;

	(void)state;
	rec_write(data, &r, "012345678901234567890123");
	for (bit = 0; bit < REC_HEAD * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(rec_read(data, SEG_BLOCK, &out, &c), -1);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(rec_read(data, SEG_BLOCK, &out, &c), SEG_BLOCK);
	memset(data, 0, SEG_BLOCK);
	assert_int_equal(rec_read(data, SEG_BLOCK, &out, &c), -1);
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
		case 0: h.bytes = SEG_DATA + SEG_BLOCK; break;
		case 1: h.bytes = 100; break;
		case 2: h.count = 11; break;
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
	const uint8_t *c;
	struct seg_head h;
	struct rec r, last;
	int32_t size;

	(void)state;
	h = head_of(50, len);
	assert_int_equal(seg_good(&h, data, len, &count, &last), len);
	assert_int_equal(count, 50);
	assert_int_equal(last.delta, 49);
	/* each record in turn is the first that is not right */
	for (n = 0; n < 50; n++) {
		size = rec_read(data + at, len - at, &r, &c);
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

static void
time_and_sequence_go_forward(void **state)
{
	struct seg_head h = head_of(2, 128);
	struct rec a = some_rec(5, 0), b = some_rec(6, 0), last;
	uint32_t count;

	(void)state;
	b.ts = a.ts - 1;
	rec_write(data + rec_write(data, &a, NULL), &b, NULL);
	seg_good(&h, data, 128, &count, &last);
	assert_int_equal(count, 1);
	b.ts = a.ts;
	b.delta = a.delta;
	rec_write(data + rec_write(data, &a, NULL), &b, NULL);
	seg_good(&h, data, 128, &count, &last);
	assert_int_equal(count, 1);
	b.delta++;
	rec_write(data + rec_write(data, &a, NULL), &b, NULL);
	assert_int_equal(seg_good(&h, data, 128, &count, &last), 128);
	b.ts = h.last_ts + 1;
	rec_write(data + rec_write(data, &a, NULL), &b, NULL);
	seg_good(&h, data, 128, &count, &last);
	assert_int_equal(count, 1);
}

static void
summaries_count(void **state)
{
	static struct seg_sum sums[SEG_SUMS];
	uint32_t len, n, i;
	struct rec r;

	(void)state;
	len = fill(90);
	n = seg_summarize(data, len, sums);
	assert_int_equal(n, 3);
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
		r = some_rec(i, 0);
		r.fn = i * 4096;
		len += rec_write(data + len, &r, NULL);
	}
	assert_int_equal(len, SEG_DATA);
	assert_int_equal(seg_summarize(data, len, sums), SEG_SUMS);
	assert_true(seg_sums_good(sums, SEG_SUMS, SEG_RECORDS));
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
