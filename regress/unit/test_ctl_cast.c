/* SPDX-License-Identifier: ISC */
/* Recordings: what is written can be read again, what others wrote is
 * believed no further than it goes. */
/* links: client/ctl/cast.c client/lib/report.c client/lib/safe.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/cast.h"
#include "client/lib/report.h"

#define HEAD	"{\"version\": 2, \"width\": 80, \"height\": 24}\n"
#define HEAD3	"{\"version\": 3, \"term\": {\"cols\": 90, \"rows\": 30}}\n"

static FILE *
file_of(const void *text, size_t len)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	rewind(f);
	return f;
}

/* Reads all of it: how many events, or -1. The message goes to *why. */
static int
read_all(const void *text, size_t len, struct cast_header *h, char **why)
{
	FILE *f = file_of(text, len);
	struct cast_reader *r;
	struct cast_event e;
	int n = -1, got = -1;

	report_hold();
	if ((r = cast_open(f, "x", h)) != NULL) {
		for (n = 0; (got = cast_next(r, &e)) == 1; n++)
			;
		cast_close(r);
	}
	*why = report_release();
	fclose(f);
	return got == 0 ? n : -1;
}

static void
test_headers(void **state)
{
	static const char *const wrong[] = {
		"", "\n", "x\n", "[]\n", "{}\n", "{\"version\": 2}\n",
		"{\"version\": 1, \"width\": 80, \"height\": 24}\n",
		"{\"version\": 4, \"width\": 80, \"height\": 24}\n",
		"{\"version\": \"2\", \"width\": 80, \"height\": 24}\n",
		"{\"version\": 2, \"width\": 0, \"height\": 24}\n",
		"{\"version\": 2, \"width\": -1, \"height\": 24}\n",
		"{\"version\": 2, \"width\": 1e9, \"height\": 24}\n",
		"{\"version\": 2, \"width\": 99999999999, \"height\": 24}\n",
		"{\"version\": 2, \"width\": 80, \"height\": null}\n",
		"{\"version\": 3, \"width\": 80, \"height\": 24}\n",
		"{\"version\": 3, \"term\": [80, 24]}\n",
		"{\"version\": 2, \"width\": 80, \"height\": 24} x\n",
		"{\"version\": 2, \"width\": 80, \"height\": 24\n",
		"{\"version\": 2, \"width\": 80, \"height\": 24, "
		"\"idle_time_limit\": \"x\"}\n",
		"{\"version\": 2, \"width\": 80, \"height\": 24, "
		"\"idle_time_limit\": -1}\n",
		"[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n",
		"\177ELF\n",
	};
	struct cast_header h;
	char *why;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_all(wrong[i], strlen(wrong[i]), &h,
		    &why), -1);
		assert_non_null(why);
		free(why);
	}
	assert_int_equal(read_all(HEAD, sizeof(HEAD) - 1, &h, &why), 0);
	assert_null(why);
	assert_int_equal(h.cols, 80);
	assert_int_equal(h.rows, 24);
	assert_int_equal(read_all(HEAD3, sizeof(HEAD3) - 1, &h, &why), 0);
	assert_int_equal(h.cols, 90);
	assert_int_equal(h.rows, 30);
}

static void
test_events(void **state)
{
	static const struct {
		const char	*line;
		int		 n;
	} lines[] = {
		{ "[0, \"o\", \"x\"]", 1 },
		{ "[0, \"o\", \"x\"]\r\n\r\n\n[1, \"o\", \"y\"]", 2 },
		{ "# a comment\n[0.5, \"m\", \"\"]", 1 },
		{ "[1e3, \"weird\", \"x\"]", 1 },
		{ "[0, \"o\", \"x\", 1]", 1 },
		{ "[0, \"o\"]", -1 }, { "[\"0\", \"o\", \"x\"]", -1 },
		{ "[null, \"o\", \"x\"]", -1 }, { "[-1, \"o\", \"x\"]", -1 },
		{ "[NaN, \"o\", \"x\"]", -1 },
		{ "[Infinity, \"o\", \"x\"]", -1 },
		{ "[1e400, \"o\", \"x\"]", -1 },
		{ "[1e10, \"o\", \"x\"]", -1 },
		{ "[0, 1, \"x\"]", -1 }, { "[0, \"o\", null]", -1 },
		{ "{}", -1 }, { "[0, \"o\", \"x", -1 }, { "1", -1 },
		{ "[0, \"o\", \"x\"] [1]", -1 }, { "[[[[[[[[[[[[", -1 },
	};
	struct cast_header h;
	char text[256], *why;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), HEAD "%s\n", lines[i].line);
		assert_int_equal(read_all(text, strlen(text), &h, &why),
		    lines[i].n);
		assert_int_equal(why != NULL, lines[i].n == -1);
		if (why != NULL)
			assert_non_null(strstr(why, "x: line "));
		free(why);
	}
}

static void
test_times(void **state)
{
	static const char absolute[] = HEAD "[1, \"o\", \"a\"]\n"
	    "[3.5, \"o\", \"b\"]\n[2, \"o\", \"c\"]\n";
	static const char relative[] = HEAD3 "[1, \"o\", \"a\"]\n"
	    "[3.5, \"o\", \"b\"]\n[2, \"x\", \"0\"]\n";
	static const struct {
		const char	*text;
		double		 at[3];
	} cases[] = {
		/* time does not go backwards */
		{ absolute, { 1, 3.5, 3.5 } }, { relative, { 1, 4.5, 6.5 } },
	};
	struct cast_reader *r;
	struct cast_header h;
	struct cast_event e;
	size_t i, j;
	FILE *f;

	(void)state;
	for (i = 0; i < 2; i++) {
		f = file_of(cases[i].text, strlen(cases[i].text));
		r = cast_open(f, "x", &h);
		assert_non_null(r);
		for (j = 0; j < 3; j++) {
			assert_int_equal(cast_next(r, &e), 1);
			assert_true(e.at == cases[i].at[j]);
		}
		assert_int_equal(cast_next(r, &e), 0);
		cast_close(r);
		fclose(f);
	}
}

static void
test_too_long(void **state)
{
	size_t len = CAST_LINE_MAX + 100;
	char *text = malloc(len), *why;
	struct cast_header h;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	assert_int_equal(read_all(text, len, &h, &why), -1);
	assert_non_null(strstr(why, "longer than 16 MiB"));
	free(why);
	free(text);
}

static void
test_sizes(void **state)
{
	static const struct {
		const char	*text;
		bool		 good;
	} cases[] = {
		{ "80x24", true }, { "1x1", true }, { "80x24x", false },
		{ "0x24", false }, { "80", false }, { "80x", false },
		{ "99999x1", false }, { "-1x24", false }, { "", false },
		{ "80x24 ", false },
	};
	struct cast_event e = { .code = 'r' };
	unsigned int cols, rows;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e.data = cases[i].text;
		e.len = strlen(e.data);
		assert_int_equal(cast_size(&e, &cols, &rows), cases[i].good);
	}
	e = (struct cast_event){ .code = 'o', .data = "80x24", .len = 5 };
	assert_false(cast_size(&e, &cols, &rows));
}

/* All bytes, in pieces of every length: what is read again is the same, but
 * for what is no UTF-8. */
static void
test_round_trip(void **state)
{
	static const unsigned char raw[] = "a\"\\\b\033[0m\177\r\n\0\xc2\x9b"
	    "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xff.\xe2\x82.\xc3";
	static const char wanted[] = "a\"\\\b\033[0m\177\r\n\0\xc2\x9b"
	    "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd.\xef\xbf\xbd"
	    "\xef\xbf\xbd.\xef\xbf\xbd";
	struct cast_writer w;
	struct cast_reader *r;
	struct cast_header h;
	struct cast_event e;
	char all[256];
	size_t piece, n, i;
	FILE *f;

	(void)state;
	for (piece = 1; piece < sizeof(raw); piece++) {
		f = tmpfile();
		cast_begin(&w, f, 100, 30, 1700000000, "a \"title\"\n");
		for (i = 0; i < sizeof(raw) - 1; i += piece)
			cast_output(&w, (double)i, raw + i,
			    sizeof(raw) - 1 - i < piece ?
			    sizeof(raw) - 1 - i : piece);
		cast_resize(&w, 40, 90, 20);
		cast_mark(&w, 41, "m");
		assert_int_equal(cast_end(&w, 42), 0);
		rewind(f);
		r = cast_open(f, "x", &h);
		assert_non_null(r);
		assert_int_equal(h.cols, 100);
		for (n = 0; cast_next(r, &e) == 1;)
			if (e.code == 'o') {
				memcpy(all + n, e.data, e.len);
				n += e.len;
			}
		assert_int_equal(n, sizeof(wanted) - 1);
		assert_memory_equal(all, wanted, n);
		cast_close(r);
		fclose(f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_round_trip),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
