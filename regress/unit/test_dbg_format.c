/* SPDX-License-Identifier: ISC */
/* Answers of the debugger: what fits, what is cut, numbers in other bases. */
/* links: debugger/base/format.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c debugger/text/memtext.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "debugger/text/memtext.h"

static int64_t	asked_max;
static char	refused[64];

bool
op_int(struct op *op, const char *name, bool need, int64_t *value)
{
	(void)op;
	(void)need;
	assert_string_equal(name, "max");
	if (asked_max != 0)
		*value = asked_max;
	return true;
}

void
op_fail(struct op *op, const char *code, const char *fmt, ...)
{
	(void)op;
	(void)fmt;
	snprintf(refused, sizeof(refused), "%s", code);
}

static void
text_is_cut_between_characters(void **state)
{
	(void)state;
	assert_int_equal(format_cut("abc", 3, 5), 3);
	assert_int_equal(format_cut("abc", 3, 2), 2);
	/* two bytes, and four */
	assert_int_equal(format_cut("a\xc3\xa9", 3, 2), 1);
	assert_int_equal(format_cut("a\xf0\x9f\x98\x80", 5, 4), 1);
	assert_int_equal(format_cut("\xc3\xa9", 2, 0), 0);
}

static void
text_becomes_utf8(void **state)
{
	struct json_object *o = jtext_clean("a\xff\x62", 3);

	(void)state;
	assert_string_equal(json_object_get_string(o), "a\xef\xbf\xbd" "b");
	json_object_put(o);
	assert_true(format_is_text("a\tb\n\033[1m", 8));
	assert_false(format_is_text("a\0b", 3));
	assert_false(format_is_text("\xc3", 1));
}

static void
answers_have_a_bound(void **state)
{
	struct json_object *arr = json_object_new_array();
	struct json_object *o = json_object_new_object();
	struct op op = { .refs = 1 };
	struct bound b;
	int64_t n;

	(void)state;
	asked_max = 1024;
	assert_true(bound_init(&b, &op));
	for (n = 0; bound_add(&b, arr, json_object_new_string("0123456789"));
	    n++)
		;
	assert_true(n > 20);
	bound_cut(&b, "things", n, 1000, "a.b", n);
	jput(o, "things", arr);
	bound_done(&b, o);
	assert_true(jsize(o) <= 1024);
	arr = jget_arr(o, "truncated");
	assert_int_equal(jlen(arr), 1);
	assert_int_equal(jget_num(jat(arr, 0), "shown", -1), n);
	assert_int_equal(jget_num(jat(arr, 0), "of", -1), 1000);
	assert_int_equal(jget_num(jat(arr, 0), "offset", -1), n);
	assert_string_equal(jget_str(jat(arr, 0), "path"), "a.b");
	json_object_put(o);
}

static void
sizes_are_those_of_the_text(void **state)
{
	static const char *const texts[] = { "{}", "[]", "{\"a\":[]}", "[1]",
		"[0,-1,9223372036854775807,-9223372036854775808]",
		"[18446744073709551615,1.5,1e300,-0.25,true,false,null]",
		"{\"a\":{\"b\":[[],{}]},\"c\":\"\"}",
		"[\"\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\x7f\"]",
		"{\"k\\n\\u0002\\\"\":\"\xc3\xa9\\u0000x\"}" };
	struct json_object *o;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		o = json_tokener_parse(texts[i]);
		assert_non_null(o);
		(void)json_object_to_json_string_length(o,
		    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
		    &len);
		assert_int_equal(jsize(o), len);
		json_object_put(o);
	}
	assert_int_equal(jsize(NULL), 4);
}

static void
text_is_cut_by_what_it_takes(void **state)
{
	(void)state;
	assert_int_equal(jsize_fit("abc", 3, 3), 3);
	assert_int_equal(jsize_fit("abc", 3, 2), 2);
	assert_int_equal(jsize_fit("a\nb", 3, 2), 1);
	assert_int_equal(jsize_fit("a\nb", 3, 3), 2);
	assert_int_equal(jsize_fit("\001\001", 2, 11), 1);
	assert_int_equal(jsize_fit("\001\001", 2, 12), 2);
	/* two bytes of one character, and what is none */
	assert_int_equal(jsize_fit("\xc3\xa9", 2, 1), 0);
	assert_int_equal(jsize_fit("\xc3\xa9", 2, 2), 2);
	assert_int_equal(jsize_fit("\xe9\xe9", 2, 5), 1);
	assert_int_equal(jsize_fit("\0", 1, 6), 1);
	assert_int_equal(jsize_fit("", 0, 0), 0);
}

static void
bounds_have_bounds(void **state)
{
	static const int64_t bad[] = { 1, 1023, BOUND_MOST + 1, -5 };
	struct op op = { .refs = 1 };
	struct bound b;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		asked_max = bad[i];
		refused[0] = '\0';
		assert_false(bound_init(&b, &op));
		assert_string_equal(refused, "invalid_argument");
	}
	asked_max = 0;
	assert_true(bound_init(&b, &op));
	assert_true(b.max < BOUND_DEFAULT);
}

static void
numbers_are_found(void **state)
{
	static const struct {
		const char	*value;
		int64_t		 n;
	} good[] = { { "42", 42 }, { "-7", -7 }, { "0x2a", 42 },
		{ "0x000000000000002a", 42 }, { "'a'", 'a' },
		{ "'\\x01'", 1 }, { "'\\0'", 0 }, { "97 'a'", 97 },
		{ "010", 10 }, { "18446744073709551615", -1 },
		{ "0x1234 \"text\"", 0x1234 } };
	static const char *const bad[] = { "", "2.5", "abc", "{a:1}", "'",
		"''", "12abc", "\"7\"", "-" };
	int64_t n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(format_number(good[i].value, &n));
		assert_int_equal(n, good[i].n);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (format_number(bad[i], &n))
			fail_msg("%s is no number", bad[i]);
}

static void
bases(void **state)
{
	static const struct {
		enum number_format f;
		const char	*value, *type, *is;
	} rows[] = {
		{ FORMAT_HEX, "255", "int", "0xff" },
		{ FORMAT_HEX, "-1", "int", "0xffffffff" },
		{ FORMAT_HEX, "-1", "short", "0xffff" },
		{ FORMAT_HEX, "-1", "long", "0xffffffffffffffff" },
		{ FORMAT_HEX, "5000000000", "int", "0x12a05f200" },
		{ FORMAT_BINARY, "5", "int", "0b00000101" },
		{ FORMAT_BINARY, "256", "int", "0b0000000100000000" },
		{ FORMAT_BINARY, "-1", "signed char", "0b11111111" },
		{ FORMAT_ADDRESS, "4096", "long", "0x0000000000001000" },
	};
	char out[80];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(format_value(rows[i].f, rows[i].value,
		    rows[i].type, out, sizeof(out)));
		assert_string_equal(out, rows[i].is);
	}
	assert_false(format_value(FORMAT_HEX, "{a:1}", "s", out, sizeof(out)));
	assert_false(format_value(FORMAT_NONE, "1", "int", out, sizeof(out)));
}

static void
memory_is_read_back(void **state)
{
	uint8_t out[16];

	(void)state;
	assert_int_equal(memtext_dump("(lldb) memory read x\n"
	    "0x7ff0: 0x01 0xff 0x00\n0x7ff3: 0x7f\n", out, sizeof(out)), 4);
	assert_memory_equal(out, "\x01\xff\x00\x7f", 4);
	assert_int_equal(memtext_dump("error: no\n", out, sizeof(out)), 0);
	assert_int_equal(memtext_dump("0x0: 0x01 0x02 0x03\n", out, 2), 2);
	assert_string_equal(memtext_error("x\nerror: not mapped"),
	    "not mapped");
	assert_int_equal(memtext_unhex("00 fF7f", out, sizeof(out)), 3);
	assert_memory_equal(out, "\x00\xff\x7f", 3);
	assert_int_equal(memtext_unhex("0", out, sizeof(out)), -1);
	assert_int_equal(memtext_unhex("zz", out, sizeof(out)), -1);
	assert_int_equal(memtext_unhex("0000", out, 1), -1);
}

static void
functions_are_measured(void **state)
{
	uint64_t start = 0;
	int64_t at;

	(void)state;
	assert_int_equal(memtext_function("a.out`main:\n"
	    "    0x1000 <+0>: pushq %rbp\n->  0x1001 <+1>: movq %rsp, %rbp\n"
	    "    0x1004 <+4>: retq\n", &start, &at), 3);
	assert_int_equal(start, 0x1000);
	assert_int_equal(at, 1);
	assert_int_equal(memtext_function("error: none\n", &start, &at), 0);
	assert_int_equal(at, -1);
}

static void
names_are_read(void **state)
{
	static const char *const want[] = { "argc", "argv", "fn", "o" };
	struct json_object *o = memtext_names("(lldb) frame variable\n"
	    "(int) argc = 1\n(char **) argv = 0x00007fff\n"
	    "(int (*)(int)) fn = 0x0000 (a.out`f at a.c:1)\n"
	    "(outer) o = {\n  in = (a = 1, b = 2)\n}\n");
	size_t i;

	(void)state;
	assert_int_equal(jlen(o), 4);
	for (i = 0; i < 4; i++)
		assert_string_equal(json_object_get_string(jat(o, i)),
		    want[i]);
	json_object_put(o);
	o = memtext_names("error: no frame\n");
	assert_int_equal(jlen(o), 0);
	json_object_put(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(text_becomes_utf8),
		cmocka_unit_test(answers_have_a_bound),
		cmocka_unit_test(sizes_are_those_of_the_text),
		cmocka_unit_test(text_is_cut_by_what_it_takes),
		cmocka_unit_test(bounds_have_bounds),
		cmocka_unit_test(numbers_are_found),
		cmocka_unit_test(bases),
		cmocka_unit_test(memory_is_read_back),
		cmocka_unit_test(functions_are_measured),
		cmocka_unit_test(names_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
