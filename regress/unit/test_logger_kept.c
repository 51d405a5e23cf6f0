/* SPDX-License-Identifier: ISC */
/* links: logger/kept.c */
/* Lines that wait, in memory that the logger before may have spoilt. */
#include <sys/mman.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "logger/kept.h"

static int	 kept_fd = -1;
static struct kept *before;	/* the same memory, as the one before had it */

static int
begin(void **state)
{
	(void)state;
	kept_fd = memfd_create("kept", MFD_CLOEXEC);
	assert_int_not_equal(kept_fd, -1);
	assert_int_equal(kept_open(kept_fd), 0);
	before = mmap(NULL, sizeof(*before), PROT_READ | PROT_WRITE,
	    MAP_SHARED, kept_fd, 0);
	assert_ptr_not_equal(before, MAP_FAILED);
	return 0;
}

/* As if another process had mapped it. */
static void
next(void)
{
	munmap(kept, sizeof(*kept));
	kept = NULL;
	assert_int_equal(kept_open(kept_fd), 0);
}

static void
lines_wait_for_the_next(void **state)
{
	(void)state;
	assert_int_equal(kept_add("one"), 0);
	assert_int_equal(kept_add("two"), 0);
	kept_took(4);
	next();
	assert_int_equal(kept_len(), 4);
	assert_memory_equal(kept->text + kept->at, "two\n", 4);
	kept_took(4);
	assert_int_equal(kept_len(), 0);
	assert_int_equal(kept->at, 0);
}

static void
the_rest_moves_to_the_front(void **state)
{
	static char line[1001];
	size_t n, lost = kept->lost;

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	for (n = 0; kept_add(line) == 0; n++)
		continue;
	assert_int_equal(n, KEPT_TEXT / 1001);
	assert_int_equal(kept->lost, lost + 1);
	kept_took(1001);
	assert_int_equal(kept_add(line), 0);
	assert_int_equal(kept_len(), n * 1001);
	kept_took(kept_len());
}

static void
spoil(uint32_t at, uint32_t end, char last)
{
	uint64_t lost = kept->lost;

	before->at = at;
	before->end = end;
	if (end > 0 && end <= KEPT_TEXT)
		before->text[end - 1] = last;
	next();
	assert_int_equal(kept_len(), 0);
	assert_int_equal(kept->lost, lost + 1);
}

static void
what_is_no_line_is_dropped(void **state)
{
	(void)state;
	spoil(0, KEPT_TEXT + 1, '\n');
	spoil(0, UINT32_MAX, '\n');
	spoil(11, 10, '\n');
	spoil(0, 10, 'x');
	/* no log takes one that long, and it would wait for ever */
	memset(before->text, 'x', KEPT_TEXT);
	spoil(0, KEPT_LINE_MAX + 2, '\n');
	spoil(0, KEPT_TEXT, '\n');
}

static void
controls_are_replaced(void **state)
{
	(void)state;
	memcpy(before->text, "a\x1b[2J\x7f\nb\n", 9);
	before->at = 0;
	before->end = 9;
	next();
	assert_memory_equal(kept->text, "a?[2J?\nb\n", 9);
	kept_took(9);
}

static void
memory_of_another_size_is_refused(void **state)
{
	int fd = memfd_create("small", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(fd, 100), 0);
	munmap(kept, sizeof(*kept));
	kept = NULL;
	assert_int_equal(kept_open(fd), -1);
	assert_null(kept);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_wait_for_the_next),
		cmocka_unit_test(the_rest_moves_to_the_front),
		cmocka_unit_test(what_is_no_line_is_dropped),
		cmocka_unit_test(controls_are_replaced),
		cmocka_unit_test(memory_of_another_size_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
