/* SPDX-License-Identifier: ISC */
/* links: tracer/base/params.c common/base/json.c common/base/text.c tracer/binary/address.c tracer/syms/symindex.c tracer/base/vec.c */
/* A tracer's requests: what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/binary/address.h"
#include "tracer/base/params.h"
#include "tracer/base/vec.h"

/* -- parameters ----------------------------------------------------------- */

struct args {
	const char	*s;
	struct json_object *list, *pairs, *object;
	bool		 b;
	int64_t		 n;
};

static const struct param table[] = {
	{ "s", PARAM_STRING, offsetof(struct args, s), false, 0, 5 },
	{ "list", PARAM_STRINGS, offsetof(struct args, list), false, 0, 2 },
	{ "pairs", PARAM_PAIRS, offsetof(struct args, pairs), false, 0, 0 },
	{ "object", PARAM_OBJECT, offsetof(struct args, object), false, 0, 0 },
	{ "b", PARAM_BOOL, offsetof(struct args, b), false, 0, 0 },
	{ "n", PARAM_NUMBER, offsetof(struct args, n), false, -1, 10 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
}, needs[] = {
	{ "s", PARAM_STRING, offsetof(struct args, s), true, 0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
}, nothing[] = {
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static struct json_object *json;
static char why[PARAMS_WHY];

static int
take(const char *text, const struct param *t, struct args *a)
{
	json_object_put(json);
	json = json_tokener_parse(text);
	assert_non_null(json);
	memset(a, 0, sizeof(*a));
	a->n = 7;
	why[0] = '\0';
	return params_read(json, "ask", t, a, why);
}

static void
what_is_right_is_taken(void **state)
{
	struct args a;

	(void)state;
	assert_int_equal(take("{}", table, &a), 0);
	assert_true(a.s == NULL && a.list == NULL && !a.b && a.n == 7);
	assert_int_equal(params_read(NULL, "ask", table, &a, why), 0);
	assert_int_equal(take("{\"s\":\"\xc3\xa4\xc3\xb6\",\"list\":[\"a\",\"\"],"
	    "\"pairs\":{\"A\":\"1\",\"B\":\"\"},\"object\":{\"x\":[1]},"
	    "\"b\":true,\"n\":-1}", table, &a), 0);
	assert_string_equal(a.s, "\xc3\xa4\xc3\xb6");
	assert_int_equal(json_object_array_length(a.list), 2);
	assert_int_equal(json_object_object_length(a.pairs), 2);
	assert_non_null(a.object);
	assert_true(a.b && a.n == -1);
	/* what clients make of numbers, and of what they do not give */
	assert_int_equal(take("{\"n\":3.0,\"s\":null,\"b\":null}", table, &a),
	    0);
	assert_true(a.n == 3 && a.s == NULL);
	assert_int_equal(take("{\"sessionId\":\"x\"}", nothing, &a), 0);
}

static void
refused(const char *text, const struct param *t, const char *words)
{
	struct args a;

	assert_int_equal(take(text, t, &a), -1);
	assert_string_equal(why, words);
}

static void
what_is_wrong_is_named(void **state)
{
	(void)state;
	refused("{\"S\":1}", table, "ask has no \"S\"; it takes s, list, pairs, "
	    "object, b, n");
	refused("{\"x\":1}", nothing, "ask has no \"x\"; it takes nothing");
	refused("{\"a\\u001b[m\":1}", nothing, "ask has no \"a\\x1b[m\"; it "
	    "takes nothing");
	refused("{}", needs, "ask needs \"s\", a string");
	refused("{\"s\":null}", needs, "ask needs \"s\", a string");
	refused("{\"s\":1}", table, "\"s\" of ask must be a string, at most 5 "
	    "bytes");
	refused("{\"s\":\"123456\"}", table, "\"s\" of ask must be a string, at "
	    "most 5 bytes");
	refused("{\"s\":\"a\\u0000b\"}", table, "\"s\" of ask must be a string, "
	    "at most 5 bytes");
	refused("{\"list\":\"a\"}", table, "\"list\" of ask must be a list of "
	    "strings, at most 2 of them");
	refused("{\"list\":[\"a\",1]}", table, "\"list\" of ask must be a list "
	    "of strings, at most 2 of them");
	refused("{\"list\":[\"a\",\"b\",\"c\"]}", table, "\"list\" of ask must "
	    "be a list of strings, at most 2 of them");
	refused("{\"list\":[\"a\\u0000\"]}", table, "\"list\" of ask must be a "
	    "list of strings, at most 2 of them");
	refused("{\"pairs\":{\"A\":1}}", table, "\"pairs\" of ask must be an "
	    "object of strings");
	refused("{\"pairs\":{\"A=B\":\"1\"}}", table, "\"pairs\" of ask must be "
	    "an object of strings");
	refused("{\"pairs\":{\"\":\"1\"}}", table, "\"pairs\" of ask must be an "
	    "object of strings");
	refused("{\"object\":[]}", table, "\"object\" of ask must be an object");
	refused("{\"b\":1}", table, "\"b\" of ask must be true or false");
	refused("{\"n\":\"1\"}", table, "\"n\" of ask must be a whole number "
	    "from -1 to 10");
	refused("{\"n\":11}", table, "\"n\" of ask must be a whole number from "
	    "-1 to 10");
	refused("{\"n\":1.5}", table, "\"n\" of ask must be a whole number from "
	    "-1 to 10");
	refused("{\"n\":1e300}", table, "\"n\" of ask must be a whole number "
	    "from -1 to 10");
}

/* However long the name of what is not there. */
static void
words_have_a_bound(void **state)
{
	char text[2000];
	struct args a;

	(void)state;
	(void)snprintf(text, sizeof(text), "{\"%01500d\":1}", 0);
	assert_int_equal(take(text, table, &a), -1);
	assert_true(strlen(why) < PARAMS_WHY);
	assert_int_equal(strncmp(why, "ask has no \"0000", 16), 0);
	json_object_put(json);
	json = NULL;
}

/* -- addresses, arguments ------------------------------------------------- */

const char *
binary_name(const struct binary *b)
{
	const char *slash = strrchr(b->path, '/');

	return slash == NULL ? b->path : slash + 1;
}

uint64_t
module_bias(const struct module *m)
{
	return m->base;
}

static void
addresses_have_two_forms(void **state)
{
	static const char *const good[] = { "0x4011d6", "0X1", "0x0",
	    "libx.so.1+0x10", "main+4", "operator++0", "a b+0xff" },
	    *const bad[] = { "", "0x", "401136", "main", "+1", "main+", "main+x",
	    "0x12g", "main+-1", "main+0x1ffffffffffffffff", "0x 1", "-0x1" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(address_is_one(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(address_is_one(bad[i]));
}

static void
addresses_are_found_in_modules(void **state)
{
	const struct sym_header h = { .nfuncs = 0 };
	struct binary exe = { .path = (char *)(uintptr_t)"/a/prog",
	    .state = BINARY_READY, .ix = { .header = &h } }, lib = exe;
	struct module m[2] = { { &exe, 0x555000, 0x556000, true },
	    { &lib, 0x7f0000, 0x7f8000, false } };
	struct process p = { .modules = m, .nmodules = 2 };
	uint64_t addr = 0;

	(void)state;
	lib.path = (char *)(uintptr_t)"/b/libx.so";
	assert_ptr_equal(address_find(&p, "0x7f0010", &addr), &m[1]);
	assert_int_equal(addr, 0x10);
	/* as a disassembler shows it */
	assert_ptr_equal(address_find(&p, "0x20", &addr), &m[0]);
	assert_int_equal(addr, 0x20);
	assert_ptr_equal(address_find(&p, "libx.so+0x30", &addr), &m[1]);
	assert_int_equal(addr, 0x30);
	assert_null(address_find(&p, "0x99999999", &addr));
	assert_null(address_find(&p, "liby.so+0", &addr));
	/* what has not been read yet is nowhere */
	lib.state = BINARY_READING;
	assert_null(address_find(&p, "libx.so+0x30", &addr));
}

static void
vectors_end_with_null(void **state)
{
	struct vec v = { .bytes = 0 };
	char word[16];
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		(void)snprintf(word, sizeof(word), "%d", i);
		if (i % 2 == 0)
			vec_add(&v, word);
		else
			vec_pair(&v, "N", word);
		assert_null(v.v[v.n]);
	}
	assert_int_equal(v.n, 100);
	assert_string_equal(v.v[98], "98");
	assert_string_equal(v.v[99], "N=99");
	assert_int_equal(v.bytes, 5 * 2 + 5 * 4 + 45 * 3 + 45 * 5);
	vec_free(&v);
	assert_null(v.v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_right_is_taken),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(words_have_a_bound),
		cmocka_unit_test(addresses_have_two_forms),
		cmocka_unit_test(addresses_are_found_in_modules),
		cmocka_unit_test(vectors_end_with_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
