/* SPDX-License-Identifier: ISC */
/* Messages of terminals, as the client reads and writes them. */
/* links: client/ctl/terminal_proto.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client/ctl/terminal_proto.h"

#define BYTES(s)	(const unsigned char *)(s), sizeof(s) - 1

static int
decode(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	unsigned char *exact = malloc(len > 0 ? len : 1);
	int r;

	/* a byte too far is one that valgrind and sanitizers see */
	memcpy(exact, p, len);
	r = terminal_msg_decode(m, exact, len);
	if (m->data != NULL)
		m->data = p + (m->data - exact);
	if (m->error != NULL)
		m->error = (const char *)p + 1;
	if (m->text != NULL)
		m->text = p + (m->text - exact);
	free(exact);
	return r;
}

static void
test_good(void **state)
{
	struct terminal_msg m;

	(void)state;
	assert_int_equal(decode(&m, BYTES("\x80\0\0\0\1\0\0\0\2abc")), 0);
	assert_int_equal(m.offset, 0x100000002);
	assert_int_equal(m.len, 3);
	assert_memory_equal(m.data, "abc", 3);
	assert_int_equal(m.preamble, 0);
	assert_int_equal(decode(&m, BYTES("\x81\0\0\0\0\0\0\0\7\0\2xyabc")),
	    0);
	assert_int_equal(m.offset, 7);
	assert_int_equal(m.preamble, 2);
	assert_memory_equal(m.data, "xyabc", m.len);
	assert_int_equal(decode(&m, BYTES("\x82\377\377\377\377\0\0\0\11")),
	    0);
	assert_int_equal(m.code, -1);
	assert_int_equal(m.signal, 9);
	assert_int_equal(decode(&m, BYTES("\x83not_found\0no such")), 0);
	assert_string_equal(m.error, "not_found");
	assert_int_equal(m.text_len, 7);
	assert_memory_equal(m.text, "no such", 7);
	assert_int_equal(decode(&m, BYTES("\x84\0\120\0\30")), 0);
	assert_int_equal(m.cols, 80);
	assert_int_equal(m.rows, 24);
	assert_int_equal(decode(&m, BYTES("\x85\0\0\0\0\0\0\0\1"
	    "\0\0\0\0\0\0\0\5")), 0);
	assert_int_equal(m.to - m.offset, 4);
	assert_int_equal(decode(&m, BYTES("\x86[]")), 0);
	assert_int_equal(m.len, 2);
	assert_int_equal(decode(&m, BYTES("\x87\0\0\0\0\0\0\1\0")), 0);
	assert_int_equal(m.offset, 256);
	/* what is not known yet */
	assert_int_equal(decode(&m, BYTES("\x88what")), 1);
	assert_int_equal(decode(&m, BYTES("\xff")), 1);
}

static void
test_bad(void **state)
{
	static const unsigned char full[] =
	    "\x85\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\1";
	static unsigned char large[TERMINAL_MAX + 1] = { 0x80 };
	unsigned char type, buf[32];
	struct terminal_msg m;
	size_t n;

	(void)state;
	assert_int_equal(decode(&m, BYTES("")), -1);
	/* the client's own */
	assert_int_equal(decode(&m, BYTES("\0abc")), -1);
	assert_int_equal(decode(&m, BYTES("\x7f")), -1);
	/* lost backwards, a preamble longer than all, no end of a code */
	assert_int_equal(decode(&m, full, sizeof(full) - 1), -1);
	assert_int_equal(decode(&m, BYTES("\x81\0\0\0\0\0\0\0\0\0\4abc")),
	    -1);
	assert_int_equal(decode(&m, BYTES("\x83not_found")), -1);
	assert_int_equal(decode(&m, BYTES("\x84\0\0\0\30")), -1);
	assert_int_equal(decode(&m, BYTES("\x84\0\120\0\30\0")), -1);
	assert_int_equal(decode(&m, BYTES("\x82\0\0\0\0\0\0\0\11\0")), -1);
	assert_int_equal(decode(&m, large, TERMINAL_MAX), 0);
	assert_int_equal(decode(&m, large, TERMINAL_MAX + 1), -1);
	/* all that is shorter than its type needs */
	memset(buf, 0, sizeof(buf));
	for (type = 0x80; type < 0x88; type++) {
		buf[0] = type;
		for (n = 1; n < 3; n++)
			if (type != 0x86 && type != 0x83)
				assert_int_equal(decode(&m, buf, n), -1);
	}
}

static void
test_written(void **state)
{
	unsigned char buf[64];

	(void)state;
	assert_int_equal(terminal_put_input(buf, "ls\r", 3), 8);
	assert_memory_equal(buf, "\0\0\0\4\0ls\r", 8);
	assert_int_equal(terminal_put_resize(buf, 258, 24), 9);
	assert_memory_equal(buf, "\0\0\0\5\1\1\2\0\30", 9);
	assert_int_equal(terminal_put_ack(buf, 0x0102030405060708), 13);
	assert_memory_equal(buf, "\0\0\0\11\3\1\2\3\4\5\6\7\10", 13);
	assert_int_equal(terminal_msg_length(buf), 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
