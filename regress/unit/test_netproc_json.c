/* SPDX-License-Identifier: ISC */
/* The JSON writer: shapes, escapes, bytes that are not UTF-8, bounds. */
/* links: common/base/json.c common/base/text.c netproc/text/text64.c common/base/base64.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "netproc/text/text64.h"

#define BAD	"\xef\xbf\xbd"

static struct text t = { .max = 1 << 20 };

static const char *
result(void)
{
	text_put(&t, "", 1);
	assert_false(t.bad);
	return t.p;
}

static void
test_shapes(void **state)
{
	(void)state;
	text_reset(&t, 0);
	json_open(&t, '{');
	json_key(&t, "a");
	json_u64(&t, UINT64_MAX);
	json_key(&t, "b");
	json_open(&t, '[');
	json_close(&t, ']');
	json_key(&t, "c");
	json_open(&t, '[');
	json_text(&t, "x");
	json_raw(&t, "null");
	json_open(&t, '[');
	json_u64(&t, 0);
	json_text(&t, "[{:");
	json_close(&t, ']');
	json_text(&t, "");
	json_close(&t, ']');
	json_close(&t, '}');
	assert_string_equal(result(), "{\"a\":18446744073709551615,\"b\":[],"
	    "\"c\":[\"x\",null,[0,\"[{:\"],\"\"]}");
}

static void
is_string(const char *in, size_t len, const char *want)
{
	text_reset(&t, 0);
	json_string(&t, in, len);
	assert_string_equal(result(), want);
}

#define EXPECT(in, want)	is_string((in), sizeof(in) - 1, (want))

static void
test_escapes(void **state)
{
	(void)state;
	EXPECT("", "\"\"");
	EXPECT("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	EXPECT("\n\r\t\b\f", "\"\\n\\r\\t\\b\\f\"");
	EXPECT("\0\x01\x1f", "\"\\u0000\\u0001\\u001f\"");
	EXPECT("\x7f", "\"\\u007f\"");
}

static void
test_utf8(void **state)
{
	(void)state;
	EXPECT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* the last of each length, and the first beyond */
	EXPECT("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"");
	EXPECT("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");
	EXPECT("\xc0\x80", "\"" BAD BAD "\"");
	EXPECT("\xe0\x80\x80", "\"" BAD BAD BAD "\"");
	EXPECT("\xed\xa0\x80", "\"" BAD BAD BAD "\"");
	EXPECT("\xff" "a\x80", "\"" BAD "a" BAD "\"");
	EXPECT("a\xe2\x82", "\"a" BAD BAD "\"");
	EXPECT("\xe2\x82z", "\"" BAD BAD "z\"");
}

/* A character that is cut in two by the end of a piece stays whole. */
static void
test_pieces(void **state)
{
	const char all[] = "a\xe2\x82\xac" "b\xf0\x9f\x98\x80" "c\xc3";
	size_t len = sizeof(all) - 1, piece, at, n;

	(void)state;
	for (piece = 4; piece <= len; piece++) {
		text_reset(&t, 0);
		for (at = 0; at < len; at += n) {
			n = len - at < piece ? len - at : piece;
			n = json_escape(&t, all + at, n, at + n < len);
			assert_true(n > 0);
		}
		assert_string_equal(result(), "a\xe2\x82\xac"
		    "b\xf0\x9f\x98\x80" "c" BAD);
	}
}

static void
test_unfinished(void **state)
{
	(void)state;
	assert_int_equal(utf8_unfinished("", 0), 0);
	assert_int_equal(utf8_unfinished("abc", 3), 0);
	assert_int_equal(utf8_unfinished("a\xc3", 2), 1);
	assert_int_equal(utf8_unfinished("a\xe2\x82", 3), 2);
	assert_int_equal(utf8_unfinished("\xf0\x9f\x98", 3), 3);
	assert_int_equal(utf8_unfinished("\xf0\x9f\x98\x80", 4), 0);
	assert_int_equal(utf8_unfinished("\xe2\x82\xac", 3), 0);
	/* never to be finished, so not waited for */
	assert_int_equal(utf8_unfinished("\x80\x80\x80", 3), 0);
	assert_int_equal(utf8_unfinished("\xff", 1), 0);
	assert_int_equal(utf8_unfinished("\xe0\x80", 2), 0);
}

static void
test_base64(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xfe\xfd", "//79" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		text_reset(&t, 0);
		text_base64(&t, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(result(), pairs[i][1]);
	}
}

/* A value that does not fit is left out as a whole, and bad stays set. */
static void
test_bounds(void **state)
{
	struct text small = { .max = 600 };
	char bytes[600];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	text_put(&small, bytes, 600);
	assert_false(small.bad);
	assert_int_equal(small.len, 600);
	text_put(&small, "y", 1);
	assert_true(small.bad);
	assert_int_equal(small.len, 600);
	text_put(&small, "", 0);
	assert_null(text_room(&small, SIZE_MAX));
	text_reset(&small, 600);
	assert_false(small.bad);
	assert_null(text_room(&small, SIZE_MAX));
	text_reset(&small, 0);
	assert_null(small.p);
	json_string(&small, "\x01\x01", 2);
	assert_int_equal(small.len, 14);
	text_free(&small);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
