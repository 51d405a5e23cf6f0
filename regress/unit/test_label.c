/* SPDX-License-Identifier: ISC */
/* Labels that sessions may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "wire/label.h"
#include "wire/proto.h"

static void
labels(void **state)
{
	static const struct {
		const char	*text;
		bool		 good;
	} rows[] = {
		{ "", true }, { "a", true }, { "work", true },
		{ "build-shell.2_x", true }, { "Z9", true }, { "...", true },
		/* as short as no beginning of an id */
		{ "caf", true }, { "123", true }, { "a-b", true },
		{ "cafe", false }, { "1234", false }, { "dead-beef", false },
		{ "CAFE", false }, { "----", false }, { "cafex", true },
		{ "a b", false }, { "a/b", false }, { "a\n", false },
		{ "\xc3\xa4", false }, { "a'b", false }, { "a:b", false },
	};
	char most[LABEL_MAX + 1];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(label_is_good(rows[i].text,
		    strlen(rows[i].text)), rows[i].good);
	memset(most, 'x', sizeof(most));
	assert_true(label_is_good(most, LABEL_MAX));
	assert_false(label_is_good(most, LABEL_MAX + 1));
	assert_false(label_is_good("x\0y", 3));
}

static void
of_programs(void **state)
{
	static const struct {
		const char	*path, *label;
	} rows[] = {
		{ "/usr/bin/my app", "my_app-2026-02-05-14h32" },
		{ "prog", "prog-2026-02-05-14h32" },
		{ "/", "program-2026-02-05-14h32" },
		{ "gr\u00f6\u00dfe;$(x)", "gr____e___x_-2026-02-05-14h32" },
	};
	char label[LABEL_MAX + 1], path[4096];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		label_for_program(rows[i].path, 1770301920, label);
		assert_string_equal(label, rows[i].label);
		assert_true(label_is_good(label, strlen(label)));
	}
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	label_for_program(path, 1770301920, label);
	assert_int_equal(strlen(label), LABEL_MAX - 5);
}

static void
paths(void **state)
{
	static const struct {
		const char	*given, *file;
	} rows[] = {
		{ "/usr/bin/busybox", "/usr/bin/busybox" },
		{ "/home/a b/caf\303\251", "/home/a b/caf\303\251" },
		{ "usr/bin/busybox", "busybox" }, { "busybox", "busybox" },
		{ "", "" }, { "/", "" }, { "/usr/bin/", "" },
		{ "/usr/..", "" }, { "/usr/.", "" }, { "/x", "/x" },
		/* no such file: its name is made of what is shown */
		{ "/usr/bin/a\nb", "a_b" }, { "/usr/\033/ab", "ab" },
		{ "/usr/\302\233/ab", "ab" }, { "/usr/\377/ab", "ab" },
	};
	char file[EXEC_PATH_MAX], long_one[EXEC_PATH_MAX + 1];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		label_file(rows[i].given, strlen(rows[i].given), file);
		assert_string_equal(file, rows[i].file);
	}
	memset(long_one, '/', sizeof(long_one));
	long_one[EXEC_PATH_MAX - 2] = 'x';
	label_file(long_one, EXEC_PATH_MAX - 1, file);
	assert_int_equal(strlen(file), EXEC_PATH_MAX - 1);
	long_one[EXEC_PATH_MAX - 1] = 'x';
	label_file(long_one, EXEC_PATH_MAX, file);
	assert_string_equal(file, "xx");
	/* a name that is too long for one */
	memset(long_one + 1, 'n', FILE_NAME_LEN + 1);
	label_file(long_one, FILE_NAME_LEN + 2, file);
	assert_int_equal(strlen(file), FILE_NAME_LEN);
}

static void
file_names(void **state)
{
	static const struct {
		const char	*given, *name;
	} rows[] = {
		{ "busybox", "busybox" }, { "/usr/bin/busybox", "busybox" },
		{ "a/b/", "" }, { "", "" }, { ".", "" }, { "..", "" },
		{ "x/..", "" }, { "...", "..." }, { "a b", "a b" },
		{ "caf\303\251", "caf\303\251" }, { "a\nb\tc\177", "a_b_c_" },
		{ "\033[31mred", "_[31mred" },
		/* C1, which terminals act on as well */
		{ "a\302\233b", "a_b" }, { "a\377\303", "a__" },
	};
	char name[FILE_NAME_LEN + 1], long_one[FILE_NAME_LEN + 10];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		label_file_name(rows[i].given, strlen(rows[i].given), name);
		assert_string_equal(name, rows[i].name);
	}
	label_file_name("a\0b", 3, name);
	assert_string_equal(name, "a_b");
	memset(long_one, 'x', sizeof(long_one));
	label_file_name(long_one, sizeof(long_one), name);
	assert_int_equal(strlen(name), FILE_NAME_LEN);
	/* no half of a character at the end */
	memcpy(long_one + FILE_NAME_LEN - 1, "\303\251", 2);
	label_file_name(long_one, sizeof(long_one), name);
	assert_int_equal(strlen(name), FILE_NAME_LEN - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels),
		cmocka_unit_test(file_names),
		cmocka_unit_test(paths),
		cmocka_unit_test(of_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
