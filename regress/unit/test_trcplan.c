/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/x86_plan.c tracer/engine/x86_frames.c tracer/engine/x86_stub.c tracer/engine/arch_none.c -lZydis */
/* Which instructions move, what becomes of them, and what cannot move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/engine/arch.h"
#include "tracer/engine/cfi.h"

#define ADDR	0x400000UL
#define AREA	0x300000UL
#define STUB	0x301000UL

/* The agent is not what this is about. */
const uint8_t agent_blob[64] = { 0 }, agent_blob_end[1] = { 0 };
const uint8_t agent_blob_plain[64] = { 0 }, agent_blob_plain_end[1] = { 0 };

/* Nor are tables of frames: no code here has one. */
const struct arch_frame *
cfi_at(const struct arch_frame *frames, size_t n, uint64_t addr)
{
	(void)frames;
	(void)n;
	(void)addr;
	return (NULL);
}

static size_t
bytes(const char *hex, uint8_t *out)
{
	size_t n = 0;
	int used;
	unsigned int b;

	while (sscanf(hex, " %2x%n", &b, &used) == 1) {
		out[n++] = (uint8_t)b;
		hex += used;
	}
	return (n);
}

static void
text(const uint8_t *b, size_t n, char *out)
{
	size_t i;

	out[0] = '\0';
	for (i = 0; i < n; i++)
		(void)sprintf(out + 3 * i, "%02x ", b[i]);
	if (n > 0)
		out[3 * n - 1] = '\0';
}

struct row {
	const char *what;
	const char *code;	/* with what follows it */
	size_t	 size;		/* of it; 0: all of it, -1: not known */
	const char *why;	/* part of why it cannot be watched */
	const char *open;	/* part of why its returns cannot be seen */
	uint32_t at, len;
	const char *moved;	/* NULL: not looked at */
	bool	 reentered;
};

/* what a row does not say is false */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define TAIL	" 90 90 90 90 90 90 c3"

static const struct row rows[] = {
	{ "push and mov", "55 48 89 e5 41 57 c3", 0, NULL, NULL, 0, 6,
	    "55 48 89 e5 41 57 e9 f0 ef 0f 00" },
	{ "exactly five", "b8 01 00 00 00 c3", 0, NULL, NULL, 0, 5,
	    "b8 01 00 00 00 e9" },
	{ "endbr64 stays", "f3 0f 1e fa 55 48 89 e5 41 57 c3", 0, NULL, NULL,
	    4, 6, "55 48 89 e5 41 57 e9" },
	{ "unless there is no room", "f3 0f 1e fa 8d 47 01 c3", 0, NULL, NULL,
	    0, 7, "f3 0f 1e fa 8d 47 01 e9" },
	{ "relative to rip", "48 8b 05 10 00 00 00 c3", 0, NULL, NULL, 0, 7,
	    /* ADDR + 7 + 0x10, from behind the instruction in the stub */
	    "48 8b 05 05 f0 0f 00 e9" },
	{ "with a number behind", "c7 05 10 00 00 00 01 02 03 04 c3", 0, NULL,
	    NULL, 0, 10, "c7 05 05 f0 0f 00 01 02 03 04 e9" },
	{ "a compare of bytes", "80 3d 10 00 00 00 05 c3", 0, NULL, NULL, 0, 7,
	    "80 3d 05 f0 0f 00 05 e9" },
	{ "a call, with its own return address", "e8 fb 00 00 00 c3", 0, NULL,
	    NULL, 0, 5, "68 05 00 40 00 c7 44 24 04 00 00 00 00 e9 "
	    "e3 f0 0f 00 e9" },
	{ "an indirect one", "48 83 ec 08 ff d7 c3", 0, NULL, NULL, 0, 6,
	    "48 83 ec 08 68 06 00 40 00 c7 44 24 04 00 00 00 00 ff e7 e9" },
	{ "of r12", "48 83 ec 08 41 ff d4 c3", 0, NULL, NULL, 0, 7,
	    "48 83 ec 08 68 07 00 40 00 c7 44 24 04 00 00 00 00 41 ff e4 e9" },
	{ "of what r12 leads to", "41 ff 54 24 08 c3", 0, NULL, NULL, 0, 5,
	    "68 05 00 40 00 c7 44 24 04 00 00 00 00 41 ff 64 24 08 e9" },
	{ "of what is relative to rip", "ff 15 10 00 00 00 c3", 0, NULL, NULL,
	    0, 6, "68 06 00 40 00 c7 44 24 04 00 00 00 00 ff 25 "
	    "f8 ef 0f 00 e9" },
	{ "of what is on the stack", "ff 54 24 08 90 c3", 0, "returns into",
	    NULL, 0, 0, NULL },
	{ "which leaves room", "90 ff 54 24 08 c3", 0, "exception", NULL, 0, 0,
	    NULL },
	{ "of rsp itself", "50 53 53 ff d4 c3", 0, "exception", NULL, 0, 0,
	    NULL },
	{ "a far one", "48 83 ec 08 ff 1f c3", 0, "exception", NULL, 0, 0,
	    NULL },
	{ "a jump", "e9 fb 0f 00 00", 0, NULL, NULL, 0, 5, "e9 f0 ff 0f 00" },
	{ "a short conditional jump", "85 ff 75 10 b8 01 00 00 00 c3 90 90 90 "
	    "90 90 90 90 90 90 90 c3", 0, NULL, NULL, 0, 9,
	    "85 ff 0f 85 01 f0 0f 00 b8 01 00 00 00 e9" },
	{ "a long one", "0f 84 10 00 00 00 c3" TAIL TAIL TAIL, 0, NULL, NULL,
	    0, 6, "0f 84 05 f0 0f 00 e9" },
	{ "jrcxz", "e3 10 48 89 f8 c3" TAIL TAIL TAIL TAIL, 0, NULL, NULL, 0,
	    5, "e3 02 eb 05 e9 fe ef 0f 00 48 89 f8 e9" },
	{ "loop", "e2 10 48 89 f8 c3" TAIL TAIL TAIL TAIL, 0, NULL, NULL, 0,
	    5, "e2 02 eb 05 e9 fe ef 0f 00 48 89 f8 e9" },
	{ "xbegin", "c7 f8 10 00 00 00 c3" TAIL TAIL TAIL TAIL, 0,
	    "cannot be moved", NULL, 0, 0, NULL },
	{ "short but padded", "8d 47 01 c3 66 2e 0f 1f 84 00 00 00 00 00 55",
	    4, NULL, NULL, 0, 14, "8d 47 01 c3 66 2e 0f 1f 84 00 00 00 00 00"
	    },
	{ "padded with traps", "31 c0 c3 cc cc cc cc 55", 3, NULL, NULL, 0, 5,
	    NULL },
	{ "short with another behind", "31 c0 c3 55 48 89 e5", 3, "shorter",
	    NULL, 0, 0, NULL },
	{ "short without a size", "31 c0 c3 55 48 89 e5 5d c3", (size_t)-1,
	    "shorter", NULL, 0, 0, NULL },
	{ "a jump back into it", "48 89 f8 48 ff c8 75 fb c3", 0, "back into",
	    NULL, 0, 0, NULL },
	{ "a loop to its beginning", "48 89 f8 48 ff c8 75 f8 c3", 0,
	    "loop begins", NULL, 0, 0, NULL },
	{ "which Go begins again with", "48 89 f8 48 ff c8 75 f8 c3", 0, NULL,
	    NULL, 0, 6, NULL, true },
	{ "a recursive call", "55 48 89 e5 41 57 e8 f5 ff ff ff c3", 0, NULL,
	    NULL, 0, 6, NULL },
	{ "a call into itself", "e8 02 00 00 00 f3 90 48 89 04 24 c3", 0,
	    "part of itself", NULL, 0, 0, NULL },
	{ "a call that returns into it", "ff d0 48 89 c7 c3", 0,
	    "call returns into", NULL, 0, 0, NULL },
	{ "no instruction", "06 06 06 06 06 06", 0, "no instructions", NULL,
	    0, 0, NULL },
	{ "no more bytes", "55", 0, "no instructions", NULL, 0, 0, NULL },
	{ "sigreturn", "48 c7 c0 0f 00 00 00 0f 05", 0, "signal handlers",
	    NULL, 0, 0, NULL },
	{ "setjmp", "48 89 1f 48 89 6f 08 48 8b 04 24 48 89 47 38 31 c0 c3", 0,
	    NULL, "return address", 0, 7, NULL },
	{ "vfork", "5f b8 3a 00 00 00 0f 05 57 c3", 0, NULL, "return address",
	    0, 6, NULL },
	{ "through the frame pointer", "55 48 89 e5 48 8b 45 08 5d c3", 0,
	    NULL, "return address", 0, 8, NULL },
	{ "through the stack pointer", "48 83 ec 18 90 48 8b 44 24 18 48 83 "
	    "c4 18 c3", 0, NULL, "return address", 0, 5, NULL },
	{ "through another register", "53 48 89 e3 48 83 e4 c0 48 8b 43 08 5b "
	    "c3", 0, NULL, "return address", 0, 8, NULL },
	{ "an argument on the stack", "48 83 ec 18 90 48 8b 44 24 20 48 83 c4 "
	    "18 c3", 0, NULL, NULL, 0, 5, NULL },
	{ "saved registers", "41 57 41 56 41 55 41 5d 41 5e 41 5f c3", 0, NULL,
	    NULL, 0, 6, NULL },
};

static void
one(const struct row *row)
{
	uint8_t code[256], stub[ARCH_STUB];
	char hex[3 * ARCH_STUB + 1];
	struct arch_code c = { .bytes = code, .addr = ADDR,
	    .reentered = row->reentered };
	struct arch_plan p;
	struct arch_stub s = { .area = AREA, .addr = STUB };
	const char *why;
	size_t start;

	c.avail = bytes(row->code, code);
	c.size = row->size == 0 ? c.avail : row->size == (size_t)-1 ? 0 :
	    row->size;
	why = arch_plan(&c, &p, NULL) ? arch_stub(&c, &p, &s, stub) :
	    p.why_not;
	if (row->why != NULL) {
		if (why == NULL || strstr(why, row->why) == NULL)
			fail_msg("%s: %s", row->what, why == NULL ? "it is "
			    "accepted" : why);
		return;
	}
	if (why != NULL)
		fail_msg("%s: %s", row->what, why);
	if ((p.why_open == NULL) != (row->open == NULL) ||
	    (row->open != NULL && strstr(p.why_open, row->open) == NULL))
		fail_msg("%s: %s", row->what, p.why_open == NULL ? "returns "
		    "can be seen" : p.why_open);
	if (p.at != row->at || p.len != row->len)
		fail_msg("%s: at %u, %u bytes", row->what, p.at, p.len);
	if (row->moved == NULL)
		return;
	start = (size_t)(s.resume - STUB);
	text(stub + start, s.len - start, hex);
	/* distances are from where the stub is: eleven bytes come before */
	if (strncmp(hex, row->moved, strlen(row->moved)) != 0)
		fail_msg("%s:\n got  %s\n want %s", row->what, hex,
		    row->moved);
}

static void
table(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		one(&rows[i]);
}

static struct arch_code
plain_code(const uint8_t *b, size_t n)
{
	return ((struct arch_code){ .bytes = b, .avail = n, .size = n,
	    .addr = ADDR });
}

static void
threads_move(void **state)
{
	const uint8_t b[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0xc3 };
	struct arch_code c = plain_code(b, sizeof(b));
	struct arch_stub s = { .area = AREA, .addr = STUB, .leave = true };
	uint8_t out[ARCH_STUB];
	struct arch_plan p;

	(void)state;
	assert_true(arch_plan(&c, &p, NULL));
	assert_null(arch_stub(&c, &p, &s, out));
	assert_int_equal(arch_moved(&c, &p, &s, ADDR), ADDR);
	assert_int_equal(arch_moved(&c, &p, &s, ADDR + 1), s.resume + 1);
	assert_int_equal(arch_moved(&c, &p, &s, ADDR + 4), s.resume + 4);
	assert_int_equal(arch_moved(&c, &p, &s, ADDR + 6), ADDR + 6);
	assert_int_equal(arch_moved(&c, &p, &s, ADDR - 1), ADDR - 1);
	/* the marker is what follows the call */
	assert_int_equal(out[s.marker - STUB - 5], 0xe8);
	assert_int_equal(out[s.marker - STUB], 0x68);
}

static void
out_of_reach(void **state)
{
	const uint8_t b[] = { 0x48, 0x8b, 0x05, 0, 0, 0, 0x80, 0xc3 };
	struct arch_code c = plain_code(b, sizeof(b));
	struct arch_stub s = { .area = AREA, .addr = STUB };
	uint8_t out[ARCH_STUB];
	struct arch_plan p;
	const char *why;

	(void)state;
	c.addr = 0x90000000UL;
	assert_true(arch_plan(&c, &p, NULL));
	s.area = c.addr + 0x70000000UL;
	s.addr = s.area + 64;
	why = arch_stub(&c, &p, &s, out);
	assert_non_null(why);
	assert_non_null(strstr(why, "reach"));
}

static void
jumps_out(void **state)
{
	const uint8_t b[] = { 0x85, 0xff, 0x0f, 0x84, 0, 1, 0, 0, 0xe8, 0, 2,
	    0, 0, 0xe9, 0, 3, 0, 0 };
	struct arch_code c = plain_code(b, sizeof(b));
	struct arch_jumps j = { NULL, 0, 0 };
	struct arch_plan p;

	(void)state;
	assert_true(arch_plan(&c, &p, &j));
	/* calls begin a function, jumps may not */
	assert_int_equal(j.n, 2);
	assert_int_equal(j.to[0], ADDR + 8 + 0x100);
	assert_int_equal(j.to[1], ADDR + 18 + 0x300);
	free(j.to);
}

static void
jump(void **state)
{
	uint8_t b[ARCH_JUMP];
	const uint8_t want[] = { 0xe9, 0xfb, 0xff, 0xef, 0xff };

	(void)state;
	arch_jump(0x400000, 0x300000, b);
	assert_memory_equal(b, want, sizeof(want));
}

static void
throwing(void **state)
{
	uint8_t b[64] = { 0 };

	(void)state;
	assert_false(arch_throws(b, sizeof(b)));
	memcpy(b + 30, "\0++CCUNG", 8);
	assert_true(arch_throws(b, sizeof(b)));
	assert_false(arch_throws(b, 37));
}

/* Any bytes at all: an answer, and nothing is read beyond them. */
static void
garbage(void **state)
{
	struct arch_jumps j = { NULL, 0, 0 };
	uint8_t out[ARCH_STUB], *b;
	struct arch_plan p;
	size_t n, i, k;

	(void)state;
	srand(5);
	for (k = 0; k < 20000; k++) {
		n = 1 + (size_t)rand() % 40;
		b = malloc(n);
		assert_non_null(b);
		for (i = 0; i < n; i++)
			b[i] = (uint8_t)(rand() >> 3);
		struct arch_code c = plain_code(b, n);
		struct arch_stub s = { .area = AREA, .addr = STUB,
		    .leave = k % 2 == 0 };

		c.size = k % 5 == 0 ? 0 : 1 + (size_t)rand() % (n + 4);
		if (arch_plan(&c, &p, &j) &&
		    arch_stub(&c, &p, &s, out) == NULL)
			assert_true(s.len <= ARCH_STUB);
		free(b);
	}
	free(j.to);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table), cmocka_unit_test(threads_move),
		cmocka_unit_test(out_of_reach), cmocka_unit_test(jumps_out),
		cmocka_unit_test(jump), cmocka_unit_test(throwing),
		cmocka_unit_test(garbage),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
