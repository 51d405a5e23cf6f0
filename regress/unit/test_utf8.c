/* SPDX-License-Identifier: ISC */
/* UTF-8: every sequence of RFC 3629, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/utf8.h"

/* The sequence that stands for c, made by the RFC's table. */
static size_t
encode(uint32_t c, unsigned char p[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (i = n - 1; i > 0; i--, c >>= 6)
		p[i] = (unsigned char)(0x80 | (c & 0x3f));
	p[0] = (unsigned char)(leads[n] | c);
	return n;
}

static void
every_character_is_read(void **state)
{
	unsigned char p[4];
	uint32_t c, got;
	size_t n;

	(void)state;
	for (c = 0; c < 0x120000; c++) {
		n = encode(c, p);
		if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
			assert_int_equal(utf8_length(p, n), 0);
			assert_int_equal(utf8_decode(p, n, &got), 0);
			continue;
		}
		assert_int_equal(utf8_length(p, n), (int)n);
		assert_int_equal(utf8_decode(p, n, &got), n);
		assert_int_equal(got, c);
		if (n == 1)
			continue;
		assert_int_equal(utf8_length(p, n - 1), -1);
		assert_int_equal(utf8_sequence(p, n - 1), 0);
		assert_true(utf8_decode(p, n - 1, &got) == UTF8_INCOMPLETE);
		assert_int_equal(utf8_unfinished(p, n - 1), n - 1);
	}
}

static void
long_forms_are_none(void **state)
{
	static const char *const bad[] = { "\xc0\x80", "\xc1\xbf",
		"\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf", "\xf8\x88\x80\x80", "\x80", "\xbf", "\xff",
		"\xc3(", "\xe2\x82(", "\xf0\x9f\x98(" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(utf8_length(bad[i], strlen(bad[i])), 0);
		assert_false(utf8_valid(bad[i], strlen(bad[i])));
	}
}

static void
characters_stay_whole(void **state)
{
	static const struct {
		const char *s;
		size_t begun;
	} rows[] = {
		{ "abc", 0 }, { "a\xc3\xa9", 0 }, { "a\xc3", 1 },
		{ "\xe2\x82", 2 }, { "\xf0\x9f\x98", 3 }, { "x\xf0", 1 },
		{ "\xe0", 1 }, { "\xed", 1 }, { "\xff", 0 }, { "a\x80", 0 },
		{ "\xf0\x9f\x98\x80", 0 }, { "\xed\xa0", 0 }, { "", 0 },
		{ "\xe0\x80", 0 }, { "\x80\x80\x80\x80", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(utf8_unfinished(rows[i].s,
		    strlen(rows[i].s)), rows[i].begun);
}

static void
text_is_valid_or_not(void **state)
{
	(void)state;
	assert_true(utf8_valid("", 0));
	assert_true(utf8_valid("a\0b", 3));
	assert_true(utf8_valid("gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80", 16));
	assert_false(utf8_valid("gr\xc3", 3));
	assert_int_equal(utf8_length("", 0), -1);
	assert_int_equal(utf8_sequence("", 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_character_is_read),
		cmocka_unit_test(long_forms_are_none),
		cmocka_unit_test(characters_stay_whole),
		cmocka_unit_test(text_is_valid_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
