/* SPDX-License-Identifier: ISC */
/* WebSocket frames as clients send them, right and wrong, byte by byte. */
/* links: netproc/term/ws.c -lwslay */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "netproc/term/ws.h"

#define TEXT	0x1
#define BINARY	0x2
#define CLOSE	0x8
#define PING	0x9
#define PONG	0xa
#define FIN	0x80

static struct {
	uint8_t	 in[512 * 1024], out[512 * 1024], message[WS_MESSAGE_MAX + 1];
	size_t	 in_len, in_pos, step, out_len, out_pos, message_len;
	size_t	 messages;
	bool	 binary;
	enum ws_code answer;	/* a message closes with this */
	struct ws *ws;
} t;

static size_t
take(void *arg, void *buf, size_t len)
{
	size_t n = t.in_len - t.in_pos;

	(void)arg;
	if (n > len)
		n = len;
	if (t.step != 0 && n > t.step)
		n = t.step;
	memcpy(buf, t.in + t.in_pos, n);
	t.in_pos += n;
	return n;
}

static void
give(void *arg, const void *p, size_t n)
{
	(void)arg;
	assert_true(n <= sizeof(t.out) - t.out_len);
	memcpy(t.out + t.out_len, p, n);
	t.out_len += n;
}

static void
message(void *arg, bool binary, const uint8_t *p, size_t n)
{
	(void)arg;
	assert_true(n <= WS_MESSAGE_MAX);
	t.messages++;
	t.binary = binary;
	t.message_len = n;
	memcpy(t.message, p, n);
	if (t.answer != 0)
		ws_close(t.ws, t.answer, "no");
}

static const struct ws_calls calls = { take, give, message };

static int
begin(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.ws = ws_new(&calls, NULL);
	return t.ws == NULL ? -1 : 0;
}

static int
end(void **state)
{
	(void)state;
	ws_free(t.ws);
	return 0;
}

static void
put(const void *p, size_t n)
{
	assert_true(n <= sizeof(t.in) - t.in_len);
	memcpy(t.in + t.in_len, p, n);
	t.in_len += n;
}

/* A header with the shortest length that fits, and its mask. */
static void
put_header(unsigned int first, uint64_t len, bool masked)
{
	uint8_t h[10] = { (uint8_t)first, masked ? 0x80 : 0 };
	size_t n = 2, i;

	if (len < 126)
		h[1] |= (uint8_t)len;
	else if (len < 65536) {
		h[1] |= 126;
		h[2] = (uint8_t)(len >> 8);
		h[3] = (uint8_t)len;
		n = 4;
	} else {
		h[1] |= 127;
		for (i = 0; i < 8; i++)
			h[2 + i] = (uint8_t)(len >> (56 - 8 * i));
		n = 10;
	}
	put(h, n);
	if (masked)
		put("\x11\x22\x33\x44", 4);
}

static void
put_frame(unsigned int first, const void *p, size_t len)
{
	static const uint8_t mask[4] = { 0x11, 0x22, 0x33, 0x44 };
	size_t i, at;

	put_header(first, len, true);
	at = t.in_len;
	put(p, len);
	for (i = 0; i < len; i++)
		t.in[at + i] ^= mask[i % 4];
}

static void
put_text(unsigned int first, const char *s)
{
	put_frame(first, s, strlen(s));
}

/* The next frame that was sent: its first byte; *p and *n its payload. */
static unsigned int
next_frame(const uint8_t **p, size_t *n)
{
	const uint8_t *h = t.out + t.out_pos;

	if (t.out_pos == t.out_len)
		return 0;
	assert_true(t.out_len - t.out_pos >= 2);
	/* a server masks nothing */
	assert_int_equal(h[1] & 0x80, 0);
	*n = h[1] & 0x7f;
	*p = h + 2;
	if (*n == 126) {
		*n = (size_t)h[2] << 8 | h[3];
		*p = h + 4;
		assert_true(*n >= 126);
	} else if (*n == 127) {
		*n = (size_t)h[6] << 24 | (size_t)h[7] << 16 |
		    (size_t)h[8] << 8 | h[9];
		*p = h + 10;
		assert_true(*n >= 65536);
	}
	t.out_pos = (size_t)(*p - t.out) + *n;
	assert_true(t.out_pos <= t.out_len);
	return h[0];
}

static void
sent(unsigned int first, const char *payload)
{
	const uint8_t *p = NULL;
	size_t n = 0;

	assert_int_equal(next_frame(&p, &n), first);
	assert_int_equal(n, strlen(payload));
	assert_memory_equal(p, payload, n);
}

static void
sent_nothing(void)
{
	assert_int_equal(t.out_pos, t.out_len);
}

/* Expects a close frame with this code as the last frame sent, and the end. */
static void
closed_with(unsigned int code)
{
	const uint8_t *p = NULL;
	size_t n = 0;

	assert_int_equal(next_frame(&p, &n), FIN | CLOSE);
	if (code == 0) {
		assert_int_equal(n, 0);
	} else {
		assert_true(n >= 2);
		assert_int_equal(p[0] << 8 | p[1], code);
	}
	sent_nothing();
	assert_false(ws_is_open(t.ws));
	assert_false(ws_read(t.ws));
	sent_nothing();
}

static void
refused(unsigned int code)
{
	assert_false(ws_read(t.ws));
	assert_int_equal(t.messages, 0);
	closed_with(code);
}

/* -- messages -- */

static void
test_messages_come_whole(void **state)
{
	(void)state;
	put_text(FIN | TEXT, "hello");
	put_frame(FIN | BINARY, "\0\xff", 2);
	for (t.step = 1; t.step < 4; t.step++) {
		t.in_pos = t.messages = 0;
		assert_true(ws_read(t.ws));
		assert_int_equal(t.messages, 2);
		assert_true(t.binary);
		assert_int_equal(t.message_len, 2);
		assert_memory_equal(t.message, "\0\xff", 2);
	}
	sent_nothing();
}

static void
test_empty_message(void **state)
{
	(void)state;
	put_text(FIN | TEXT, "");
	put_text(BINARY, "");
	put_text(FIN, "");
	assert_true(ws_read(t.ws));
	assert_int_equal(t.messages, 2);
	assert_int_equal(t.message_len, 0);
}

static void
test_lengths(void **state)
{
	static const size_t lengths[] = { 125, 126, 127, 128, 65535, 65536 };
	static uint8_t bytes[65536];
	size_t i;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		t.in_len = t.in_pos = 0;
		put_frame(FIN | TEXT, bytes, lengths[i]);
		assert_true(ws_read(t.ws));
		assert_int_equal(t.messages, i + 1);
		assert_int_equal(t.message_len, lengths[i]);
		assert_memory_equal(t.message, bytes, lengths[i]);
	}
}

static void
test_too_long(void **state)
{
	(void)state;
	/* refused for what the header says: the rest is not waited for */
	put_header(FIN | BINARY, WS_MESSAGE_MAX + 1, true);
	put("x", 1);
	refused(WS_TOO_BIG);
}

static void
test_absurd_length(void **state)
{
	(void)state;
	put_header(FIN | BINARY, UINT64_MAX >> 1, true);
	put("x", 1);
	refused(WS_TOO_BIG);
}

static void
test_too_long_in_fragments(void **state)
{
	static uint8_t half[WS_MESSAGE_MAX / 2 + 1];

	(void)state;
	put_frame(BINARY, half, sizeof(half));
	put_frame(0, half, sizeof(half));
	refused(WS_TOO_BIG);
}

/* Memory follows the bytes, not the number of fragments. */
static void
test_fragments(void **state)
{
	size_t i;

	(void)state;
	put_text(TEXT, "a");
	for (i = 0; i < 40000; i++)
		put_text(0, i % 2 == 0 ? "" : "b");
	put_text(FIN, "c");
	assert_true(ws_read(t.ws));
	assert_int_equal(t.messages, 1);
	assert_int_equal(t.message_len, 20002);
	assert_int_equal(t.message[0], 'a');
	assert_int_equal(t.message[20001], 'c');
}

static void
test_control_between_fragments(void **state)
{
	(void)state;
	t.step = 1;
	put_text(TEXT, "one ");
	put_text(FIN | PING, "now");
	put_text(0, "two ");
	put_text(FIN | PONG, "whatever");
	put_text(FIN, "three");
	assert_true(ws_read(t.ws));
	assert_int_equal(t.messages, 1);
	assert_int_equal(t.message_len, 13);
	assert_memory_equal(t.message, "one two three", 13);
	sent(FIN | PONG, "now");
	sent_nothing();
}

/* -- control frames -- */

static void
test_many_pings(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 20000; i++)
		put_text(FIN | PING, "p");
	assert_true(ws_read(t.ws));
	assert_int_equal(t.in_pos, t.in_len);
	for (i = 0; i < 20000; i++)
		sent(FIN | PONG, "p");
	sent_nothing();
}

static void
test_longest_ping(void **state)
{
	char payload[126];

	(void)state;
	memset(payload, 'p', 125);
	payload[125] = '\0';
	put_text(FIN | PING, payload);
	assert_true(ws_read(t.ws));
	sent(FIN | PONG, payload);
}

static void
test_ping_too_long(void **state)
{
	char payload[127];

	(void)state;
	memset(payload, 'p', 126);
	payload[126] = '\0';
	put_text(FIN | PING, payload);
	refused(WS_PROTOCOL_ERROR);
}

static void
test_ping_in_fragments(void **state)
{
	(void)state;
	put_text(PING, "p");
	refused(WS_PROTOCOL_ERROR);
}

static void
test_our_ping(void **state)
{
	(void)state;
	ws_ping(t.ws);
	sent(FIN | PING, "");
	put_text(FIN | PONG, "");
	assert_true(ws_read(t.ws));
	sent_nothing();
}

/* -- what is forbidden -- */

static void
test_unmasked(void **state)
{
	(void)state;
	put_header(FIN | TEXT, 5, false);
	put("hello", 5);
	refused(WS_PROTOCOL_ERROR);
}

static void
test_unmasked_empty(void **state)
{
	(void)state;
	put_header(FIN | PING, 0, false);
	refused(WS_PROTOCOL_ERROR);
}

static void
test_reserved_bits(void **state)
{
	unsigned int bit;

	for (bit = 0x10; bit <= 0x40; bit <<= 1) {
		put_text(FIN | bit | TEXT, "x");
		refused(WS_PROTOCOL_ERROR);
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

static void
test_reserved_opcodes(void **state)
{
	static const unsigned int opcodes[] = { 3, 4, 5, 6, 7, 11, 12, 13, 14,
	    15 };
	size_t i;

	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		put_text(FIN | opcodes[i], "");
		refused(WS_PROTOCOL_ERROR);
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

static void
test_continues_nothing(void **state)
{
	(void)state;
	put_text(FIN, "x");
	refused(WS_PROTOCOL_ERROR);
}

static void
test_message_inside_another(void **state)
{
	(void)state;
	put_text(TEXT, "x");
	put_text(FIN | TEXT, "y");
	refused(WS_PROTOCOL_ERROR);
}

static void
test_length_that_could_be_shorter(void **state)
{
	(void)state;
	put("\x82\xfe\x00\x05\x11\x22\x33\x44hello", 13);
	refused(WS_PROTOCOL_ERROR);
}

/* -- UTF-8 -- */

static void
test_good_utf8(void **state)
{
	/* a character that is cut by fragments is none the less one */
	(void)state;
	put_text(TEXT, "gr\xc3");
	put_text(0, "\xbc\xf0\x9f");
	put_text(FIN, "\x98\x80");
	assert_true(ws_read(t.ws));
	assert_int_equal(t.messages, 1);
	assert_memory_equal(t.message, "gr\xc3\xbc\xf0\x9f\x98\x80", 8);
}

static void
test_bad_utf8(void **state)
{
	static const char *const bad[] = {
		"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xe2\x82", "x\xf0\x9f\x98"
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text(FIN | TEXT, bad[i]);
		refused(WS_NOT_UTF8);
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

static void
test_binary_is_not_utf8(void **state)
{
	(void)state;
	put_frame(FIN | BINARY, "\xff\xfe", 2);
	assert_true(ws_read(t.ws));
	assert_int_equal(t.messages, 1);
}

/* -- the end -- */

static void
test_close_is_answered(void **state)
{
	(void)state;
	put_frame(FIN | CLOSE, "\x03\xe8" "bye", 5);
	put_text(FIN | TEXT, "not read any more");
	assert_false(ws_read(t.ws));
	assert_int_equal(t.messages, 0);
	closed_with(WS_NORMAL);
}

static void
test_close_without_code(void **state)
{
	(void)state;
	put_frame(FIN | CLOSE, "", 0);
	refused(0);
}

static void
test_close_codes(void **state)
{
	static const unsigned int good[] = { 1000, 1001, 1002, 1003, 1007, 1008,
	    1009, 1010, 1011, 3000, 3999, 4000, 4999 };
	static const unsigned int bad[] = { 0, 999, 1004, 1005, 1006, 1016,
	    1100, 2000, 2999, 5000, 65535 };
	uint8_t code[2];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		code[0] = (uint8_t)(good[i] >> 8);
		code[1] = (uint8_t)good[i];
		put_frame(FIN | CLOSE, code, 2);
		refused(good[i]);
		end(state);
		assert_int_equal(begin(state), 0);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		code[0] = (uint8_t)(bad[i] >> 8);
		code[1] = (uint8_t)bad[i];
		put_frame(FIN | CLOSE, code, 2);
		refused(WS_PROTOCOL_ERROR);
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

static void
test_close_reason_is_utf8(void **state)
{
	(void)state;
	put_frame(FIN | CLOSE, "\x03\xe8\xff", 3);
	refused(WS_NOT_UTF8);
}

static void
test_message_may_close(void **state)
{
	(void)state;
	t.answer = WS_POLICY;
	put_text(FIN | TEXT, "one");
	put_text(FIN | TEXT, "two");
	assert_false(ws_read(t.ws));
	assert_int_equal(t.messages, 1);
	closed_with(WS_POLICY);
}

static void
test_reason_is_cut_between_characters(void **state)
{
	char reason[200] = "";
	const uint8_t *p = NULL;
	size_t n = 0, i;

	(void)state;
	for (i = 0; i < 62; i++)
		strcat(reason, "\xc3\xbc");
	ws_close(t.ws, WS_INTERNAL, reason);
	assert_int_equal(next_frame(&p, &n), FIN | CLOSE);
	assert_int_equal(n, 2 + 122);
	sent_nothing();
}

/* -- sending -- */

static void
test_sent_in_two_parts(void **state)
{
	static uint8_t big[70000];
	const uint8_t *p = NULL;
	size_t n = 0;

	(void)state;
	ws_send(t.ws, true, "head", 4, "body", 4);
	sent(FIN | BINARY, "headbody");
	ws_send(t.ws, false, "alone", 5, NULL, 0);
	sent(FIN | TEXT, "alone");
	ws_send(t.ws, true, "h", 1, big, sizeof(big));
	assert_int_equal(next_frame(&p, &n), FIN | BINARY);
	assert_int_equal(n, sizeof(big) + 1);
	assert_int_equal(p[0], 'h');
	ws_close(t.ws, WS_NORMAL, "");
	ws_send(t.ws, true, "late", 4, NULL, 0);
	ws_ping(t.ws);
	closed_with(WS_NORMAL);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages_come_whole),
		TEST(test_empty_message),
		TEST(test_lengths),
		TEST(test_too_long),
		TEST(test_absurd_length),
		TEST(test_too_long_in_fragments),
		TEST(test_fragments),
		TEST(test_control_between_fragments),
		TEST(test_many_pings),
		TEST(test_longest_ping),
		TEST(test_ping_too_long),
		TEST(test_ping_in_fragments),
		TEST(test_our_ping),
		TEST(test_unmasked),
		TEST(test_unmasked_empty),
		TEST(test_reserved_bits),
		TEST(test_reserved_opcodes),
		TEST(test_continues_nothing),
		TEST(test_message_inside_another),
		TEST(test_length_that_could_be_shorter),
		TEST(test_good_utf8),
		TEST(test_bad_utf8),
		TEST(test_binary_is_not_utf8),
		TEST(test_close_is_answered),
		TEST(test_close_without_code),
		TEST(test_close_codes),
		TEST(test_close_reason_is_utf8),
		TEST(test_message_may_close),
		TEST(test_reason_is_cut_between_characters),
		TEST(test_sent_in_two_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
