/* SPDX-License-Identifier: ISC */
/* Which functions a pattern chooses, and why it chooses none. */
/* links: tracer/syms/match.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracer/syms/match.h"

static bool
fits_file(const char *text, const char *root, const char *name,
    const char *file)
{
	char why[200] = "";
	struct pattern *p = pattern_new(text, root, why, sizeof(why));
	bool r;

	if (p == NULL)
		fail_msg("%s: %s", text, why);
	assert_string_equal(pattern_text(p), text);
	r = pattern_matches(p, name, "_Zraw", file);
	pattern_free(p);
	return r;
}

static bool
fits(const char *text, const char *name)
{
	return fits_file(text, NULL, name, NULL);
}

static void
a_star_stays_in_its_part(void **state)
{
	(void)state;
	assert_true(fits("main", "main"));
	assert_false(fits("main", "main2"));
	assert_false(fits("main", "xmain"));
	assert_false(fits("main", "a::main"));
	assert_true(fits("*", "main"));
	assert_false(fits("*", "a::main"));
	assert_true(fits("render::*", "render::draw"));
	assert_true(fits("render::*", "render::"));
	assert_false(fits("render::*", "render::a::draw"));
	assert_false(fits("render::*", "renderer::draw"));
	assert_true(fits("*::draw", "circle::draw"));
	assert_false(fits("*::draw", "shapes::circle::draw"));
	assert_false(fits("*::draw", "draw"));
	assert_true(fits("**::draw", "shapes::circle::draw"));
	assert_true(fits("**", "a::b::c"));
	assert_true(fits("auth::**::validate", "auth::x::y::validate"));
	assert_false(fits("auth::**::validate", "auth::validate"));
	assert_true(fits("auth::**validate", "auth::validate"));
	assert_true(fits("net_*_open", "net_tcp_open"));
	assert_false(fits("net_*_open", "net_tcp_close"));
	assert_true(fits("a*b*c", "aXbYbZc"));
	assert_false(fits("a*b*c", "aXbYbZ"));
}

static void
brackets_belong_to_their_part(void **state)
{
	(void)state;
	assert_true(fits("(anonymous namespace)::f",
	    "(anonymous namespace)::f"));
	assert_true(fits("*::f", "(anonymous namespace)::f"));
	assert_true(fits("geo::*::f", "geo::(anonymous namespace)::f"));
	assert_true(fits("F::operator()", "F::operator()"));
	assert_true(fits("F::*", "F::operator()"));
	assert_true(fits("F::operator<", "F::operator<"));
	assert_true(fits("*::g", "F<&A::operator< >::g"));
	assert_true(fits("F::operator->", "F::operator->"));
	assert_true(fits("F::operator<<*", "F::operator<< <int>"));
	assert_true(fits("std::vector<*>::push_back",
	    "std::vector<std::string, std::allocator<std::string> >::"
	    "push_back"));
	assert_true(fits("std::*::push_back",
	    "std::vector<std::string>::push_back"));
	assert_true(fits("*::draw", "<a::Config as a::Draw>::draw"));
	assert_true(fits("main::{lambda()#1}::operator()",
	    "main::{lambda()#1}::operator()"));
}

static void
a_name_means_all_instances(void **state)
{
	(void)state;
	assert_true(fits("twice", "twice<int>"));
	assert_true(fits("a::twice", "a::twice<std::pair<int, int> >"));
	assert_true(fits("a::gen", "a::gen::<&str>"));
	assert_true(fits("a::*", "a::gen::<&str>"));
	assert_true(fits("greet", "greet[abi:cxx11]"));
	assert_true(fits("greet", "greet<int>[abi:cxx11]"));
	assert_false(fits("a", "a<int>::f"));
	assert_false(fits("a", "a<int>::f<int>"));
	assert_false(fits("twice", "twice2<int>"));
	assert_false(fits("F::operator", "F::operator<"));
	assert_true(fits("twice<int>", "twice<int>"));
	assert_false(fits("twice<int>", "twice<long>"));
}

static void
names_may_be_in_any_script(void **state)
{
	(void)state;
	assert_true(fits("größe", "größe"));
	assert_true(fits("模块::*", "模块::函数"));
	assert_false(fits("模块::*", "模块::a::函数"));
	assert_true(fits("*ß*", "größe"));
	assert_true(fits("_Zraw", "anything"));
}

static bool
user(const char *root, const char *file)
{
	return fits_file("@usercode", root, "f", file);
}

static void
the_root_goes_by_components(void **state)
{
	(void)state;
	assert_true(user("/app", "/app/src/main.c"));
	assert_true(user("/app/", "/app/main.c"));
	assert_true(user("/x/../app/./lib//..", "/app/main.c"));
	assert_true(user("/app/..", "/main.c"));
	assert_true(user("/..", "/main.c"));
	assert_false(user("/app/lib/..", "/lib/main.c"));
	assert_false(user("/app/...", "/app/main.c"));
	assert_false(user("/app", "/app2/main.c"));
	assert_false(user("/app", "/ap/main.c"));
	assert_false(user("/app", "/app"));
	assert_false(user("/app", ""));
	assert_false(user("/app", NULL));
	assert_false(user("/app", "/usr/include/app/x.h"));
	assert_true(user("/", "/any/where.c"));
}

static bool
in_file(const char *text, const char *file)
{
	return fits_file(text, NULL, "f", file);
}

static void
files_go_by_components(void **state)
{
	(void)state;
	assert_true(in_file("@file:net.c", "/x/src/net.c"));
	assert_false(in_file("@file:net.c", "/x/src/subnet.c"));
	assert_true(in_file("@file:net", "/x/src/net.c"));
	assert_false(in_file("@file:net", "/x/src/network.c"));
	assert_true(in_file("@file:src/net.c", "/x/src/net.c"));
	assert_true(in_file("@file:src/", "/x/src/net.c"));
	assert_true(in_file("@file:src", "/x/src/a/net.c"));
	assert_false(in_file("@file:rc/net.c", "/x/src/net.c"));
	assert_true(in_file("@file:*.c", "/x/src/net.c"));
	assert_false(in_file("@file:*.rs", "/x/src/net.c"));
	assert_true(in_file("@file:x/*/net.c", "/x/src/net.c"));
	assert_false(in_file("@file:x/*/net.c", "/x/src/a/net.c"));
	assert_true(in_file("@file:x/**/net.c", "/x/src/a/net.c"));
	assert_true(in_file("@file:/x/src", "/x/src/net.c"));
	assert_false(in_file("@file:/src", "/x/src/net.c"));
	assert_false(in_file("@file:net.c", NULL));
	assert_false(in_file("@file:net.c", ""));
}

static void
refuses(const char *text, const char *word)
{
	char why[200] = "";
	struct pattern *p = pattern_new(text, NULL, why, sizeof(why));

	assert_null(p);
	if (strstr(why, word) == NULL)
		fail_msg("%s: \"%s\" has no \"%s\"", text, why, word);
}

static void
what_is_wrong_is_named(void **state)
{
	char longest[PATTERN_MAX + 2];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[PATTERN_MAX + 1] = '\0';
	refuses(longest, "512");
	longest[PATTERN_MAX] = '\0';
	assert_true(fits(longest, longest));
	refuses("", "empty");
	refuses(" a", "space");
	refuses("a\tb", "control");
	refuses("a::***", "***");
	refuses("a:b", "::");
	refuses("a:::b", "::");
	refuses("::a", "begin");
	refuses("a::", "ends");
	refuses("@user", "@usercode");
	refuses("@usercode", "projectRoot");
	refuses("@file:", "path");
}

/* Patterns that would take a backtracking matcher years. */
static void
time_grows_with_the_name(void **state)
{
	char name[4096], text[PATTERN_MAX + 1] = "";
	clock_t start = clock();
	size_t i;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < PATTERN_MAX / 2 - 1; i++)
		strcat(text, "*a");
	strcat(text, "b");
	assert_false(fits(text, name));
	memset(name, '<', sizeof(name) - 1);
	for (i = 0; i < 20; i++)
		assert_false(fits("**x", name));
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_star_stays_in_its_part),
		cmocka_unit_test(brackets_belong_to_their_part),
		cmocka_unit_test(a_name_means_all_instances),
		cmocka_unit_test(names_may_be_in_any_script),
		cmocka_unit_test(the_root_goes_by_components),
		cmocka_unit_test(files_go_by_components),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(time_grows_with_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
