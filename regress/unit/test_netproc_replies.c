/* SPDX-License-Identifier: ISC */
/* Answers of terminals are told from keys. */
/* links: netproc/text/replies.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "netproc/text/replies.h"

static char out[256];

static size_t
strip(const char *s)
{
	return replies_strip(s, strlen(s), out);
}

static void
test_answers_go(void **state)
{
	static const char *const answers[] = {
		"\033[?1;2c", "\033[?62;22c", "\033[>0;276;0c", "\033[=1c",
		"\033[0n", "\033[?10n", "\033[24;80R", "\033[1;1R",
		"\033[?24;80;1R", "\033[?2026;2$y", "\033[4;2$y",
		"\033[8;24;80t", "\033[?1u", "\033[2;1;1;128;128;1;0x",
		"\033]10;rgb:ffff/ffff/ffff\007", "\033]11;rgb:0/0/0\033\\",
		"\033P>|xterm(390)\033\\", "\033P1$r0m\033\\",
		"\033P!|00000000\033\\", "\033_Gi=31;OK\033\\",
		"\033[?2;0;800;600S",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strip(answers[i]) != 0)
			fail_msg("kept: ESC%s", answers[i] + 1);
}

static void
test_keys_stay(void **state)
{
	static const char *const keys[] = {
		"a", "\003", "\r", "\033", "\033[", "\033a", "\033[A",
		"\033OA", "\033OR", "\033[1;2R", "\033[1;5R", "\033[3~",
		"\033[15;5~", "\033[200~text\033[201~", "\033[I", "\033[O",
		"\033[<0;10;20M", "\033[M !!", "\033[97;5u", "\033[1;5A",
		"\033]", "\033P", "\033]0;half", "\033[?1;2", "\033\033[A",
		"\xff\xfe\x80", "gr\xc3\xbc\xc3\x9f",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strip(keys[i]) != strlen(keys[i]) ||
		    memcmp(out, keys[i], strlen(keys[i])) != 0)
			fail_msg("changed: %s", keys[i]);
}

static void
test_what_is_typed_beside_them_stays(void **state)
{
	(void)state;
	assert_int_equal(strip("ls\033[?1;2c -l\033[24;80R\r"), 6);
	assert_memory_equal(out, "ls -l\r", 6);
	assert_int_equal(strip("\033[?1;2c\033[?1;2c\033[?1;2c"), 0);
}

static void
test_in_place(void **state)
{
	char s[] = "a\033[0nb\033[Ac";

	(void)state;
	assert_int_equal(replies_strip(s, sizeof(s) - 1, s), 6);
	assert_memory_equal(s, "ab\033[Ac", 6);
}

static void
test_nul_is_a_key(void **state)
{
	(void)state;
	assert_int_equal(replies_strip("\0\033[0n\0", 6, out), 2);
	assert_memory_equal(out, "\0\0", 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_go),
		cmocka_unit_test(test_keys_stay),
		cmocka_unit_test(test_what_is_typed_beside_them_stays),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_nul_is_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
