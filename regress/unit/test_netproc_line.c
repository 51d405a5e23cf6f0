/* SPDX-License-Identifier: ISC */
/* Lines, words, numbers and paths as clients send them, right and wrong. */
/* links: netproc/text/line.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "netproc/text/line.h"

static struct word
word(const char *s)
{
	return (struct word){ s, strlen(s) };
}

static struct words
split(const char *s)
{
	struct words ws;

	line_split(s, strlen(s), &ws);
	return ws;
}

/* -- framing -- */

static void
test_find_whole_lines(void **state)
{
	const char buf[] = "LIST\r\nSTATUS x\n\nrest";
	size_t have = sizeof(buf) - 1, scanned = 0, len, used, at = 0;

	(void)state;
	assert_int_equal(line_find(buf, have, &scanned, &len, &used),
	    LINE_READY);
	assert_int_equal(len, 4);
	assert_int_equal(used, 6);
	at += used;
	assert_int_equal(line_find(buf + at, have - at, &scanned, &len, &used),
	    LINE_READY);
	assert_int_equal(len, 8);
	at += used;
	assert_int_equal(line_find(buf + at, have - at, &scanned, &len, &used),
	    LINE_READY);
	assert_int_equal(len, 0);
	at += used;
	assert_int_equal(line_find(buf + at, have - at, &scanned, &len, &used),
	    LINE_NONE);
	assert_int_equal(scanned, 4);
}

static void
test_empty_lines(void **state)
{
	(void)state;
	assert_true(line_is_empty("", 0));
	assert_true(line_is_empty(" \t ", 3));
	assert_false(line_is_empty(" x ", 3));
	assert_false(line_is_empty("\r", 1));
}

/* Bytes already scanned are not scanned again, and no line end is missed. */
static void
test_find_one_byte_at_a_time(void **state)
{
	const char buf[] = "STATUS abcd\n";
	size_t scanned = 0, len = 0, used = 0, have;

	(void)state;
	for (have = 1; have < sizeof(buf) - 1; have++) {
		assert_int_equal(line_find(buf, have, &scanned, &len, &used),
		    LINE_NONE);
		assert_int_equal(scanned, have);
	}
	assert_int_equal(line_find(buf, have, &scanned, &len, &used),
	    LINE_READY);
	assert_int_equal(len, 11);
	assert_int_equal(scanned, 0);
}

static void
test_find_limits(void **state)
{
	char *buf = malloc(LINE_BUFFER);
	size_t scanned = 0, len = 0, used = 0;

	(void)state;
	assert_non_null(buf);
	memset(buf, 'a', LINE_BUFFER);
	assert_int_equal(line_find(buf, LINE_BUFFER - 1, &scanned, &len,
	    &used), LINE_NONE);
	assert_int_equal(line_find(buf, LINE_BUFFER, &scanned, &len, &used),
	    LINE_TOO_LONG);
	/* the longest line that is allowed, with \r\n and with \n */
	memcpy(buf + LINE_MAX_BYTES, "\r\n", 2);
	scanned = 0;
	assert_int_equal(line_find(buf, LINE_BUFFER, &scanned, &len, &used),
	    LINE_READY);
	assert_int_equal(len, LINE_MAX_BYTES);
	memcpy(buf + LINE_MAX_BYTES, "a\n", 2);
	scanned = 0;
	assert_int_equal(line_find(buf, LINE_BUFFER, &scanned, &len, &used),
	    LINE_TOO_LONG);
	free(buf);
}

static void
test_find_tls(void **state)
{
	size_t scanned = 0, len = 0, used = 0;

	(void)state;
	assert_int_equal(line_find("\x16", 1, &scanned, &len, &used),
	    LINE_TLS);
	assert_int_equal(line_find("\x16\x03\x01\n", 4, &scanned, &len, &used),
	    LINE_TLS);
}

static void
test_control(void **state)
{
	(void)state;
	assert_false(line_has_control("ENV x A=\t\xc3\xa9 ~", 13));
	assert_true(line_has_control("a\0b", 3));
	assert_true(line_has_control("a\rb", 3));
	assert_true(line_has_control("a\x1b", 2));
	assert_true(line_has_control("\x7f", 1));
}

/* -- words -- */

static void
test_split(void **state)
{
	struct words ws = split(" \tSTATUS  ab\tcd ");
	struct word rest;

	(void)state;
	assert_int_equal(ws.n, 3);
	assert_true(word_is(&ws.w[0], "STATUS"));
	assert_true(word_is(&ws.w[1], "ab"));
	assert_true(word_is(&ws.w[2], "cd"));
	assert_false(word_is(&ws.w[2], "c"));
	assert_false(word_is(&ws.w[2], "cde"));
	rest = line_rest(&ws, 1);
	assert_int_equal(rest.len, strlen("ab\tcd "));
	rest = line_rest(&ws, 3);
	assert_int_equal(rest.len, 0);
	assert_int_equal(split("").n, 0);
	assert_int_equal(split("  ").n, 0);
}

static void
test_split_more_than_is_told_apart(void **state)
{
	struct words ws = split("1 2 3 4 5 6 7 8 9 10 11 12");

	(void)state;
	assert_int_equal(ws.n, WORDS_MAX);
	assert_true(word_is(&ws.w[WORDS_MAX - 1], "12"));
	ws = split("1 2 3 4 5 6 7 8 9 10 11 12 13 14");
	assert_int_equal(ws.n, WORDS_MAX + 1);
	assert_int_equal(line_rest(&ws, WORDS_MAX).len, 0);
}

static void
test_http(void **state)
{
	static const char *const http[] = {
		"GET / HTTP/1.1", "POST /x", "DELETE /sessions/1 HTTP/1.0",
		"OPTIONS * HTTP/1.1", "GET http://a/ HTTP/1.1", "HTTP/1.1 200",
		"PRI * HTTP/2.0", "PROPFIND / HTTP/1.1", "CONNECT a:1 HTTP/1.1",
	};
	static const char *const ours[] = {
		"DELETE abcd", "LIST", "UPLOAD 10 HTTP/1", "GET", "ARGS a /b",
		"ARGS a HTTP/1.1", "", "OUTPUT abcd 0 base64",
	};
	struct words ws;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(http) / sizeof(http[0]); i++) {
		ws = split(http[i]);
		if (!line_is_http(&ws))
			fail_msg("\"%s\" would act", http[i]);
	}
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		ws = split(ours[i]);
		if (line_is_http(&ws))
			fail_msg("\"%s\" is taken for HTTP", ours[i]);
	}
}

/* -- numbers -- */

static void
test_numbers(void **state)
{
	static const char *const bad[] = { "", "-5", "+7", "1e9", " 1", "1 ",
		"0x10", "abc", "1.0", "18446744073709551616",
		"99999999999999999999999", "\xd9\xa3" };
	struct word w;
	uint64_t v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = word(bad[i]);
		v = 77;
		assert_non_null(number_parse(&w, UINT64_MAX, &v));
		assert_int_equal(v, 77);
	}
	w = word("18446744073709551615");
	assert_null(number_parse(&w, UINT64_MAX, &v));
	assert_true(v == UINT64_MAX);
	w = word("0007");
	assert_null(number_parse(&w, 7, &v));
	assert_int_equal(v, 7);
	w = word("8");
	assert_non_null(number_parse(&w, 7, &v));
	w = word("10");
	assert_non_null(number_parse(&w, 9, &v));
	w = word("0");
	assert_null(number_parse(&w, 0, &v));
	assert_int_equal(v, 0);
}

/* -- paths and variables -- */

static void
test_exec_paths(void **state)
{
	static const char *const good[] = { "a", "a/b", "a..b/c..", "./a",
		"...", "a//b", "\xc3\xa9" };
	static const char *const bad[] = { "", "/bin/ls", "..", "../a",
		"a/../b", "a/..", "a/", "a\x01", "a\tb" };
	char longest[EXEC_PATH_MAX + 1];
	struct word w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		w = word(good[i]);
		if (exec_path_check(&w) != NULL)
			fail_msg("\"%s\" is refused", good[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = word(bad[i]);
		if (exec_path_check(&w) == NULL)
			fail_msg("\"%s\" is taken", bad[i]);
	}
	memset(longest, 'a', sizeof(longest));
	w = (struct word){ longest, EXEC_PATH_MAX - 1 };
	assert_null(exec_path_check(&w));
	w.len++;
	assert_non_null(exec_path_check(&w));
}

static void
test_env(void **state)
{
	static const char *const bad[] = { "A", "=x", "1A=x", "A B=x", "A-B=x",
		"\xc3\xa9=x" };
	struct word w = word("_aZ9= b=c ");
	size_t i, eq = 0;

	(void)state;
	assert_null(env_check(&w, &eq));
	assert_int_equal(eq, 4);
	w = word("A=");
	assert_null(env_check(&w, &eq));
	assert_int_equal(eq, 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = word(bad[i]);
		if (env_check(&w, &eq) == NULL)
			fail_msg("\"%s\" is taken", bad[i]);
	}
	/* ENVDEL: a name alone */
	w = word("ABC");
	assert_null(env_check(&w, NULL));
	w = word("A=1");
	assert_non_null(env_check(&w, NULL));
}

/* -- arguments -- */

/* words, each ended by '|' */
static void
expect_args(const char *typed, const char *want)
{
	struct word w = word(typed);
	char out[256], shown[256];
	size_t len = 0, i;

	assert_null(args_split(&w, out, sizeof(out), &len));
	for (i = 0; i < len; i++)
		shown[i] = out[i] == '\0' ? '|' : out[i];
	shown[len] = '\0';
	assert_string_equal(shown, want);
}

static void
test_args(void **state)
{
	(void)state;
	expect_args("", "");
	expect_args("  \t ", "");
	expect_args("a b", "a|b|");
	expect_args(" --port  8080\t-v ", "--port|8080|-v|");
	expect_args("'a b' \"c d\" e\\ f", "a b|c d|e f|");
	expect_args("'' \"\" x", "||x|");
	expect_args("a'b'\"c\"d", "abcd|");
	expect_args("\"a\\\"b\\\\c\\$d\\`e\\nf\"", "a\"b\\c$d`e\\nf|");
	expect_args("'a\\b'", "a\\b|");
	expect_args("\\'x\\\"", "'x\"|");
	expect_args("$HOME `id` ; a|b", "$HOME|`id`|;|a|b|");
}

static void
test_args_refused(void **state)
{
	static const char *const bad[] = { "'", "a 'b", "\"", "\"a\\\"",
		"a\\", "'a\\'b'" };
	char out[64];
	struct word w;
	size_t i, len = 0;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = word(bad[i]);
		if (args_split(&w, out, sizeof(out), &len) == NULL)
			fail_msg("%s is taken", bad[i]);
	}
	/* exactly full, and one byte more */
	w = word("abc d");
	assert_null(args_split(&w, out, 6, &len));
	assert_int_equal(len, 6);
	assert_non_null(args_split(&w, out, 5, &len));
}

/* -- UPLOAD -- */

static struct upload_request
upload(const char *line)
{
	static char kept[2048];
	struct upload_request r;
	struct words ws;

	(void)strncpy(kept, line, sizeof(kept) - 1);
	ws = split(kept);
	upload_parse(&ws, &r);
	return r;
}

static void
test_upload(void **state)
{
	struct upload_request r = upload("UPLOAD 1048576");

	(void)state;
	assert_true(r.known);
	assert_int_equal(r.err, ERR_OK);
	assert_int_equal(r.size, 1048576);
	assert_int_equal(r.path.len, 0);
	r = upload("UPLOAD 5 my_app/a..b");
	assert_int_equal(r.err, ERR_OK);
	assert_true(word_is(&r.path, "my_app/a..b"));
	assert_int_equal(r.file.len, 0);
	r = upload("UPLOAD 5 file=busybox");
	assert_int_equal(r.err, ERR_OK);
	assert_int_equal(r.path.len, 0);
	assert_true(word_is(&r.file, "busybox"));
	r = upload("UPLOAD 5 bin/a file=a.tar.gz");
	assert_int_equal(r.err, ERR_OK);
	assert_true(word_is(&r.path, "bin/a"));
	assert_true(word_is(&r.file, "a.tar.gz"));
	/* a program in a bundle that is called so */
	r = upload("UPLOAD 5 ./file=a");
	assert_int_equal(r.err, ERR_OK);
	assert_true(word_is(&r.path, "./file=a"));
}

/* A payload whose size is known can be skipped, any other cannot. */
static void
test_upload_refused(void **state)
{
	static const char *const unknown[] = { "UPLOAD", "UPLOAD -5",
		"UPLOAD 1e9", "UPLOAD +7", "UPLOAD abc x",
		"UPLOAD 99999999999999999999999", "UPLOAD 9223372036854775808" };
	struct upload_request r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		r = upload(unknown[i]);
		assert_false(r.known);
		assert_int_equal(r.err, ERR_INVALID_SIZE);
	}
	r = upload("UPLOAD 0");
	assert_true(r.known);
	assert_int_equal(r.err, ERR_INVALID_SIZE);
	assert_int_equal(r.size, 0);
	r = upload("UPLOAD 10 bad/../path");
	assert_true(r.known);
	assert_int_equal(r.size, 10);
	assert_int_equal(r.err, ERR_INVALID_EXEC_PATH);
	r = upload("UPLOAD 10 file=a bin/a");
	assert_int_equal(r.err, ERR_INVALID_EXEC_PATH);
	r = upload("UPLOAD 10 two words file=x");
	assert_int_equal(r.err, ERR_INVALID_EXEC_PATH);
	r = upload("UPLOAD 10 two words");
	assert_true(r.known);
	assert_int_equal(r.size, 10);
	assert_int_equal(r.err, ERR_INVALID_EXEC_PATH);
}

/* -- signals -- */

static void
test_signals(void **state)
{
	static const char *const bad[] = { "", "0", "65", "SIG", "NOPE", "-9",
		"term", "SIG0", "9 " };
	char buf[16];
	struct word w;
	size_t i;

	(void)state;
	w = word("TERM");
	assert_int_equal(signal_parse(&w), SIGTERM);
	w = word("SIGKILL");
	assert_int_equal(signal_parse(&w), SIGKILL);
	w = word("34");
	assert_int_equal(signal_parse(&w), 34);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = word(bad[i]);
		if (signal_parse(&w) != 0)
			fail_msg("signal \"%s\" is taken", bad[i]);
	}
	assert_string_equal(signal_text(SIGSEGV, buf, sizeof(buf)), "SIGSEGV");
	assert_string_equal(signal_text(34, buf, sizeof(buf)), "SIG34");
	assert_string_equal(signal_text(12345, buf, sizeof(buf)), "SIG12345");
	w = word("SIG34");
	assert_int_equal(signal_parse(&w), 34);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_whole_lines),
		cmocka_unit_test(test_empty_lines),
		cmocka_unit_test(test_find_one_byte_at_a_time),
		cmocka_unit_test(test_find_limits),
		cmocka_unit_test(test_find_tls),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_more_than_is_told_apart),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_exec_paths),
		cmocka_unit_test(test_env),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_args_refused),
		cmocka_unit_test(test_upload),
		cmocka_unit_test(test_upload_refused),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
