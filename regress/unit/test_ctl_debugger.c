/* SPDX-License-Identifier: ISC */
/* debugger's own parsing: places, framing, versions, commands' names. */
/* links: client/debugger/build.c client/lib/environment.c client/lib/args.c client/lib/options.c client/debugger/options.c client/lib/report.c client/lib/safe.c client/lib/reply.c -lbsd */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/debugger/build.h"
#include "client/debugger/options.h"
#include "client/lib/environment.h"
#include "client/lib/report.h"

static void
place(const char *text, const char *wanted)
{
	struct json_object *o = json_object_new_object();

	assert_int_equal(place_add(o, text), 0);
	assert_string_equal(json_object_to_json_string_ext(o,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
	    wanted);
	json_object_put(o);
}

static void
test_places(void **state)
{
	(void)state;
	place("x.c:12", "{\"line\":12,\"file\":\"x.c\"}");
	place("a b/x.c:1", "{\"line\":1,\"file\":\"a b/x.c\"}");
	place("c:x:7", "{\"line\":7,\"file\":\"c:x\"}");
	place("42", "{\"line\":42}");
	place("main", "{\"function\":\"main\"}");
	place("ns::f", "{\"function\":\"ns::f\"}");
	place("a::b:9", "{\"line\":9,\"file\":\"a::b\"}");
	place("operator<<", "{\"function\":\"operator<<\"}");
	place("f if x > 1",
	    "{\"condition\":\"x > 1\",\"function\":\"f\"}");
	place("x.c:3 if a if b",
	    "{\"condition\":\"a if b\",\"line\":3,\"file\":\"x.c\"}");
	place("/dev/null:2", "{\"line\":2,\"file\":\"/dev/null\"}");
}

static void
test_wrong_places(void **state)
{
	static const char *const wrong[] = { "", " if x", "x.c:", "x.c:0",
		"0", "x.c:99999999999", "\xff" };
	struct json_object *o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		o = json_object_new_object();
		report_hold();
		assert_int_equal(place_add(o, wrong[i]), -1);
		free(report_release());
		json_object_put(o);
	}
}

static void
test_paths(void **state)
{
	char cwd[4096], *path;

	(void)state;
	assert_int_equal(chdir("/"), 0);
	path = path_absolute("a/b");
	assert_string_equal(path, "/a/b");
	free(path);
	path = path_absolute("././a");
	assert_string_equal(path, "/a");
	free(path);
	path = path_absolute("/x/../y");
	assert_string_equal(path, "/x/../y");
	free(path);
	assert_int_equal(chdir("/usr"), 0);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	path = path_absolute("");
	assert_string_equal(path, cwd);
	free(path);
	path = path_absolute("bin/x");
	assert_string_equal(path, "/usr/bin/x");
	free(path);
}

static void
test_words(void **state)
{
	char a[] = "x", b[] = "+ 1", c[] = "", *words[] = { a, b, c, NULL };
	char *text = words_join(3, words);

	(void)state;
	assert_string_equal(text, "x + 1 ");
	free(text);
	text = words_join(0, words);
	assert_string_equal(text, "");
	free(text);
}

/* Numbers with a sign are words, whatever else begins with a dash. */
static void
test_options(void **state)
{
	char x[] = "x", minus[] = "-1", json[] = "--json", e[] = "-eA=1",
	    env[] = "--env", v[] = "B=2", end[] = "--", dash[] = "-z";
	char *argv[] = { x, minus, json, e, env, v, end, dash, NULL };
	char *words[8];
	struct options o = { { NULL }, { { NULL, 0 } } };

	(void)state;
	options_use(&dbg_options);
	assert_int_equal(options_parse(&o, DOPT(JSON) | DOPT(ENV), 0, 8, argv,
	    words), 3);
	assert_string_equal(words[1], "-1");
	assert_string_equal(words[2], "-z");
	assert_true(opt_given(&o, DOPT_JSON));
	assert_int_equal(o.list[DLIST_ENV].n, 2);
	assert_string_equal(o.list[DLIST_ENV].value[0], "A=1");
	assert_string_equal(o.list[DLIST_ENV].value[1], "B=2");
	options_clear(&o);
}

/* A letter means one thing for each command that has it. */
static void
test_option_table(void **state)
{
	unsigned int i;

	(void)state;
	assert_true(dbg_options.count <= OPTIONS_MAX);
	for (i = 0; i < dbg_options.count; i++)
		assert_non_null(dbg_options.specs[i].name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_wrong_places),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_option_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
