/* SPDX-License-Identifier: ISC */
/*
 * Loaded in front of cmocka: the tests of a group that MEMCHECK_SKIP names,
 * with spaces between, are counted as skipped and not run.  A name that no
 * test has ends the program, so that the list has nothing that is gone.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TESTS_MAX	256

typedef int	(*run_fn)(const char *, const struct CMUnitTest *, size_t,
		    CMFixtureFunction, CMFixtureFunction);

int	_cmocka_run_group_tests(const char *, const struct CMUnitTest *const,
	    const size_t, CMFixtureFunction, CMFixtureFunction);

static struct CMUnitTest tests[TESTS_MAX];

static void
skipped(void **state)
{
	(void)state;
	skip();
}

static int
leave_out(const char *name, size_t n)
{
	size_t i;
	int found = 0;

	for (i = 0; i < n; i++) {
		if (tests[i].name == NULL || strcmp(tests[i].name, name) != 0)
			continue;
		tests[i].test_func = skipped;
		tests[i].setup_func = tests[i].teardown_func = NULL;
		found = 1;
	}
	return found;
}

static void
leave_out_all(const char *names, size_t n)
{
	char *list = strdup(names), *rest = NULL, *name;

	if (list == NULL)
		abort();
	for (name = strtok_r(list, " ", &rest); name != NULL;
	    name = strtok_r(NULL, " ", &rest)) {
		if (!leave_out(name, n)) {
			fprintf(stderr, "# no test has the name %s\n", name);
			exit(96);
		}
	}
	free(list);
}

int
_cmocka_run_group_tests(const char *group, const struct CMUnitTest *const all,
    const size_t n, CMFixtureFunction setup, CMFixtureFunction teardown)
{
	const char *names = getenv("MEMCHECK_SKIP");
	run_fn run = (run_fn)dlsym(RTLD_NEXT, "_cmocka_run_group_tests");

	if (run == NULL || n > TESTS_MAX)
		abort();
	memcpy(tests, all, n * sizeof(*tests));
	leave_out_all(names == NULL ? "" : names, n);
	return run(group, tests, n, setup, teardown);
}
