/* SPDX-License-Identifier: ISC */
/* What sessions may be called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "label.h"
#include "proto.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
