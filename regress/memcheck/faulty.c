/* SPDX-License-Identifier: ISC */
/* A unit test that passes, and does what FAULT says: memcheck.t looks whether
 * that is seen. */
#include <sys/wait.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static volatile int	 sink;
/* so that the compiler does not know what it has got */
static void		*(*volatile get)(size_t) = malloc;

static void
reads_beyond(void)
{
	volatile char *p = get(8);

	sink = p[8];
	free((void *)p);
}

static void
unset_value(void)
{
	volatile int *p = get(sizeof(*p));

	if (*p == 7)
		sink = 1;
	free((void *)p);
}

static void
lost(void)
{
	volatile char *p = get(100);

	p[0] = 1;
	p = NULL;
}

static void
left_open(void)
{
	sink = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Descriptors of the child are not checked, but its memory is. */
static void
in_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		left_open();
		unset_value();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* It holds standard output open, and nobody waits for it. */
static void
left_behind(void)
{
	if (fork() == 0)
		for (;;)
			pause();
}

static void
nothing(void)
{
}

static const struct {
	const char	*name;
	void		(*fn)(void);
} faults[] = {
	{ "reads_beyond", reads_beyond }, { "unset_value", unset_value },
	{ "lost", lost }, { "left_open", left_open },
	{ "in_a_child", in_a_child }, { "left_behind", left_behind },
	{ "nothing", nothing },
};

static void
faulty(void **state)
{
	const char *name = getenv("FAULT");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (strcmp(faults[i].name, name == NULL ? "" : name) == 0) {
			faults[i].fn();
			return;
		}
	fail();
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(faulty) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
