/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/mem.c */
/* Writes that are gathered: a file stands for the memory of a program. */
#include <sys/mman.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/engine/proc.h"

#define SIZE (4UL * STAGE_MOST)

static struct target t;
static uint8_t there[SIZE], want[SIZE];

static int
setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	memset(want, 0x5a, sizeof(want));
	t.mem_fd = memfd_create("memory", MFD_CLOEXEC);
	if (t.mem_fd < 0 || pwrite(t.mem_fd, want, SIZE, 0) != (ssize_t)SIZE)
		return (-1);
	return (0);
}

static int
teardown(void **state)
{
	(void)state;
	stages_free(&t);
	return (close(t.mem_fd));
}

static bool
put(uint64_t at, size_t len, uint8_t byte)
{
	static uint8_t bytes[SIZE];

	memset(bytes, byte, len);
	memset(want + at, byte, len);
	return (stage_put(&t, &t.stages[0], at, bytes, len));
}

static void
compare(void)
{
	assert_int_equal(pread(t.mem_fd, there, SIZE, 0), SIZE);
	assert_memory_equal(there, want, SIZE);
}

static void
what_lies_between_two_writes_stays(void **state)
{
	size_t gap;

	(void)state;
	for (gap = 1; gap <= 4096; gap *= 2) {
		assert_true(put(0, 48, 1));
		assert_true(put(48 + gap, 48, 2));
		assert_true(stage_flush(&t, &t.stages[0]));
		compare();
	}
}

/* As a new area of stubs directly above one that is full. */
static void
a_direct_write_between_staged_ones_stays(void **state)
{
	static const uint8_t head[64] = {7, 7, 7};

	(void)state;
	assert_true(put(960, 48, 1));
	memcpy(want + 1024, head, sizeof(head));
	assert_int_equal(
	    pwrite(t.mem_fd, head, sizeof(head), 1024), sizeof(head));
	assert_true(put(1024 + sizeof(head), 48, 2));
	assert_true(stage_flush(&t, &t.stages[0]));
	compare();
}

static void
of_two_writes_to_a_place_the_later_one_counts(void **state)
{
	(void)state;
	assert_true(put(100, 64, 1));
	assert_true(put(132, 8, 2));
	assert_true(put(100, 4, 3));
	assert_true(put(60, 60, 4));
	assert_true(stage_flush(&t, &t.stages[0]));
	compare();
}

static void
writes_in_a_row_are_one(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_true(put(i * 16, 16, (uint8_t)i));
	assert_int_equal(t.stages[0].len, 1600);
	assert_int_equal(pread(t.mem_fd, there, SIZE, 0), SIZE);
	assert_int_equal(there[0], 0x5a);
	assert_true(stage_flush(&t, &t.stages[0]));
	compare();
}

static void
more_than_a_stage_holds_is_written(void **state)
{
	size_t at = 0, i;

	(void)state;
	for (i = 0; at + 1000 < 3 * STAGE_MOST; at += 1000, i++)
		assert_true(put(at, 1000, (uint8_t)i));
	assert_true(put(at, STAGE_MOST, 9));
	assert_true(stage_flush(&t, &t.stages[0]));
	compare();
	assert_false(put(0, STAGE_MOST + 1, 9));
}

static void
a_failed_write_is_told_once_by_the_flush(void **state)
{
	int fd = t.mem_fd;

	(void)state;
	assert_true(put(0, 16, 1));
	t.mem_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(t.mem_fd >= 0);
	assert_false(put(64, 16, 1));
	assert_false(put(80, 16, 1));
	assert_int_equal(close(t.mem_fd), 0);
	t.mem_fd = fd;
	assert_false(stage_flush(&t, &t.stages[0]));
	assert_true(put(128, 16, 1));
	assert_true(stage_flush(&t, &t.stages[0]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		what_lies_between_two_writes_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		a_direct_write_between_staged_ones_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		of_two_writes_to_a_place_the_later_one_counts, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		writes_in_a_row_are_one, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		more_than_a_stage_holds_is_written, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		a_failed_write_is_told_once_by_the_flush, setup, teardown),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
