/* SPDX-License-Identifier: ISC */
/* links: timeline/query/query_regex.c common/base/json.c common/base/text.c */
/* The tracer's regular expressions: what they match, and in what time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/query/query_regex.h"

static void
matches(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} rows[] = {
		{ "a+b", "xaab", true }, { "^a$", "a", true },
		{ "^a$", "ab", false }, { "^a", "ba", false },
		{ "a$", "ab", false }, { "", "anything", true },
		{ "^$", "", true }, { "^$", "x", false }, { ".", "", false },
		{ "[^a-c]", "b", false }, { "[^a-c]", "d", true },
		{ "[]a]", "]", true }, { "[^]a]", "]", false },
		{ "[a-]", "-", true }, { "[\\]]", "]", true },
		{ "[[:digit:]x]+$", "1x2", true }, { "[[:alpha:]]", "1", false },
		{ "\\d{3}", "ab12", false }, { "\\d{3}", "ab123", true },
		{ "^a{2,3}$", "aaaa", false }, { "^a{2,3}$", "aaa", true },
		{ "^x{2,}$", "xxxxxx", true }, { "^x{0}$", "", true },
		{ "x{", "x{", true }, { "x{a}", "x{a}", true },
		{ "\\bfoo\\b", "a foo b", true }, { "\\bfoo\\b", "afoo", false },
		{ "\\Bfoo", "afoo", true }, { "\\Bfoo", "foo", false },
		{ "(?i)HeL", "ahello", true }, { "HeL", "ahello", false },
		{ "(?i)[A-C]+$", "xab", true }, { "(?i)[^a]", "A", false },
		{ "^.$", "\xc3\xa9", true }, { "^[\xc3\xa0-\xc3\xaf]$",
		    "\xc3\xa9", true }, { "\xc3\xa9+$", "caf\xc3\xa9\xc3\xa9",
		    true }, { "^..$", "\xc3\xa9", false },
		{ "\\x{e9}", "\xc3\xa9", true }, { "\\x41", "A", true },
		{ "a|b|", "", true }, { "^(ab|cd)*$", "abcdab", true },
		{ "^(ab|cd)*$", "abc", false }, { "^(?:a|ab)(?:c|bcd)$",
		    "abcd", true }, { "a*?b", "aab", true },
		{ "auth::.*::validate$", "auth::user::validate", true },
		{ "^operator\\(\\)$", "operator()", true },
		{ "\\(anonymous namespace\\)::f", "(anonymous namespace)::f",
		    true }, { "(a*)*", "b", true }, { "(|a)+$", "aaa", true },
		{ "\\w\\s\\W\\S\\D", "a !bc", true }, { ".", "\n", false },
		{ "[\\d-]+$", "1-2", true },
	};
	char why[REGEX_WHY];
	struct regex *re;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		re = regex_new(rows[i].pattern, strlen(rows[i].pattern), why);
		if (re == NULL)
			fail_msg("%s: %s", rows[i].pattern, why);
		if (regex_match(re, rows[i].text, strlen(rows[i].text)) !=
		    rows[i].match)
			fail_msg("%s on %s", rows[i].pattern, rows[i].text);
		regex_free(re);
	}
}

static void
refusals_say_why(void **state)
{
	static const struct {
		const char *pattern, *why;
	} rows[] = {
		{ "(", "without its )" }, { ")", "without its (" },
		{ "[a", "without its ]" }, { "*a", "nothing before" },
		{ "a|*", "nothing before" }, { "\\", "at the end" },
		{ "(a)\\1", "back references" }, { "(?=a)", "(?:..)" },
		{ "(?<=a)b", "(?:..)" }, { "a(?i)b", "(?:..)" },
		{ "\\q", "unknown letter" }, { "[z-a]", "wrong way" },
		{ "a{1001}", "1000" }, { "a{3,2}", "1000" },
		{ "a{99999999999999999999}", "1000" },
		{ "[[:nope:]]", "unknown name" }, { "\\x{110000}", "\\x" },
		{ "\\xg", "\\x" }, { "(((a{100}){100}){100}){100}",
		    "too large" }, { "((((){1000}){1000}){1000}){1000}",
		    "too large" }, { "a**b**c***", "repetitions" },
	};
	char why[REGEX_WHY], deep[300];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(regex_new(rows[i].pattern,
		    strlen(rows[i].pattern), why));
		if (strstr(why, rows[i].why) == NULL)
			fail_msg("%s: %s", rows[i].pattern, why);
	}
	memset(deep, '(', sizeof(deep));
	assert_null(regex_new(deep, sizeof(deep), why));
	assert_non_null(strstr(why, "within each other"));
}

static double
seconds_for(const char *pattern, const char *text, size_t len)
{
	char why[REGEX_WHY];
	struct regex *re = regex_new(pattern, strlen(pattern), why);
	struct timespec a, b;

	assert_non_null(re);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	assert_false(regex_match(re, text, len));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	regex_free(re);
	return (double)(b.tv_sec - a.tv_sec) +
	    (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/*
 * Backtracking on these patterns takes longer than the age of the universe.
 * With a hundred times the text of its bound, each ends within a few seconds of
 * processor time, however slow the machine.
 */
static void
time_is_linear(void **state)
{
	static const char *const patterns[] = {
		"(a*)*b", "(a|a)*b", "(a+)+b", "(x+x+)+y|a+b", "(.*)*b",
		"(a|aa)+b", "a*a*a*a*a*a*a*a*a*a*b", "(a?){30}a{30}b",
		"^(([a-z])+.)+[A-Z]b", "(.*a){20}b",
	};
	size_t len = 50000, i;
	char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', len);
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		assert_true(seconds_for(patterns[i], text, len) < 20);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(time_is_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
