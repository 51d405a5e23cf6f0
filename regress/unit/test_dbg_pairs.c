/* SPDX-License-Identifier: ISC */
/* Entries of an adapter's answer belong to the things that they name. */
/* links: debugger/text/pairs.c debugger/text/json_get.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

#include "debugger/text/json_get.h"
#include "debugger/text/pairs.h"

/* Ids of the things as digits, '-' is a new thing; then entries' words. */
static const struct {
	const char	*ids, *reply, *want;
} rows[] = {
	{ "--", "[{\"w\":\"a\"},{\"w\":\"b\"}]", "ab" },
	{ "12", "[{\"w\":\"b\",\"id\":2},{\"w\":\"a\",\"id\":1}]", "ab" },
	/* new ids at each answer: the order of the request */
	{ "12", "[{\"w\":\"a\",\"id\":7},{\"w\":\"b\",\"id\":8}]", "ab" },
	{ "12-", "[{\"w\":\"a\",\"id\":1},{\"w\":\"b\"},{\"w\":\"c\"}]", "abc" },
	/* out of order: a new id is that of the new thing */
	{ "12-", "[{\"w\":\"c\",\"id\":3},{\"w\":\"a\",\"id\":1},{\"w\":\"b\"}]",
	    "abc" },
	{ "12--", "[{\"w\":\"b\",\"id\":2},{\"w\":\"a\",\"id\":1},"
	    "{\"w\":\"x\",\"id\":3},{\"w\":\"y\",\"id\":4}]", "ab.." },
	/* short or long: ids only */
	{ "12-", "[{\"w\":\"c\",\"id\":3},{\"w\":\"a\",\"id\":1}]", "a.c" },
	{ "12-", "[{\"w\":\"b\",\"id\":2},{\"w\":\"x\"}]", ".b." },
	{ "12", "[{\"w\":\"x\"}]", ".." },
	{ "-", "[{\"w\":\"x\"},{\"w\":\"y\"}]", "." },
	{ "12", "[]", ".." },
	/* two things of one id */
	{ "11", "[{\"w\":\"a\",\"id\":1},{\"w\":\"b\",\"id\":1}]", "ab" },
	{ "1-", "[{\"w\":\"a\",\"id\":1},{\"w\":\"b\",\"id\":1}]", "ab" },
	{ "1-", "[7,null]", ".." },
};

static void
entries_belong_to_what_they_name(void **state)
{
	struct pair all[8];
	struct json_object *reply;
	const char *word;
	char got[9];
	size_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = strlen(rows[i].ids);
		memset(got, 0, sizeof(got));
		for (k = 0; k < n; k++)
			all[k] = (struct pair) {
				.named = rows[i].ids[k] != '-',
				.id = rows[i].ids[k] - '0' };
		reply = json_tokener_parse(rows[i].reply);
		pair_entries(all, n, reply);
		for (k = 0; k < n; k++) {
			word = jget_str(all[k].entry, "w");
			got[k] = word == NULL ? '.' : word[0];
		}
		json_object_put(reply);
		assert_string_equal(got, rows[i].want);
	}
}

static void
many_are_no_harm(void **state)
{
	static struct pair all[3 * PAIRS_MOST];
	struct json_object *reply = json_object_new_array();
	size_t i;

	(void)state;
	for (i = 0; i < 3 * PAIRS_MOST; i++)
		json_object_array_add(reply, json_object_new_object());
	pair_entries(all, 3 * PAIRS_MOST, reply);
	assert_null(all[PAIRS_MOST].entry);
	pair_entries(all, 1, reply);
	assert_null(all[0].entry);
	json_object_put(reply);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_belong_to_what_they_name),
		cmocka_unit_test(many_are_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
