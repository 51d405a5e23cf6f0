/* SPDX-License-Identifier: ISC */
/* Source files: found, cut into lines; parameters read from declarations. */
/* links: debugger/view/source.c debugger/view/extent.c debugger/view/diff.c debugger/text/copy.c debugger/base/format.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include <json-c/json.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/text/json_get.h"
#include "debugger/view/diff.h"
#include "debugger/view/extent.h"
#include "debugger/view/source.h"

#include "test_dbg_op.h"
#include "test_tmp.h"

static char	dir[128];

static const char *
in_dir(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
put(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
set_up(void **state)
{
	(void)state;
	if (tmp_dir(dir, sizeof(dir), "dl-source-XXXXXX") == -1)
		return -1;
	mkdir(in_dir("src"), 0700);
	put("src/a.c", "one\r\ntwo\n\nfour");
	put("empty", "");
	put("p.py", "def add(a, b=f(1, 2), *rest,\n    **kw):\n    x = 1\n");
	put("m.go", "func (in *In) Add(a, b int, n ...string) (int, error) {\n"
	    "\treturn 0\n}\n\nfunc main() {\n\tAdd(1)\n}\n");
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = { "src/a.c", "src", "empty", "p.py",
		"m.go", "fifo", "e.c", "e.py" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(in_dir(names[i]));
	return rmdir(dir);
}

static void
paths(void **state)
{
	char out[PATH_MAX];

	(void)state;
	source_absolute("a/../b/./c", "/x/y", out, sizeof(out));
	assert_string_equal(out, "/x/y/b/c");
	source_absolute("../../../..", "/x", out, sizeof(out));
	assert_string_equal(out, "/");
	source_absolute("/a//b/", "/x", out, sizeof(out));
	assert_string_equal(out, "/a/b");
}

static void
found_by_its_end(void **state)
{
	char out[PATH_MAX];

	(void)state;
	assert_true(source_find("src/a.c", dir, out, sizeof(out)));
	assert_string_equal(out, in_dir("src/a.c"));
	assert_true(source_find("/build/x/src/a.c", dir, out, sizeof(out)));
	assert_string_equal(out, in_dir("src/a.c"));
	assert_false(source_find("/build/none.c", dir, out, sizeof(out)));
	assert_false(source_find("", dir, out, sizeof(out)));
	/* a directory is no source */
	assert_false(source_find("src", dir, out, sizeof(out)));
}

static void
lines(void **state)
{
	const char *file = in_dir("src/a.c"), *p;
	size_t len;

	(void)state;
	assert_int_equal(source_lines(file), 4);
	p = source_line(file, 1, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(p, "one", 3);
	assert_non_null(source_line(file, 3, &len));
	assert_int_equal(len, 0);
	p = source_line(file, 4, &len);
	assert_int_equal(len, 4);
	assert_memory_equal(p, "four", 4);
	assert_null(source_line(file, 5, &len));
	assert_null(source_line(file, 0, &len));
	assert_null(source_line(file, -1, &len));
	assert_int_equal(source_lines(in_dir("empty")), 0);
}

static void
a_changed_file_is_read_anew(void **state)
{
	(void)state;
	put("empty", "x\ny\n");
	assert_int_equal(source_lines(in_dir("empty")), 2);
	put("empty", "");
	assert_int_equal(source_lines(in_dir("empty")), 0);
}

static void
nothing_waits_for_a_pipe(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(source_lines(in_dir("fifo")), 0);
	assert_int_equal(source_lines("/dev/zero"), 0);
}

static void
parts(void **state)
{
	struct json_object *o = source_part(in_dir("src/a.c"), -3, 3, 2);

	(void)state;
	assert_int_equal(jget_num(o, "first", 0), 1);
	assert_int_equal(jget_num(o, "current", 0), 2);
	assert_int_equal(jlen(jget_arr(o, "lines")), 3);
	assert_string_equal(json_object_get_string(
	    jat(jget_arr(o, "lines"), 1)), "two");
	json_object_put(o);
	assert_null(source_part(in_dir("src/a.c"), 9, 3, 0));
	o = source_of_text("x", "a\nb\n", 2, 5, 2);
	assert_int_equal(jlen(jget_arr(o, "lines")), 1);
	json_object_put(o);
}

static void
names_are(struct json_object *names, const char *const *want)
{
	size_t i;

	assert_non_null(names);
	for (i = 0; want[i] != NULL; i++)
		assert_string_equal(json_object_get_string(jat(names, i)),
		    want[i]);
	assert_int_equal(jlen(names), i);
	json_object_put(names);
}

static void
parameters(void **state)
{
	static const char *const py[] = { "a", "b", "rest", "kw", NULL };
	static const char *const go[] = { "in", "a", "b", "n", NULL };
	static const char *const none[] = { NULL };

	(void)state;
	names_are(source_params(in_dir("p.py"), 3, "add"), py);
	names_are(source_params(in_dir("m.go"), 2, "main.(*In).Add"), go);
	names_are(source_params(in_dir("m.go"), 6, "main.main"), none);
	assert_null(source_params(in_dir("m.go"), 6, "main.other"));
	assert_null(source_params(in_dir("none.go"), 6, "main.main"));
}

static struct json_object *
vars(const char *text)
{
	struct json_object *o = json_tokener_parse(text);

	assert_non_null(o);
	return o;
}

static size_t
changes(const char *key, const char *args, const char *locals,
    const char *first)
{
	struct json_object *a = vars(args), *l = vars(locals);
	struct json_object *c = diff_note(key, a, l);
	size_t n = jlen(c);

	if (first != NULL)
		assert_string_equal(jget_str(jat(c, 0), "name"), first);
	json_object_put(c);
	json_object_put(a);
	json_object_put(l);
	return n;
}

static void
what_changed(void **state)
{
	static const char x1[] = "[{\"name\":\"x\",\"value\":\"1\"}]";
	static const char x2[] = "[{\"name\":\"x\",\"value\":\"2\"}]";
	static const char none[] = "[]";

	(void)state;
	diff_forget();
	assert_int_equal(changes("f", x1, none, NULL), 0);
	assert_int_equal(changes("f", x1, none, NULL), 0);
	assert_int_equal(changes("f", x2, none, "x"), 1);
	/* another function's x is another x, and f's is still known */
	assert_int_equal(changes("g", none, x1, NULL), 0);
	assert_int_equal(changes("f", x1, none, "x"), 1);
	diff_forget();
	assert_int_equal(changes("f", x2, none, NULL), 0);
}

static void
long_values_differ_at_their_end(void **state)
{
	char a[2048], b[2048];

	(void)state;
	snprintf(a, sizeof(a), "[{\"name\":\"s\",\"value\":\"%01000d\"}]", 1);
	snprintf(b, sizeof(b), "[{\"name\":\"s\",\"value\":\"%01000d\"}]", 2);
	diff_forget();
	assert_int_equal(changes("f", a, "[]", NULL), 0);
	assert_int_equal(changes("f", b, "[]", "s"), 1);
}

static const char c_text[] =
    "int fact(int);\n"			/* 1 */
    "static struct x\n"
    "    y = { 1 };\n"
    "\n"
    "/* fact() calls fact() */\n"	/* 5 */
    "static int\n"
    "fact(int n)\n"
    "{\n"
    "#if 1\n"
    "\tif (n < 2)\n"			/* 10 */
    "\t\tgoto out;\n"
    "#endif\n"
    "\treturn n *\n"
    "\t    fact(n - 1);\n"
    "out:\n"				/* 15 */
    "\treturn 1;\n"
    "}\n"
    "\n"
    "int last(void) {\n"
    "\treturn fact(3);\n"		/* 20 */
    "}\n";

static const char py_text[] =
    "class A:\n"			/* 1 */
    "    def f(self,\n"
    "          x):\n"
    "        if x:\n"
    "            return self.f(0)\n"	/* 5 */
    "# f is not over\n"
    "        return 1\n"
    "\n"
    "    @property\n"
    "    def g(self):\n"		/* 10 */
    "        return f(2)\n"
    "\n"
    "def f(n):\n"
    "    return n\n";

static void
extents(void **state)
{
	static const struct {
		const char	*file;
		int64_t		 line;
		const char	*function;
		int64_t		 first, last;	/* 0: none */
	} cases[] = {
		{ "e.c", 14, "fact", 6, 17 },
		{ "e.c", 16, "::fact(int)", 6, 17 },
		{ "e.c", 7, "fact", 6, 17 },
		{ "e.c", 20, "last", 19, 21 },
		{ "e.c", 20, "nonesuch", 0, 0 },
		{ "e.c", 20, "<module>", 0, 0 },
		{ "e.c", 9999, "fact", 0, 0 },
		{ "e.py", 5, "f", 2, 7 },
		{ "e.py", 2, "A.f", 2, 7 },
		{ "e.py", 11, "g", 9, 11 },
		{ "e.py", 14, "f", 13, 14 },
		{ "none.c", 1, "f", 0, 0 },
	};
	int64_t first, last;
	size_t i;
	bool found;

	(void)state;
	put("e.c", c_text);
	put("e.py", py_text);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		found = extent_around(in_dir(cases[i].file), cases[i].line,
		    cases[i].function, &first, &last);
		assert_int_equal(found, cases[i].first != 0);
		if (!found)
			continue;
		assert_int_equal(first, cases[i].first);
		assert_int_equal(last, cases[i].last);
	}
	assert_true(extent_named(in_dir("e.c"), "fact", &first, &last));
	assert_int_equal(first, 6);
	assert_true(extent_named(in_dir("e.c"), "last", &first, &last));
	assert_int_equal(first, 19);
	assert_false(extent_named(in_dir("e.c"), "nonesuch", &first, &last));
	assert_false(extent_named(in_dir("e.c"), "", &first, &last));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents),
		cmocka_unit_test(paths),
		cmocka_unit_test(found_by_its_end),
		cmocka_unit_test(lines),
		cmocka_unit_test(a_changed_file_is_read_anew),
		cmocka_unit_test(nothing_waits_for_a_pipe),
		cmocka_unit_test(parts),
		cmocka_unit_test(parameters),
		cmocka_unit_test(what_changed),
		cmocka_unit_test(long_values_differ_at_their_end),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
