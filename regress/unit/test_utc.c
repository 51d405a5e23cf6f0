/* SPDX-License-Identifier: ISC */
/* Times for people: every second its own text, in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utc.h"

static void
is_text(time_t when, const char *want)
{
	char text[UTC_TEXT];

	memset(text, 'x', sizeof(text));
	assert_ptr_equal(utc_text(when, text), text);
	assert_string_equal(text, want);
}

static void
known_times(void **state)
{
	(void)state;
	is_text(0, "1970-01-01T00:00:00Z");
	is_text(951782400, "2000-02-29T00:00:00Z");
	is_text(1763813999, "2025-11-22T12:19:59Z");
	is_text(253402300799, "9999-12-31T23:59:59Z");
}

/* The text that is kept is of no other second, back or forth. */
static void
one_after_the_other(void **state)
{
	(void)state;
	is_text(1763813999, "2025-11-22T12:19:59Z");
	is_text(1763813999, "2025-11-22T12:19:59Z");
	is_text(1763814000, "2025-11-22T12:20:00Z");
	is_text(1763813999, "2025-11-22T12:19:59Z");
}

static void
no_calendar_has_it(void **state)
{
	(void)state;
	is_text(INT64_MAX, "1900-01-00T00:00:00Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: nothing has been kept yet */
		cmocka_unit_test(known_times),
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(no_calendar_has_it),
	};

	return cmocka_run_group_tests_name("utc", tests, NULL, NULL);
}
