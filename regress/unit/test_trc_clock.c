/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/clock.c tracer/engine/x86_regs.c tracer/engine/arch_none.c */
/* Warnings about a TSC that the kernel does not trust. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/engine/clock.h"

static const char *
warning_of(const char *clocks)
{
	char path[] = "/tmp/dl-clocks-XXXXXX";
	const char *words;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, clocks, strlen(clocks)), strlen(clocks));
	close(fd);
	words = clock_warning(path);
	unlink(path);
	return words;
}

static void
test_trusted(void **state)
{
	(void)state;
	assert_null(warning_of("tsc kvm-clock \n"));
	assert_null(warning_of("kvm-clock tsc hpet acpi_pm \n"));
	assert_null(warning_of("tsc\n"));
}

static void
test_unstable_is_said(void **state)
{
	const char *words = warning_of("hpet acpi_pm \n");

	(void)state;
	assert_non_null(words);
	assert_non_null(strstr(words, "TSC"));
	assert_non_null(strstr(words, "taskset"));
	/* a clock with another name is not this one */
	assert_non_null(warning_of("hyperv_clocksource_tsc_page acpi_pm \n"));
}

static void
test_unknown_is_not(void **state)
{
	(void)state;
	assert_null(warning_of(""));
	assert_null(clock_warning("/nonexistent/clocks"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_unstable_is_said),
		cmocka_unit_test(test_unknown_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
