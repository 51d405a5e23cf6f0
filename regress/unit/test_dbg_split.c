/* SPDX-License-Identifier: ISC */
/* lldb's output for functions of two parts, and the commands it is sent. */
/* links: debugger/bps/split.c debugger/dap/repl.c debugger/text/copy.c debugger/text/json_get.c debugger/text/json_make.c common/base/log.c debugger/text/json_size.c debugger/text/clean.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/bps/split.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/json_get.h"

static char told[1024];

const struct dialect *
dialect(void)
{
	static const struct dialect lldb = { .command_prefix = "`" };

	return &lldb;
}

void
adapter_ask(const char *command, struct json_object *args, struct op *op,
    dap_fn fn, void *arg)
{
	(void)op;
	(void)fn;
	(void)arg;
	assert_string_equal(command, "evaluate");
	assert_string_equal(jget_str(args, "context"), "repl");
	(void)snprintf(told + strlen(told), sizeof(told) - strlen(told),
	    "%s\n", jget_str(args, "expression"));
	json_object_put(args);
}

static int
setup(void **state)
{
	(void)state;
	told[0] = '\0';
	return 0;
}

static void
names_are_no_patterns(void **state)
{
	char name[2000];

	(void)state;
	split_look(NULL, "ns::f(int, char *)", NULL, NULL);
	assert_string_equal(told, "`image lookup -v -r -s '(^|[^A-Za-z0-9_])"
	    "ns::f.int..char...([^A-Za-z0-9_].*)?[.]cold'\n");
	told[0] = '\0';
	split_look(NULL, "a'; platform shell id\n", NULL, NULL);
	assert_null(strchr(told, ';'));
	told[0] = '\0';
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	split_look(NULL, name, NULL, NULL);
	assert_non_null(strstr(told, "x([^A-Za-z0-9_].*)?[.]cold'"));
}

static void
parts_are_read(void **state)
{
	char many[8192] = "";
	struct split s;
	int i;

	(void)state;
	split_read(&s, NULL);
	assert_int_equal(s.n, 0);
	split_read(&s, "(lldb) image lookup -s 'f.*[.]cold'\n");
	assert_int_equal(s.n, 0);
	split_read(&s, "       Symbol: id = {0x01}, range = [0x0000555555555157"
	    "-0x0000555555555167), name=\"f (.cold)\"\n"
	    "     Variable: id = {0x02}, range = [0x1-0x2)\n"
	    "       Symbol: id = {0x03}, name=\"g\"\n"
	    "       Symbol: id = {0x04}, range = [0x7ae2-0x7bba)");
	assert_int_equal(s.n, 2);
	assert_int_equal(s.cold[0], 0x555555555157);
	assert_int_equal(s.cold[1], 0x7ae2);
	for (i = 0; i < 100; i++)
		strcat(many, " Symbol: id, range = [0x10-0x20)\n");
	split_read(&s, many);
	assert_int_equal(s.n, SPLIT_MOST);
}

static void
places_of_cold_parts_go(void **state)
{
	static const char before[] = "(lldb) breakpoint list -v 12\n"
	    "12: name = 'f'\n"
	    "    12.1: \n"
	    "      module = /a/b 12.7:x\n"
	    "      location = /usr/include/c++/12/bits/basic_string.h:795:19\n"
	    "      address = b[0x0000000000007ae2]\n\n"
	    "    12.2: \n"
	    "      location = /a/b.cc:187:36\n"
	    "      address = b[0x00000000000496c0]\n\n"
	    "    12.3: \n"
	    "      location = /a/c.cc:9\n"
	    "      address = b[0x0000000000050000]\n";
	static const char running[] = "1: name = 'f'\n\n"
	    "    Breakpoint Options:\n"
	    "      ignore: 1 enabled         1.1: \n"
	    "          address = 0x0000000000007ae2\n\n"
	    "    1.2: \n"
	    "      address = 0x00000000000496c0\n";
	const struct split s = { .n = 2, .cold = { 0x10, 0x7ae2 } };
	struct split_place at;

	(void)state;
	assert_true(split_take(NULL, &s, 12, before, &at));
	assert_string_equal(told, "`breakpoint disable 12.1\n");
	assert_string_equal(at.file, "/a/b.cc");
	assert_int_equal(at.line, 187);
	assert_int_equal(at.address, 0);
	free(at.file);

	told[0] = '\0';
	assert_true(split_take(NULL, &s, 1, running, &at));
	assert_string_equal(told, "`breakpoint disable 1.1\n");
	assert_null(at.file);
	assert_int_equal(at.address, 0x496c0);
}

/* A breakpoint that nobody has named must not go as a whole. */
static void
other_texts_change_nothing(void **state)
{
	static const char *const texts[] = { "", "\n\n", "address = ",
		" address = 0x7ae2", "1.1: \n address = x\n",
		" 2.1: \n address = 0x7ae2\n", " 1.: \n address = 0x7ae2\n",
		" location = :::\n 1.1: \n address = 0x", " location = \n" };
	const struct split s = { .n = 1, .cold = { 0x7ae2 } };
	struct split_place at;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		at.file = NULL;
		if (split_take(NULL, &s, 1, texts[i], &at))
			free(at.file);
		assert_string_equal(told, "");
	}
}

/* Adapters repeat what the program has them say. */
static void
commands_are_bounded(void **state)
{
	const struct split s = { .n = 1, .cold = { 0x7ae2 } };
	struct split_place at;
	char text[100 * 40] = "";
	const char *p;
	size_t n = 0;
	int i;

	(void)state;
	for (i = 1; i <= 99; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
		    "  1.%d: \n address = 0x7ae2\n", i);
	assert_false(split_take(NULL, &s, 1, text, &at));
	for (p = told; (p = strchr(p, '\n')) != NULL; p++)
		n++;
	assert_int_equal(n, SPLIT_MOST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_are_no_patterns, setup),
		cmocka_unit_test_setup(parts_are_read, setup),
		cmocka_unit_test_setup(places_of_cold_parts_go, setup),
		cmocka_unit_test_setup(other_texts_change_nothing, setup),
		cmocka_unit_test_setup(commands_are_bounded, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
