/* SPDX-License-Identifier: ISC */
/* Numbers and text that a variable is to have. */
/* links: debugger/text/scalar.c debugger/text/copy.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/text/scalar.h"

/* The most and the least of each size fit, and what is beyond does not. */
static void
integers_fit_their_types(void **state)
{
	static const struct {
		const char	*text;
		size_t		 bytes;
		bool		 is_signed, fits;
	} rows[] = {
		{ "127", 1, true, true }, { "128", 1, true, false },
		{ "-128", 1, true, true }, { "-129", 1, true, false },
		{ "255", 1, false, true }, { "256", 1, false, false },
		{ "-1", 1, false, false }, { "-0", 1, false, true },
		{ "0x7fff", 2, true, true }, { "0x8000", 2, true, false },
		{ "-2147483648", 4, true, true },
		{ "2147483648", 4, true, false },
		{ "18446744073709551615", 8, false, true },
		{ "18446744073709551616", 8, false, false },
		{ "-9223372036854775808", 8, true, true },
		{ "9223372036854775808", 8, true, false },
		{ "170141183460469231731687303715884105727", 16, true, true },
		{ "170141183460469231731687303715884105728", 16, true, false },
		{ "-170141183460469231731687303715884105728", 16, true, true },
		{ "340282366920938463463374607431768211455", 16, false, true },
	};
	struct scalar n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(scalar_parse(rows[i].text, &n));
		assert_int_equal(scalar_fits(&n, rows[i].bytes,
		    rows[i].is_signed), rows[i].fits);
	}
}

static void
what_is_no_integer_is_none(void **state)
{
	static const char *const bad[] = { "", "-", "0x", "1 ", " 1", "1.0",
		"1e3", "a", "12a", "--1",
		"340282366920938463463374607431768211456" };
	struct scalar n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(scalar_parse(bad[i], &n));
}

static void
integers_are_written_and_compared_by_their_bytes(void **state)
{
	char out[SCALAR_TEXT];
	struct scalar a, b;

	(void)state;
	assert_true(scalar_parse("-1", &a) && scalar_parse("255", &b));
	assert_true(scalar_same(&a, &b, 1));
	assert_false(scalar_same(&a, &b, 2));
	scalar_write(&b, out, sizeof(out));
	assert_string_equal(out, "0xffULL");
	scalar_write(&a, out, sizeof(out));
	assert_string_equal(out, "(long long)0xffffffffffffffffULL");
	assert_true(scalar_parse("18446744073709551616", &a));
	scalar_write(&a, out, sizeof(out));
	assert_string_equal(out,
	    "((unsigned __int128)0x1ULL << 64 | 0x0ULL)");
}

static void
floats_keep_the_precision_of_their_type(void **state)
{
	char digits[SCALAR_TEXT], out[SCALAR_TEXT];

	(void)state;
	assert_true(scalar_float("0.100000001", "float", digits, out,
	    sizeof(out)));
	assert_true(scalar_float_same(digits, "0.10000000149011612", 8));
	assert_false(scalar_float_same(digits, "0.1", 8));
	assert_true(scalar_float_same(digits, "0.1", 4));
	assert_true(scalar_float("-inf", "", digits, out, sizeof(out)));
	assert_string_equal(out, "-__builtin_inf()");
	assert_true(scalar_float("nan", "", digits, out, sizeof(out)));
	assert_true(scalar_float_same(digits, "NaN", 4));
	assert_true(scalar_float_beyond("1e300", 4));
	assert_true(scalar_float_beyond("1e-60", 4));
	assert_false(scalar_float_beyond("1e300", 8));
	assert_false(scalar_float_beyond("inf", 4));
	assert_false(scalar_float("1.5x", "", digits, out, sizeof(out)));
}

static void
text_has_its_escapes(void **state)
{
	static const char *const bad[] = { "", "a", "\"a", "\"a\"b",
		"\"\\q\"", "\"\\x\"", "\"\\777\"", "\"\\\"" };
	char *s;
	size_t len, i;

	(void)state;
	s = scalar_text("\"a\\n\\t\\\\\\\"\\x41\\101\\0z\"", &len);
	assert_non_null(s);
	assert_int_equal(len, 9);
	assert_memory_equal(s, "a\n\t\\\"AA\0z", 10);
	free(s);
	s = scalar_text("\"\"", &len);
	assert_non_null(s);
	assert_int_equal(len, 0);
	free(s);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(scalar_text(bad[i], &len));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_fit_their_types),
		cmocka_unit_test(what_is_no_integer_is_none),
		cmocka_unit_test(
		    integers_are_written_and_compared_by_their_bytes),
		cmocka_unit_test(floats_keep_the_precision_of_their_type),
		cmocka_unit_test(text_has_its_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
