/* SPDX-License-Identifier: ISC */
/* The terminal modes after some output, and the preamble that sets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tty/ttymodes.h"

#define ROWS	24
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
#define C(text)	text, sizeof(text) - 1

/* All of what is said about a terminal that was shown these bytes. */
struct said {
	char	text[TTYMODES_PREAMBLE + 1];
	size_t	len;
};

static struct said
say(const struct ttymodes *m)
{
	struct said s;

	s.len = ttymodes_preamble(&m->now, ROWS, s.text);
	s.text[s.len] = '\0';
	return s;
}

static struct said
after(const char *bytes, size_t len)
{
	struct ttymodes m;

	ttymodes_init(&m);
	ttymodes_feed(&m, bytes, len);
	return say(&m);
}

/* The preamble after the reset, which is the same for all. */
static const char *
rest(const struct said *s)
{
	const char *clear = strstr(s->text, "\033[H\033[2J");

	assert_non_null(clear);
	clear = strstr(clear, "\0337");
	assert_non_null(clear);
	return clear + 2;
}

static const struct shown {
	const char	*bytes;
	size_t		 len;
	const char	*has, *has_not;
} shown[] = {
	{ C("plain text\r\n"), "\033[0m", "\033[?1h" },
	{ C("\033[?1h"), "\033[?1h", NULL },
	{ C("\033[?1h\033[?1l"), "", "\033[?1h" },
	{ C("\033[?25l"), "\033[?25l", NULL },
	{ C("\033[?7l"), "\033[?7l", NULL },
	{ C("\033[?6h"), "\033[?6h", NULL },
	{ C("\033[4h"), "\033[4h", NULL },
	{ C("\033[4;20h"), "\033[20h", NULL },
	{ C("\033[4h\033[4l"), "", "\033[4h" },
	{ C("\033="), "\033=", NULL },
	{ C("\033=\033>"), "", "\033=" },
	{ C("\033[?66h"), "\033=", NULL },
	/* a list, as vim and tmux send it */
	{ C("\033[?1006;1000;2004h"), "\033[?1000h", NULL },
	{ C("\033[?1006;1000;2004h"), "\033[?1006h", NULL },
	{ C("\033[?1006;1000;2004h"), "\033[?2004h", NULL },
	{ C("\033[?1004h"), "\033[?1004h", NULL },
	{ C("\033[?1005h"), "\033[?1005h", NULL },
	{ C("\033[?1015h"), "\033[?1015h", NULL },
	/* one kind of mouse at a time, and any of them is off by any */
	{ C("\033[?1000h\033[?1003h"), "\033[?1003h", "\033[?1000h" },
	{ C("\033[?1003h\033[?1000l"), "", "\033[?1003h" },
	{ C("\033[?1006h\033[?1015h"), "\033[?1015h", "\033[?1006h" },
	/* screens */
	{ C("\033[?1049h"), "\033[?1047h", NULL },
	{ C("\033[?47h"), "\033[?1047h", NULL },
	{ C("\033[?1049h\033[?1049l"), "", "\033[?1047h" },
	{ C("\033[31m\033[?1049h\033[32m\033[?1049l"), "\033[0;38;5;1m", NULL },
	{ C("\033[31m\033[?47h\033[32m\033[?47l"), "\033[0;38;5;2m", NULL },
	/* colours and attributes */
	{ C("\033[1;4;31;42m"), "\033[0;1;4;38;5;1;48;5;2m", NULL },
	{ C("\033[97;105m"), "\033[0;38;5;15;48;5;13m", NULL },
	{ C("\033[38;5;200m"), "\033[0;38;5;200m", NULL },
	{ C("\033[38:5:200m"), "\033[0;38;5;200m", NULL },
	{ C("\033[48;2;1;2;3m"), "\033[0;48;2;1;2;3m", NULL },
	{ C("\033[48:2::1:2:3m"), "\033[0;48;2;1;2;3m", NULL },
	{ C("\033[48:2:1:2:3m"), "\033[0;48;2;1;2;3m", NULL },
	{ C("\033[38;5;9;1m"), "\033[0;1;38;5;9m", NULL },
	{ C("\033[58;5;9;1m"), "\033[0;1;58;5;9m", NULL },
	{ C("\033[1;38m"), "\033[0;1m", NULL },
	{ C("\033[1;2;3;5;6;7;8;9;53m"), "\033[0;1;2;3;5;6;7;8;9;53m", NULL },
	{ C("\033[1;2;22m"), "\033[0m", NULL },
	{ C("\033[3;7;53m\033[23;27;55m"), "\033[0m", NULL },
	{ C("\033[31;41m\033[39;49m"), "\033[0m", NULL },
	{ C("\033[31m\033[m"), "\033[0m", NULL },
	{ C("\033[4:3m"), "\033[4:3m", "\033[4:1m" },
	{ C("\033[21m"), "\033[4:2m", NULL },
	{ C("\033[4:3m\033[24m"), "\033[0m", "4:3" },
	{ C("\033[4:0m"), "\033[0m", NULL },
	/* character sets */
	{ C("\033(0"), "\033(0", NULL },
	{ C("\033)0\016"), "\033)0\033*B\033+B\016", NULL },
	{ C("\033)0\016\017"), "\033)0\033*B\033+B\017", NULL },
	{ C("\033n"), "\033n", NULL },
	{ C("\033%@"), "\033%@", NULL },
	/* the scroll region, unless it is all of the screen */
	{ C("\033[3;10r"), "\033[3;10r", NULL },
	{ C("\033[5r"), "\033[5r", NULL },
	{ C("\033[3;10r\033[r"), "", "\033[3;10r" },
	{ C("\033[1;24r"), "", "\033[1;24r" },
	{ C("\033[10;3r"), "", "\033[10;3r" },
	/* others */
	{ C("\033[4 q"), "\033[4 q", NULL },
	{ C("\033[>4;2m"), "\033[>4;2m", NULL },
	{ C("\033[>4;2m\033[>4m"), "", "\033[>4;2m" },
	{ C("\033[?1007h"), "\033[?1007h", NULL },
	{ C("\033[?69h\033[s"), "\033[?69h", NULL },
	{ C("\033[?2027;2031;2048h"), "\033[?2027h\033[?2031h\033[?2048h",
	    NULL },
	{ C("\033[?2031h\033[!p"), "\033[?2031h", NULL },
	/* keys as kitty has them: a stack for each screen */
	{ C("\033[>1u"), "\033[>1u", "\033[=" },
	{ C("\033[>1u\033[>5u"), "\033[>1u\033[>5u", NULL },
	{ C("\033[>1u\033[>5u\033[<u"), "\033[>1u", "\033[>5u" },
	{ C("\033[>1u\033[>5u\033[<2u"), "", "\033[>" },
	{ C("\033[=3u\033[<9u"), "", "\033[=" },
	{ C("\033[=1u\033[=4;2u"), "\033[=5u", NULL },
	{ C("\033[=7u\033[=2;3u"), "\033[=5u", NULL },
	{ C("\033[=7u\033[=2;9u"), "\033[=7u", NULL },
	{ C("\033[>1u\033[=8u"), "\033[>8u", "\033[>1u" },
	{ C("\033[>255u"), "\033[>31u", NULL },
	{ C("\033[?u\033[u"), "", "\033[>" },
	{ C("\033[>1u\033[?1049h\033[>4u"),
	    "\033[>1u\033[?1047h\033[<9u", NULL },
	{ C("\033[>1u\033[?1049h\033[>4u"), "\0337\033[>4u", NULL },
	{ C("\033[>1u\033[?1049h\033[>4u\033[?1049l"), "\033[>1u",
	    "\033[>4u" },
	{ C("\033[>1u\033c"), "", "\033[>1u" },
	{ C("\033[>1u\033[>2u\033[>3u\033[>4u\033[>5u\033[>6u\033[>7u"
	    "\033[>8u\033[>9u"), "\033[=2u\033[>3u\033[>4u\033[>5u\033[>6u"
	    "\033[>7u\033[>8u\033[>9u", "\033[>2u" },
	/* what is saved comes back */
	{ C("\0337\033[31m\0338"), "\033[0m", "38;5;1" },
	{ C("\033[31m\0337\033[m"), "\033[0;38;5;1m", NULL },
	{ C("\033[31m\033[s\033[m\033[u"), "\033[0;38;5;1m", NULL },
	/* resets */
	{ C("\033[31m\033[?1049;1000;2004h\033c"), "\033[0m", "38;5;1" },
	{ C("\033[?1049;1000;2004h\033c"), "", "\033[?1047h" },
	{ C("\033[?2004;25;1h\033[?25l\033[!p"), "", "\033[?25l" },
	{ C("\033[?1000h\033[!p"), "\033[?1000h", NULL },
	/* the same by C1 controls, as UTF-8 and, after ESC % @, as bytes */
	{ C("\302\233?1h"), "\033[?1h", NULL },
	{ C("\033%@\233?1h"), "\033[?1h", NULL },
	{ C("\233?1h"), "", "\033[?1h" },
	/* what is only text, or inside of a string */
	{ C("[?1h"), "", "\033[?1h" },
	{ C("\033]0;a [?1h\007"), "", "\033[?1h" },
	{ C("\033P1$r [?1h\033\\"), "", "\033[?1h" },
	{ C("\033]0;a\033[?1h"), "\033[?1h", NULL },
	{ C("\033[?1\030h"), "", "\033[?1h" },
	{ C("\033[?1\033[31m"), "\033[0;38;5;1m", "\033[?1h" },
	/* controls in a sequence are obeyed, and it goes on */
	{ C("\033[3\r\n1m"), "\033[0;38;5;1m", NULL },
	{ C("\033[3\0161m"), "\016", NULL },
	/* what nobody knows */
	{ C("\033[?1=h"), "", "\033[?1h" },
	{ C("\033[1$h\033[1$$h"), "", "\033[4h" },
	{ C("\033[99999999999999999999h"), "\033[0m", NULL },
	{ C("\033[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;31m"), "\033[0m",
	    "38;5;1" },
};

static void
modes_are_said(void **state)
{
	const struct shown *t;
	struct said s;

	(void)state;
	for (t = shown; t < shown + NELEM(shown); t++) {
		s = after(t->bytes, t->len);
		if (strstr(rest(&s), t->has) == NULL)
			fail_msg("%zd: %s is not in %s", t - shown,
			    t->has + 1, rest(&s));
		if (t->has_not != NULL && strstr(rest(&s), t->has_not) != NULL)
			fail_msg("%zd: %s is in %s", t - shown,
			    t->has_not + 1, rest(&s));
	}
}

static const struct {
	const char	*bytes;
	size_t		 len;
	bool		 ground;
} cuts[] = {
	{ C(""), true }, { C("a\n"), true }, { C("\033"), false },
	{ C("\033["), false }, { C("\033[1"), false }, { C("\033[1;"), false },
	{ C("\033[1m"), true }, { C("\033("), false }, { C("\033(B"), true },
	{ C("\033]"), false }, { C("\033]0;title"), false },
	{ C("\033]0;title\n"), false }, { C("\033]0;title\007"), true },
	{ C("\033]0;title\033"), false }, { C("\033]0;title\033\\"), true },
	{ C("\033]0;title\302\234"), true }, { C("\033]0;\302\251\007"), true },
	{ C("\033Pq#0\007"), false }, { C("\033Pq#0\030"), true },
	{ C("\033X"), false }, { C("\033^"), false }, { C("\033_"), false },
	{ C("\033_\033\\"), true }, { C("\033%@\033_\234"), true },
	{ C("\302"), false }, { C("\302\251"), true }, { C("\302\233"), false },
	{ C("\342"), false }, { C("\342\202"), false },
	{ C("\342\202\254"), true }, { C("\360\237\230"), false },
	{ C("\360\237\230\200"), true }, { C("a\360\237"), false },
	{ C("\360\237a"), true }, { C("\377"), true }, { C("\200\200"), true },
	/* no characters of several bytes there */
	{ C("\033%@\342"), true },
};

static void
cuts_are_seen(void **state)
{
	struct ttymodes m;
	size_t i, j;

	(void)state;
	for (i = 0; i < NELEM(cuts); i++) {
		ttymodes_init(&m);
		ttymodes_feed(&m, cuts[i].bytes, cuts[i].len);
		if (ttymodes_is_ground(&m) != cuts[i].ground)
			fail_msg("%zu: %s", i, cuts[i].bytes);
		ttymodes_init(&m);
		for (j = 0; j < cuts[i].len; j++)
			ttymodes_feed(&m, cuts[i].bytes + j, 1);
		if (ttymodes_is_ground(&m) != cuts[i].ground)
			fail_msg("%zu, byte by byte: %s", i, cuts[i].bytes);
	}
}

static void
strings_without_an_end(void **state)
{
	struct ttymodes m, other;

	(void)state;
	ttymodes_init(&m);
	assert_string_equal(ttymodes_string(&m), "");
	ttymodes_feed(&m, C("\033]52;c;QUJD"));
	ttymodes_init(&other);
	ttymodes_feed(&other, ttymodes_string(&m), strlen(ttymodes_string(&m)));
	assert_false(ttymodes_is_ground(&other));
	/* BEL ends this kind and no other */
	ttymodes_feed(&other, "\007", 1);
	assert_true(ttymodes_is_ground(&other));
	ttymodes_feed(&m, C("\007\033_x"));
	ttymodes_init(&other);
	ttymodes_feed(&other, ttymodes_string(&m), strlen(ttymodes_string(&m)));
	ttymodes_feed(&other, "\007", 1);
	assert_false(ttymodes_is_ground(&other));
}

static void
a_new_size_ends_the_region(void **state)
{
	struct ttymodes m;
	struct said s;

	(void)state;
	ttymodes_init(&m);
	ttymodes_feed(&m, C("\033[3;10r"));
	ttymodes_resized(&m);
	s = say(&m);
	assert_null(strstr(rest(&s), "\033[3;10r"));
}

/* Pieces of sequences, in any order: not all of them make sense. */
static size_t
random_output(char *buf, size_t size)
{
	size_t i, n = (size_t)rand() % size;
	const struct shown *t;

	for (i = 0; i < n; ) {
		t = &shown[(size_t)rand() % NELEM(shown)];
		if (rand() % 4 == 0)
			buf[i++] = (char)rand();
		else if (t->len > n - i)
			break;
		else {
			memcpy(buf + i, t->bytes, t->len);
			i += t->len;
		}
	}
	return i;
}

/* A terminal that is shown a preamble would be described by the same one. */
static void
what_is_said_is_true(void **state)
{
	struct ttymodes m, fresh;
	struct said a, b;
	char buf[400];
	int i;

	(void)state;
	srand(1);
	for (i = 0; i < 20000; i++) {
		ttymodes_init(&m);
		ttymodes_feed(&m, buf, random_output(buf, sizeof(buf)));
		a = say(&m);
		ttymodes_init(&fresh);
		ttymodes_feed(&fresh, a.text, a.len);
		assert_true(ttymodes_is_ground(&fresh));
		b = say(&fresh);
		assert_string_equal(b.text, a.text);
	}
}

static void
pieces_make_no_difference(void **state)
{
	struct ttymodes whole, parts;
	struct said a, b;
	char buf[400];
	size_t n, at, step;
	int i;

	(void)state;
	srand(2);
	for (i = 0; i < 20000; i++) {
		n = random_output(buf, sizeof(buf));
		ttymodes_init(&whole);
		ttymodes_feed(&whole, buf, n);
		ttymodes_init(&parts);
		for (at = 0; at < n; at += step) {
			step = 1 + (size_t)rand() % 7;
			if (step > n - at)
				step = n - at;
			ttymodes_feed(&parts, buf + at, step);
		}
		a = say(&whole);
		b = say(&parts);
		assert_string_equal(b.text, a.text);
		assert_int_equal(ttymodes_is_ground(&parts),
		    ttymodes_is_ground(&whole));
	}
}

/* Where a terminal's own titles and colours are kept is not said again, but
 * who leaves it must know of them. */
static void
titles_and_colours(void **state)
{
	static const struct {
		const char	*bytes;
		size_t		 len;
		uint8_t		 titles, colours;
	} row[] = {
		{ C("\033]0;title\007"), 0, 0 },
		{ C("\033[22;0t"), 1, 0 },
		{ C("\033[22;2t\033[22;1t"), 2, 0 },
		{ C("\033[22;2t\033[22;1t\033[23;2t"), 1, 0 },
		{ C("\033[23t\033[22t\033[8;24;80t"), 1, 0 },
		{ C("\033]4;1;red\007"), 0, TTY_PALETTE },
		{ C("\033]4;1;?\007\033]11;?\033\\"), 0, 0 },
		{ C("\033]11;#fff\033\\"), 0, TTY_BACKGROUND },
		{ C("\033]12;red\007"), 0, TTY_CURSOR },
		{ C("\033]12;red\007\033]112\007"), 0, 0 },
		{ C("\033]12;red\007\033]112\033\\"), 0, 0 },
		{ C("\033]4;1;red\007\033]104;1\007"), 0, 0 },
		{ C("\033]10;red\007\033c"), 0, 0 },
		{ C("\033]10;red\007"), 0, TTY_FOREGROUND },
		{ C("\033]1212;red\007\033];\007\033]\007"), 0, 0 },
	};
	struct ttymodes m;
	size_t i;

	(void)state;
	for (i = 0; i < NELEM(row); i++) {
		ttymodes_init(&m);
		ttymodes_feed(&m, row[i].bytes, row[i].len);
		assert_int_equal(m.now.titles, row[i].titles);
		assert_int_equal(m.now.colours, row[i].colours);
		assert_true(ttymodes_is_ground(&m));
	}
}

static void
the_longest_has_room(void **state)
{
	static const char all[] =
	    "\033[=31u\033[>31u\033[>31u\033[>31u\033[>31u\033[>31u"
	    "\033[>31u\033[>31u\033[1;2;3;4:5;5;6;7;8;9;53;38;2;255;255;255;48;2;255;255;255;"
	    "58;2;255;255;255m\033(0\033)0\033*0\033+0\033o\033[?6h\0337"
	    "\033[?1049h\033[1;2;3;4:5;5;6;7;8;9;53;38;2;255;255;255;48;2;"
	    "255;255;255;58;2;255;255;255m\033(0\033)0\033*0\033+0\033o"
	    "\033[?6h\0337\033[999;1000r\033[4;20h\033[?1;5;12;45;1003;1004;"
	    "1016;1007;2004;2026;69;2027;2031;2048h\033[?7;25l\033=\033[6 q"
	    "\033[>4;3m\033[=31u\033[>31u\033[>31u\033[>31u\033[>31u"
	    "\033[>31u\033[>31u\033[>31u\033%@";
	struct said s = after(C(all));

	(void)state;
	assert_true(s.len < TTYMODES_PREAMBLE - 100);
	/* its last word is there */
	assert_string_equal(s.text + s.len - 3, "\033%@");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_are_said),
		cmocka_unit_test(cuts_are_seen),
		cmocka_unit_test(strings_without_an_end),
		cmocka_unit_test(a_new_size_ends_the_region),
		cmocka_unit_test(what_is_said_is_true),
		cmocka_unit_test(pieces_make_no_difference),
		cmocka_unit_test(titles_and_colours),
		cmocka_unit_test(the_longest_has_room),
	};

	return cmocka_run_group_tests_name("ttymodes", tests, NULL, NULL);
}
