/* SPDX-License-Identifier: ISC */
/* Messages of terminals: what is taken, what is refused, what is sent. */
/* links: netproc/term/termmsg.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/jsonlex.c netproc/text/line.c common/base/base64.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "netproc/term/termmsg.h"

static struct term_msg m;

#define PARSE(s)	termmsg_parse((s), sizeof(s) - 1, &m)

static const char *
parse_json(const char *s)
{
	return termmsg_parse_json(s, strlen(s), &m);
}

static void
test_binary(void **state)
{
	(void)state;
	assert_null(PARSE("\x00hi\x00\xff"));
	assert_int_equal(m.type, TERM_INPUT);
	assert_int_equal(m.len, 4);
	assert_memory_equal(m.p, "hi\x00\xff", 4);
	assert_null(PARSE("\x00"));
	assert_int_equal(m.len, 0);
	assert_null(PARSE("\x01\x00\x78\x01\x02"));
	assert_int_equal(m.cols, 120);
	assert_int_equal(m.rows, 258);
	assert_null(PARSE("\x02token"));
	assert_int_equal(m.type, TERM_TOKEN);
	assert_memory_equal(m.p, "token", 5);
	assert_null(PARSE("\x03\x01\x02\x03\x04\x05\x06\x07\x08"));
	assert_true(m.offset == 0x0102030405060708ULL);
}

static void
test_bad_binary(void **state)
{
	(void)state;
	assert_non_null(PARSE(""));
	assert_non_null(PARSE("\x01\x00\x78\x00"));
	assert_non_null(PARSE("\x01\x00\x78\x00\x18\x00"));
	assert_non_null(PARSE("\x01\x00\x00\x00\x18"));
	assert_non_null(PARSE("\x01\x00\x78\x00\x00"));
	assert_non_null(PARSE("\x03\x00"));
	assert_non_null(PARSE("\x04"));
	/* what only the server says */
	assert_non_null(PARSE("\x80\x00\x00\x00\x00\x00\x00\x00\x00x"));
}

static void
test_json(void **state)
{
	(void)state;
	assert_null(parse_json("{\"type\":\"input\",\"data\":\"aGVsbG8K\"}"));
	assert_int_equal(m.type, TERM_INPUT);
	assert_int_equal(m.len, 6);
	assert_memory_equal(m.p, "hello\n", 6);
	assert_null(parse_json(" { \"data\" : \"\\/\\/79\" , \"type\" : "
	    "\"input\" } "));
	assert_int_equal(m.len, 3);
	assert_memory_equal(m.p, "\xff\xfe\xfd", 3);
	assert_null(parse_json("{\"type\":\"resize\",\"cols\":160,"
	    "\"rows\":42}"));
	assert_int_equal(m.cols, 160);
	assert_int_equal(m.rows, 42);
	assert_null(parse_json("{\"type\":\"attach\",\"session\":\"abc\","
	    "\"token\":\"dls_x\"}"));
	assert_int_equal(m.type, TERM_TOKEN);
	assert_memory_equal(m.p, "dls_x", 5);
	assert_int_equal(m.session_len, 3);
	assert_null(parse_json("{\"type\":\"ack\",\"offset\":9007199254740993}"));
	assert_true(m.offset == 9007199254740993ULL);
}

static void
test_bad_json(void **state)
{
	static const char *const bad[] = {
		"", "null", "[]", "{", "{}", "{\"type\":1}", "{\"type\":\"exit\"}",
		"{\"type\":\"input\"}", "{\"type\":\"input\",\"data\":5}",
		"{\"type\":\"input\",\"data\":\"aGk\"}",
		"{\"type\":\"input\",\"data\":\"a=k=\"}",
		"{\"type\":\"input\",\"data\":\"aG k\"}",
		"{\"type\":\"input\",\"data\":\"aGkK\",\"data\":\"aGkK\"}",
		"{\"type\":\"input\",\"data\":\"aGkK\"}{}",
		"{\"type\":\"input\\u0000\",\"data\":\"aGkK\"}",
		"{\"type\":\"resize\",\"cols\":0,\"rows\":24}",
		"{\"type\":\"resize\",\"cols\":80,\"rows\":65536}",
		"{\"type\":\"resize\",\"cols\":80.5,\"rows\":24}",
		"{\"type\":\"resize\",\"cols\":-80,\"rows\":24}",
		"{\"type\":\"resize\",\"cols\":\"80\",\"rows\":24}",
		"{\"type\":\"resize\",\"cols\":80}",
		"{\"type\":\"attach\",\"session\":\"abc\"}",
		"{\"type\":\"ack\",\"offset\":-1}",
		"{\"type\":\"ack\",\"offset\":99999999999999999999}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse_json(bad[i]) == NULL)
			fail_msg("taken: %s", bad[i]);
}

static void
test_heads(void **state)
{
	uint8_t h[TERM_HEAD_MAX];

	(void)state;
	assert_int_equal(termmsg_bytes(h, TERM_OUTPUT, 258), 9);
	assert_memory_equal(h, "\x80\0\0\0\0\0\0\1\2", 9);
	assert_int_equal(termmsg_history(h, 1, 300), 11);
	assert_memory_equal(h, "\x81\0\0\0\0\0\0\0\1\1\x2c", 11);
	assert_int_equal(termmsg_exit(h, -1, 9), 9);
	assert_memory_equal(h, "\x82\xff\xff\xff\xff\0\0\0\x09", 9);
	assert_int_equal(termmsg_size(h, 80, 24), 5);
	assert_memory_equal(h, "\x84\0\x50\0\x18", 5);
	assert_int_equal(termmsg_lost(h, 1, 2), 17);
	assert_memory_equal(h, "\x85\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2", 17);
	assert_int_equal(termmsg_live(h, 3), 9);
	assert_memory_equal(h, "\x87\0\0\0\0\0\0\0\3", 9);
}

static struct text text = { .max = 4096 };

static void
is(const char *want)
{
	assert_false(text.bad);
	assert_int_equal(text.len, strlen(want));
	assert_memory_equal(text.p, want, text.len);
	text_reset(&text, 4096);
}

static void
test_json_out(void **state)
{
	struct text people = { .max = 64 };

	(void)state;
	termjson_exit(&text, 3, NULL);
	is("{\"type\":\"exit\",\"code\":3,\"signal\":null}");
	termjson_exit(&text, -1, "SIGKILL");
	is("{\"type\":\"exit\",\"code\":-1,\"signal\":\"SIGKILL\"}");
	termjson_error(&text, "not_found", "no \"x\"");
	is("{\"type\":\"error\",\"message\":\"no \\\"x\\\"\","
	    "\"code\":\"not_found\"}");
	termjson_size(&text, 80, 24);
	is("{\"type\":\"size\",\"cols\":80,\"rows\":24}");
	termjson_lost(&text, 1, 2);
	is("{\"type\":\"lost\",\"from\":1,\"to\":2}");
	termjson_live(&text, 7);
	is("{\"type\":\"live\",\"offset\":7}");
	text_puts(&people, "[]");
	termjson_people(&text, &people);
	is("{\"type\":\"people\",\"people\":[]}");
	text_free(&people);
}

/* Preamble and bytes make one string of base64, wherever they meet. */
static void
test_json_bytes(void **state)
{
	static const char all[] = "preamble-bytes";
	size_t cut, n;
	char out[32];
	char *data;

	(void)state;
	for (cut = 0; cut <= 14; cut++) {
		termjson_bytes(&text, "history", 5, all, cut, all + cut,
		    14 - cut);
		data = memmem(text.p, text.len, "\"data\":\"", 8);
		assert_non_null(data);
		data += 8;
		assert_true(base64_get(data, 20, out, &n));
		assert_int_equal(n, 14);
		assert_memory_equal(out, all, 14);
		text_reset(&text, 4096);
	}
}

static int
begin(void **state)
{
	(void)state;
	termmsg_init();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binary),
		cmocka_unit_test(test_bad_binary),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_bad_json),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_json_out),
		cmocka_unit_test(test_json_bytes),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
