/* SPDX-License-Identifier: ISC */
/*
 * Replayed output contains nothing that makes a terminal answer, however the
 * output is split.
 */
/* links: client/ctl/escape_filter.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client/ctl/escape_filter.h"

static unsigned char	shown[8192];
static size_t		nshown;

static void
feed(struct escape_filter *q, const void *text, size_t len, size_t piece)
{
	unsigned char out[4096 + ESCAPE_FILTER_HELD];
	const unsigned char *p = text;
	size_t n, take;

	nshown = 0;
	for (; len > 0; p += take, len -= take) {
		take = piece < len ? piece : len;
		n = escape_filter_feed(q, p, take, out);
		assert_true(n <= take + ESCAPE_FILTER_HELD);
		assert_true(nshown + n < sizeof(shown));
		memcpy(shown + nshown, out, n);
		nshown += n;
	}
	shown[nshown] = '\0';
}

static void
check(const char *text, const char *wanted, bool utf8)
{
	struct escape_filter q;
	size_t piece;

	for (piece = 1; piece < 9; piece++) {
		escape_filter_init(&q, utf8);
		feed(&q, text, strlen(text), piece);
		assert_string_equal((char *)shown, wanted);
	}
}

static void
test_asking(void **state)
{
	static const char *const asking[] = {
		"\033[c", "\033[0c", "\033[>c", "\033[=c", "\033[>0;1c",
		"\033[5n", "\033[6n", "\033[?6n", "\033[?996n", "\033[?15n",
		"\033[18t", "\033[14;2t", "\033[21t", "\033[8;3;4t",
		"\033[x", "\033[1x", "\033[1;1+x", "\033[?1$p", "\033[4$p",
		"\033[1+p", "\033[>q", "\033[>0q", "\033[?u", "\033[1$u",
		"\033[&u", "\033[1$w", "\033['|", "\033[1;1;1;1;1;1*y",
		"\033[?1;1;0S", "\033[?4m", "\033[5i", "\033[?5i",
		"\033[#R", "\033[#|", "\033[#S", "\033[\"v",
		"\033Z", "\005", "\033P$qm\033\\", "\033P+q544e\033\\",
		"\033Ptmux;\033\033[5n\033\\\033\\", "\033_Gi=1,a=q;\033\\",
		"\033^x\033\\", "\033Xx\033\\",
		"\033]10;?\a", "\033]11;?\033\\", "\033]4;1;?\a",
		"\033]52;c;?\a", "\033]52;c;cm0gLXJmIC8=\a",
		"\033]1337;File=inline=0:AAAA\a", "\033]1337;ReportCellSize\a",
		"\033]50;?\a", "\033]9;4;1\a", "\033]777;notify;a;b\a",
		"\033];x\a", "\033]x\a", "\033]99999999990;x\a",
		"\033%@", "\033 G", "\xc2\x9b" "5n", "\x9b" "5n", "\x90q",
		"\xc2\x9a",
		/* cut off by another one, or with controls inside */
		"\033[\033[5n", "\033]0;x\033[5n", "\033]0;x\033\033[5n",
		"\033P\033\033[5n", "\033\033[5n", "\033[5\177n",
		"\033[5\005n", "\033]2;x\x9c\a", "\033]2;x\xc2\x9d\a",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
		char text[256] = "<";
		struct escape_filter q;
		size_t piece;

		strcat(strcat(text, asking[i]), ">");
		for (piece = 1; piece < 5; piece++) {
			escape_filter_init(&q, true);
			feed(&q, text, strlen(text), piece);
			/* what stands behind an introducer that was dropped
			 * is plain text */
			assert_null(memchr(shown, 0x1b, nshown));
			assert_null(memchr(shown, 0x05, nshown));
			assert_null(memchr(shown, 0x9b, nshown));
			assert_null(memchr(shown, 0x9c, nshown));
			assert_int_equal(shown[0], '<');
			assert_int_equal(shown[nshown - 1], '>');
		}
	}
}

static void
test_harmless(void **state)
{
	static const char *const harmless[] = {
		"plain\r\n\ttext\b\a", "gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac "
		"\xf0\x9f\x98\x80 \xc2\xa0",
		"\033[31;1mred\033[0m", "\033[38:2::1:2:3m", "\033[H\033[2J",
		"\033[?1049h\033[?25l\033[?2004h\033[?1006h", "\033[3;4r",
		"\033[2 q", "\033[!p", "\033[>4;2m", "\033[u\033[s",
		"\033[5S\033[2T", "\033[>1u\033[<u", "\033(B\033)0\017\016",
		"\0337\0338\033M\033D\033E\033=\033>\033c\033#8",
		"\033]0;title?\a", "\033]2;t\xc3\xbc\033\\", "\033]8;;http://"
		"x/?a=b\033\\link\033]8;;\033\\", "\033]4;1;rgb:1/2/3\a",
		"\033]112\a", "\033]133;A\a", "\033[1$r", "\033[1;1;2;2$z",
		"\030\032",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		check(harmless[i], harmless[i], true);
}

static void
test_in_between(void **state)
{
	(void)state;
	/* controls in the middle are obeyed, so they stay, before it */
	check("\033[3\r1mx", "\r\033[31mx", true);
	check("\033[3\r5nx", "\rx", true);
	/* a sequence that was called off */
	check("\033[3\0301mx", "\0301mx", true);
	check("\033[12\033[31mx", "\033[31mx", true);
	/* C2 is a character's beginning; alone it is no concern of ours */
	check("\xc2" "a", "\xc2" "a", true);
	check("\xe2\033[m\x9b" "5n", "\xe2\033[m5n", true);
	/* a terminal that knows no UTF-8 */
	check("\xe4\xf6\xfc\x9b" "5n", "\xe4\xf6\xfc" "5n", false);
	check("\xc3\x9b" "5n", "\xc3" "5n", false);
}

static void
test_too_long(void **state)
{
	static char text[2 * ESCAPE_FILTER_HELD + 16], wanted[16];
	struct escape_filter q;
	size_t n;

	(void)state;
	strcpy(text, "\033]0;");
	memset(text + 4, 'x', sizeof(text) - 16);
	strcpy(text + sizeof(text) - 12, "\aend");
	strcpy(wanted, "end");
	check(text, wanted, true);
	memcpy(text, "\033[31", 4);
	memset(text + 4, '1', sizeof(text) - 16);
	strcpy(text + sizeof(text) - 12, "mend");
	check(text, wanted, true);
	/* at the very edge of what is kept it is all or nothing */
	for (n = ESCAPE_FILTER_HELD - 4; n < ESCAPE_FILTER_HELD + 4; n++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "\033]0;", 4);
		text[n - 1] = '\a';
		escape_filter_init(&q, true);
		feed(&q, text, n, n);
		assert_int_equal(nshown, n < ESCAPE_FILTER_HELD ? n : 0);
	}
}

static void
test_switched(void **state)
{
	struct escape_filter q;

	(void)state;
	escape_filter_init(&q, true);
	q.on = false;
	feed(&q, "\033[5n\033P$q\033\\\x9b", 10, 3);
	assert_int_equal(nshown, 10);
	/* what began before is looked at to its end, by the new rule */
	escape_filter_init(&q, true);
	feed(&q, "a\033[5", 4, 4);
	assert_string_equal((char *)shown, "a");
	q.on = false;
	feed(&q, "n\033[6n", 5, 5);
	assert_string_equal((char *)shown, "\033[5n\033[6n");
	escape_filter_init(&q, true);
	feed(&q, "\033P$q", 4, 4);
	q.on = false;
	feed(&q, "m\033\\b", 4, 4);
	assert_string_equal((char *)shown, "b");
}

/* Any input: the output is no longer, and has no introducer alone. */
static void
test_noise(void **state)
{
	static const char alphabet[] = "\033\033[]P?$>;05nctqm\a\\\x9b\xc2";
	char text[2000];
	struct escape_filter q;
	size_t i, j;

	(void)state;
	srandom(7);
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < sizeof(text); j++)
			text[j] = alphabet[(size_t)random() %
			    (sizeof(alphabet) - 1)];
		escape_filter_init(&q, true);
		feed(&q, text, sizeof(text), 1 + i % 50);
		assert_true(nshown <= sizeof(text));
		assert_null(strstr((char *)shown, "\033[5n"));
		assert_null(strstr((char *)shown, "\033[c"));
		assert_null(memchr(shown, 0x9b, nshown));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_in_between),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_switched),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
