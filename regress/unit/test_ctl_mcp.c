/* SPDX-License-Identifier: ISC */
/* Lines that are too long: who waits for an answer is found nevertheless. */
/* links: client/mcp/input.c client/lib/report.c client/lib/safe.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/mcp/mcp.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char	*line;
	const char	*id;		/* NULL = none */
	bool		 method;
} rows[] = {
	{ "{\"id\":1,\"method\":\"x\",\"params\":\"~\"}", "1", true },
	{ "{\"jsonrpc\":\"2.0\",\"params\":{\"id\":5,\"a\":[{\"id\":6}]},"
	    "\"method\":\"~\",\"id\":\"a\\\"b\"}", "a\"b", true },
	{ "{ \"id\" : -7 }~", "-7", false },
	{ "{\"method\":\"x\",\"params\":\"~\"}", NULL, true },
	{ "{\"x\":\"\\\",\\\"id\\\":1\",\"y\":\"id\",\"z\":\"~\"}", NULL,
	    false },
	{ "[{\"id\":1,\"x\":\"~\"}]", NULL, false },
	{ "{\"id\":{\"id\":2},\"x\":\"~\"}", NULL, false },
	{ "{\"id\":null}~", NULL, false },
	{ "{\"id\":1.5,\"x\":\"~\"}", NULL, false },
	{ "{\"id\":1,\"id\":2,\"x\":\"~\"}", "1", false },
	{ "{\"idx\":1,\"x\":\"~\"}", NULL, false },
	{ "{\"a\":\"id\",\"b\":[\"id\",3],\"x\":\"~\"}", NULL, false },
	{ "~\"id\":1", NULL, false },
	{ "}}}]]]{\"id\":1}~", "1", false },
	{ "{\"id\":1\r,\"x\":\"~\"}", "1", false },
};

/* In pieces of every size; ~ stands for much. */
static void
feed(struct mcp_long *l, const char *s, size_t piece)
{
	static char much[5000];
	size_t len, n;

	memset(much, 'y', sizeof(much));
	memset(l, 0, sizeof(*l));
	for (len = strlen(s); len > 0; s += n, len -= n) {
		n = *s == '~' ? 1 : strcspn(s, "~");
		n = n < piece ? n : piece;
		if (*s == '~')
			mcp_long_feed(l, much, sizeof(much));
		else
			mcp_long_feed(l, s, n);
	}
}

static void
ids(void **state)
{
	struct json_object *id;
	struct mcp_long l;
	size_t i, piece;

	(void)state;
	for (i = 0; i < COUNT(rows); i++)
		for (piece = 1; piece < 60; piece++) {
			feed(&l, rows[i].line, piece);
			id = mcp_long_id(&l);
			if ((id != NULL) != (rows[i].id != NULL) ||
			    (id != NULL && strcmp(json_object_get_string(id),
			    rows[i].id) != 0) || l.method != rows[i].method)
				fail_msg("%s: %s", rows[i].line,
				    json_object_get_string(id));
			json_object_put(id);
		}
}

/* Keep the spelling of an id: a client may compare its bytes. */
static void
ids_as_they_came(void **state)
{
	struct json_object *id;
	struct mcp_long l;

	(void)state;
	feed(&l, "{\"id\" : \"\\ud800\\/\\u0061\" \r,\"x\":\"~\"}", 3);
	id = mcp_long_id(&l);
	assert_string_equal(json_object_to_json_string(id),
	    "\"\\ud800\\/\\u0061\"");
	json_object_put(id);
}

static void
long_ids(void **state)
{
	char line[400] = "{\"id\":\"";
	struct mcp_long l;

	(void)state;
	memset(line + strlen(line), 'i', 200);
	strcat(line, "\",\"x\":\"~\"}");
	feed(&l, line, 7);
	assert_null(mcp_long_id(&l));
}

/* Standard input, and the lines that are read from it. */
static void
lines(void **state)
{
	static struct mcp_input in;
	const struct mcp_long *over;
	const char *const want[] = { "a", "", "bc", NULL, "d", "e" };
	static char much[3 * MCP_MESSAGE_MAX];
	size_t len, i = 0;
	char *line;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	memset(much, 'x', sizeof(much));
	fprintf(f, "a\n\nbc\n%.*s\nd\ne", (int)sizeof(much), much);
	rewind(f);
	assert_int_equal(dup2(fileno(f), STDIN_FILENO), STDIN_FILENO);
	fclose(f);
	for (;;) {
		while ((line = mcp_input_line(&in, &len, &over)) != NULL) {
			assert_true(i < COUNT(want));
			assert_true((over != NULL) == (want[i] == NULL));
			assert_string_equal(line, want[i] == NULL ? "" :
			    want[i]);
			assert_int_equal(len, strlen(line));
			i++;
		}
		if (in.ended)
			break;
		(void)mcp_input_read(&in);
	}
	assert_int_equal(i, COUNT(want));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids), cmocka_unit_test(ids_as_they_came),
		cmocka_unit_test(long_ids), cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
