/* SPDX-License-Identifier: ISC */
/* links: debugger/text/codec.c */
/* debugger: frames of an adapter, whole, in pieces, too long and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/text/codec.h"

static struct {
	int	messages, left_out, stop_after;
	int64_t	seq, last;
	char	why[128];
} got;

static int
on_message(struct json_object *json, const char *text, size_t len, void *arg)
{
	struct json_object *v;

	assert_ptr_equal(arg, &got);
	assert_true(len > 0 && text[len - 1] == '}');
	got.messages++;
	if (json_object_object_get_ex(json, "n", &v))
		got.last = json_object_get_int64(v);
	return got.messages == got.stop_after ? -1 : 0;
}

static void
on_left_out(const char *why, int64_t seq, void *arg)
{
	(void)arg;
	got.left_out++;
	got.seq = seq;
	(void)snprintf(got.why, sizeof(got.why), "%s", why);
}

static const struct codec_fns fns = { on_message, on_left_out };

/* Feeds it in pieces of that size. */
static int
feed(struct codec *c, const char *text, size_t len, size_t piece,
    const char **why)
{
	size_t n;

	for (; len > 0; text += n, len -= n) {
		n = len < piece ? len : piece;
		if (codec_feed(c, text, n, &fns, &got, why) == -1)
			return -1;
	}
	return 0;
}

static int
feed_all(const char *text, size_t piece, const char **why)
{
	struct codec c = { 0 };
	int rc;

	memset(&got, 0, sizeof(got));
	rc = feed(&c, text, strlen(text), piece, why);
	codec_free(&c);
	return rc;
}

static void
whole_and_in_pieces(void **state)
{
	static const char text[] =
	    "Content-Length: 7\r\n\r\n{\"n\":1}"
	    "content-length:\t8 \r\nContent-Type: x\r\n\r\n{\"n\":22}"
	    "X: y\r\nCONTENT-LENGTH: 2\r\n\r\n{}";
	const char *why;
	size_t piece;

	(void)state;
	for (piece = 1; piece <= sizeof(text); piece++) {
		assert_int_equal(feed_all(text, piece, &why), 0);
		assert_int_equal(got.messages, 3);
		assert_int_equal(got.last, 22);
		assert_int_equal(got.left_out, 0);
	}
}

static void
broken_framing(void **state)
{
	static const char *const texts[] = {
		"Hello\r\n\r\n", "\r\n\r\n", "Content-Length: x\r\n\r\n",
		"Content-Length: -1\r\n\r\n", "Content-Length: 0\r\n\r\n",
		"Content-Length: 1 2\r\n\r\n", "Content-Length:\r\n\r\n",
		"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"Content-Length: 99999999999999999999999\r\n\r\n",
	};
	const char *why;
	char *line;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(feed_all(texts[i], 3, &why), -1);
		assert_non_null(why);
	}
	/* a header that never ends */
	line = malloc(10001);
	memset(line, 'x', 10000);
	line[10000] = '\0';
	assert_int_equal(feed_all(line, 4096, &why), -1);
	assert_non_null(why);
	free(line);
}

static void
no_messages(void **state)
{
	static const char text[] =
	    "Content-Length: 4\r\n\r\nnull"
	    "Content-Length: 2\r\n\r\n[]"
	    "Content-Length: 22\r\n\r\n{\"request_seq\": 17,]}}"
	    "Content-Length: 7\r\n\r\n{\"n\":3}";
	const char *why;

	(void)state;
	assert_int_equal(feed_all(text, 5, &why), 0);
	assert_int_equal(got.left_out, 3);
	assert_int_equal(got.seq, 17);
	assert_int_equal(got.messages, 1);
	assert_int_equal(got.last, 3);
}

/* len bytes of a message whose head and tail are given, then a short one. */
static void
one_of(size_t len, const char *head, const char *tail)
{
	static char filler[1 << 16];
	struct codec c = { 0 };
	const char *why;
	char line[64];
	size_t left = len - strlen(head) - strlen(tail), n;

	memset(filler, 'x', sizeof(filler));
	memset(&got, 0, sizeof(got));
	(void)snprintf(line, sizeof(line), "Content-Length: %zu\r\n\r\n", len);
	assert_int_equal(feed(&c, line, strlen(line), 64, &why), 0);
	assert_int_equal(feed(&c, head, strlen(head), 7, &why), 0);
	for (; left > 0; left -= n) {
		n = left < sizeof(filler) ? left : sizeof(filler);
		assert_int_equal(feed(&c, filler, n, n, &why), 0);
		assert_true(len <= CODEC_FRAME_MAX || c.cap <= 4096);
	}
	assert_int_equal(feed(&c, tail, strlen(tail), 7, &why), 0);
	assert_int_equal(feed(&c, "Content-Length: 7\r\n\r\n{\"n\":5}", 28, 9,
	    &why), 0);
	assert_int_equal(got.last, 5);
	assert_true(c.cap <= 65536);
	codec_free(&c);
}

static void
too_long(void **state)
{
	(void)state;
	one_of(CODEC_FRAME_MAX + 1, "{\"body\":\"", "\",\"request_seq\":41}");
	assert_int_equal(got.left_out, 1);
	assert_int_equal(got.seq, 41);
	one_of(CODEC_FRAME_MAX + 1, "{\"request_seq\" : 9,\"x\":\"", "\"}");
	assert_int_equal(got.seq, 9);
	one_of(CODEC_FRAME_MAX + 1, "{\"x\":\"", "\"}");
	assert_int_equal(got.seq, -1);
	one_of(CODEC_FRAME_MAX, "{\"x\":\"", "\"}");
	assert_int_equal(got.left_out, 0);
	assert_int_equal(got.messages, 2);
}

/* Syntax that the parser takes beyond JSON would hide values from the count. */
static void
json_alone(void **state)
{
	static const char *const bad[] = { "{'\"':[[],[]],'x':1}",
		"{'seq':1}", "{\"a\":1,/*\"*/\"b\":[[]]}", "{\"a\":1}//\"" };
	const char *why;
	struct json_object *o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(codec_parse(bad[i], strlen(bad[i]), &why));
		assert_string_equal(why, "it is not JSON");
	}
	o = codec_parse("{\"it's\":\"/*\"}", 14, &why);
	assert_non_null(o);
	json_object_put(o);
}

static void
too_rich(void **state)
{
	const size_t n = 3 * CODEC_VALUES_MAX;
	char *text = malloc(n + 1);
	const char *why;
	struct json_object *o;
	size_t i;

	(void)state;
	for (i = 0; i < n; i++)
		text[i] = "{},"[i % 3];
	memcpy(text, "{\"\":[", 5);
	assert_null(codec_parse(text, n, &why));
	assert_string_equal(why, "it has too many values");
	/* in a string they are none */
	memset(text, ',', n);
	memcpy(text, "{\"\\\"\":\"", 7);
	memcpy(text + n - 2, "\"}", 2);
	o = codec_parse(text, n, &why);
	assert_non_null(o);
	json_object_put(o);
	free(text);
	/* depth */
	text = malloc(200);
	memset(text, '[', 200);
	memcpy(text, "{\"a\":", 5);
	assert_null(codec_parse(text, 200, &why));
	free(text);
}

static void
stopped_by_the_reader(void **state)
{
	static const char text[] = "Content-Length: 2\r\n\r\n{}"
	    "Content-Length: 2\r\n\r\n{}";
	struct codec c = { 0 };
	const char *why = "";

	(void)state;
	memset(&got, 0, sizeof(got));
	got.stop_after = 1;
	assert_int_equal(codec_feed(&c, text, sizeof(text) - 1, &fns, &got,
	    &why), -1);
	assert_null(why);
	assert_int_equal(got.messages, 1);
	codec_free(&c);
}

/* A text is read up to behind each of its numbers, and then on. */
static void
numbers(void **state)
{
	static const char text[] =
	    "{\"a\":-1.5e+3,\"b\" : 0 ,\"c\":[1,22\n,[333],{\"d\":4e-1}],"
	    "\"5\":\"6,7\\\"8,\",\"e9\":1E2,\"f\":false,\"n\":10}";
	static const char same[] =
	    "{\"a\":-1.5e+3,\"b\":0,\"c\":[1,22,[333],{\"d\":4e-1}],"
	    "\"5\":\"6,7\\\"8,\",\"e9\":1E2,\"f\":false,\"n\":10}";
	static const char *const none[] = { "{\"a\":1", "{\"a\":1,", "{\"a\":1 2}",
		"{\"a\":1.2.3}", "{\"a\":1-2}", "{\"a\":[1}", "{\"a\":1]",
		"{1:2}", "12", "{\"a\":--1}", "{\"a\":1x}" };
	struct json_object *json;
	const char *why;
	size_t i;

	(void)state;
	json = codec_parse(text, sizeof(text) - 1, &why);
	assert_non_null(json);
	assert_string_equal(json_object_to_json_string_ext(json,
	    JSON_C_TO_STRING_PLAIN), same);
	json_object_put(json);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_null(codec_parse(none[i], strlen(none[i]), &why));
		assert_string_equal(why, "it is not JSON");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_and_in_pieces),
		cmocka_unit_test(broken_framing),
		cmocka_unit_test(no_messages),
		cmocka_unit_test(too_long),
		cmocka_unit_test(json_alone),
		cmocka_unit_test(numbers),
		cmocka_unit_test(too_rich),
		cmocka_unit_test(stopped_by_the_reader),
	};

	return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
