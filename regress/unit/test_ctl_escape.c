/* SPDX-License-Identifier: ISC */
/* The escape character: what is typed is input, but for what is not. */
/* links: client/ctl/escape.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "client/ctl/escape.h"

static char	seen[256];	/* input, and events as <...> */

/* In pieces of n bytes, as a terminal might have it. */
static void
type(struct escape *e, const char *text, size_t n)
{
	static const char *const names[] = {
		[ESCAPE_DETACH] = "<detach>", [ESCAPE_SUSPEND] = "<suspend>",
		[ESCAPE_HELP] = "<help>",
	};
	size_t len = strlen(text), used, out_len;
	enum escape_event event;
	unsigned char out[64];

	while (len > 0) {
		used = n < len ? n : len;
		event = escape_feed(e, (const unsigned char *)text, &used,
		    out, &out_len);
		assert_true(used > 0 && out_len <= used + 1);
		strncat(seen, (const char *)out, out_len);
		if (event != ESCAPE_NOTHING)
			strcat(seen, names[event]);
		text += used;
		len -= used;
	}
}

static void
test_typed(void **state)
{
	static const struct {
		const char	*typed;
		const char	*wanted;
	} cases[] = {
		{ "ls\r", "ls\r" },
		{ "~.", "<detach>" },
		{ "\r~.", "\r<detach>" },
		{ "\n~.", "\n<detach>" },
		{ "a~.", "a~." },
		{ "~~", "~" },
		{ "~~.", "~." },
		{ "~~~", "~~" },
		{ "~x", "~x" },
		{ "~\r~.", "~\r<detach>" },
		{ "~?~?", "<help><help>" },
		{ "~?ls\r", "<help>ls\r" },
		{ "a\r~\032b", "a\r<suspend>b" },
		{ "cd ~/x\r~.", "cd ~/x\r<detach>" },
		{ "~/bin/x\r", "~/bin/x\r" },
		{ "~", "" },
	};
	struct escape e;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (n = 1; n < 12; n++) {
			seen[0] = '\0';
			escape_init(&e, '~');
			type(&e, cases[i].typed, n);
			assert_string_equal(seen, cases[i].wanted);
		}
}

static void
test_other_keys(void **state)
{
	struct escape e;

	(void)state;
	seen[0] = '\0';
	escape_init(&e, ESCAPE_NONE);
	type(&e, "~.\r~.~~\xff", 3);
	assert_string_equal(seen, "~.\r~.~~\xff");
	seen[0] = '\0';
	escape_init(&e, 0x1d);
	type(&e, "~.\r\035\035\r\035.", 2);
	assert_string_equal(seen, "~.\r\035\r<detach>");
}

static void
test_parse(void **state)
{
	(void)state;
	assert_int_equal(escape_parse("~"), '~');
	assert_int_equal(escape_parse("^]"), 0x1d);
	assert_int_equal(escape_parse("^A"), 1);
	assert_int_equal(escape_parse("^?"), 0x7f);
	assert_int_equal(escape_parse("^"), '^');
	assert_int_equal(escape_parse("none"), ESCAPE_NONE);
	assert_int_equal(escape_parse(""), -2);
	assert_int_equal(escape_parse("ab"), -2);
	assert_int_equal(escape_parse("^]]"), -2);
	assert_int_equal(escape_parse("\r"), -2);
	assert_int_equal(escape_parse("\xc3\xa4"), -2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
