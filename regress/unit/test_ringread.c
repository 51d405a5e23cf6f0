/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/ringread.c */
/* The reader of rings: each field of a record, right and wrong. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "tracer/engine/ringread.h"

#define SIZE	65536
#define WORDS	(SIZE / 8)
#define NOW	1000000ULL
#define LATE	(NOW + 2000000000ULL)	/* long after it */

static uint64_t ring[WORDS];
static struct ring_record seen[64];
static uint8_t seen_bytes[64][CAPTURE_BYTES_MAX];
static size_t nseen;

static const struct capture two_regs[] = { { CAP_REG, 5, 8, 0, 0, 0 },
    { CAP_REG, 4, 4, 0, 0, 0 }, { 0 } };
static const struct capture text[] = { { CAP_STRING, 5, 16, 0, 0, 0 },
    { 0 } };
static const struct capture slice[] = { { CAP_SLICE, 5, 12, 0, 8, 4 },
    { 0 } };
static struct ring_programs programs[] = {
	{ .enter = NULL }, { .enter = two_regs, .leave = text },
	{ .enter = slice }
};

/* By their shapes, where they have one, or step by step. */
static int
by_shape(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		programs[i].enters = ring_shape_of(programs[i].enter);
		programs[i].leaves = ring_shape_of(programs[i].leave);
	}
	return (0);
}

static int
by_steps(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		memset(&programs[i].enters, 0, 2 * sizeof(struct ring_shape));
	return (0);
}

static void
shapes(void **state)
{
	struct capture many[RING_STEPS + 2] = { { 0 } };
	struct ring_shape s = ring_shape_of(two_regs);
	size_t i;

	(void)state;
	assert_int_equal(s.n, 2);
	assert_int_equal(s.bytes, 20);
	assert_int_equal(s.lens[0], 8);
	assert_int_equal(s.lens[1], 4);
	assert_int_equal(ring_shape_of(NULL).n, 0);
	assert_int_equal(ring_shape_of(text).n, 0);
	assert_int_equal(ring_shape_of(slice).n, 0);
	for (i = 0; i < RING_STEPS; i++)
		many[i] = two_regs[0];
	assert_int_equal(ring_shape_of(many).n, RING_STEPS);
	assert_int_equal(ring_shape_of(many).bytes, RING_STEPS * 12);
	many[RING_STEPS] = two_regs[0];
	assert_int_equal(ring_shape_of(many).n, 0);
	/* more bytes than can be told */
	many[0] = (struct capture){ CAP_MEM, 5, 256, 0, 0, 0 };
	many[1].op = CAP_END;
	assert_int_equal(ring_shape_of(many).n, 0);
	many[0].len = 240;
	assert_int_equal(ring_shape_of(many).bytes, 244);
	many[0].op = CAP_OPS;
	assert_int_equal(ring_shape_of(many).n, 0);
}

static const struct ring_programs *
lookup(uint32_t fn, void *arg)
{
	(void)arg;
	return (fn < 3 ? &programs[fn] : NULL);
}

static void
record(const struct ring_record *r, void *arg)
{
	(void)arg;
	if (nseen == 64)
		return;
	seen[nseen] = *r;
	memcpy(seen_bytes[nseen++], r->captures, r->captures_len);
}

static const struct ring_ops ops = { .lookup = lookup, .record = record };

static struct ring_reader *
fresh(uint64_t base)
{
	memset(ring, 0, sizeof(ring));
	nseen = 0;
	return (ring_reader_new(ring, SIZE, base));
}

/* As `what` has it, but for the words of a brief one. */
#define WHAT(fn, kind, flags) \
    ((uint32_t)(fn) | (uint32_t)(kind) << WHAT_KIND | \
    (uint32_t)(flags) << WHAT_FLAGS)

/* A record at that word, as the agent would write it: its end. */
static uint64_t
put(uint64_t at, const void *head, size_t head_len, const void *rest,
    size_t len)
{
	uint64_t w[2048];
	size_t i, n = (head_len + len + 7) / 8;

	memset(w, 0, sizeof(w));
	memcpy(w, head, head_len);
	memcpy((uint8_t *)w + head_len, rest, len);
	for (i = 0; i < n; i++)
		ring[(at + i) & (WORDS - 1)] = w[i];
	return (at + n);
}

static uint64_t
write_at(uint64_t at, const struct agent_record *r, const void *rest,
    size_t len)
{
	struct agent_record h = *r;
	size_t n = (sizeof(h) + len + 7) / 8;

	h.words = h.words == 0 ? (uint32_t)n : h.words;
	h.brief.tsc = (uint32_t)h.tsc;
	h.brief.commit = h.brief.commit == 0 ? (uint32_t)RECORD_ID(at) :
	    h.brief.commit;
	return (put(at, &h, sizeof(h), rest, len));
}

static uint64_t
brief_at(uint64_t at, uint32_t tsc, uint32_t what, const void *rest,
    size_t len)
{
	struct agent_brief h = { (uint32_t)RECORD_ID(at), tsc, what };

	if (what >> WHAT_WORDS == 0)
		h.what |= (uint32_t)((sizeof(h) + len + 7) / 8) << WHAT_WORDS;
	return (put(at, &h, sizeof(h), rest, len));
}

/* Captures of function 1's ENTER. */
static size_t
regs(uint8_t *p)
{
	const struct captured a = { CAP_OK, 8 }, b = { CAP_OK, 4 };
	const uint64_t v = 0x1122334455667788ULL;
	const uint32_t x = 7;

	memcpy(p, &a, 4);
	memcpy(p + 4, &v, 8);
	memcpy(p + 12, &b, 4);
	memcpy(p + 16, &x, 4);
	return (20);
}

static const struct agent_record good = { .tsc = 500,
    .brief.what = WHAT(1, AGENT_ENTER, RECORD_OPEN) };

static size_t
read_once(struct ring_reader *rd, uint64_t now, bool last)
{
	return (ring_reader_read(rd, &ops, now, UINT64_MAX, last));
}

static void
a_call(void **state)
{
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint8_t b[64];
	uint64_t at;

	(void)state;
	r.brief.what = WHAT(1, AGENT_ENTER, RECORD_SAMPLED);
	at = write_at(0, &r, b, regs(b));
	/* something in between: no leaf */
	at = brief_at(at, 0, WHAT(0, AGENT_VOID, 0), b, 8);
	r.brief.what = WHAT(1, AGENT_EXIT, RECORD_UNWOUND);
	r.tsc = 700;
	r.link = 1;
	r.start = 500;
	memcpy(b, &(struct captured){ CAP_OK, 3 }, 4);
	memcpy(b + 4, "abc", 4);
	at = write_at(at, &r, b, 8);
	assert_int_equal(read_once(rd, NOW, false), 2);
	assert_int_equal(nseen, 2);
	assert_int_equal(seen[0].kind, AGENT_ENTER);
	assert_int_equal(seen[0].id, 1);
	assert_int_equal(seen[0].tsc, 500);
	assert_int_equal(seen[0].flags, RECORD_SAMPLED);
	assert_int_equal(seen[0].captures_len, 20);
	assert_int_equal(seen_bytes[0][4], 0x88);
	assert_int_equal(seen[1].kind, AGENT_EXIT);
	assert_int_equal(seen[1].flags, RECORD_UNWOUND);
	assert_int_equal(seen[1].id, 1);
	assert_int_equal(seen[1].start, 500);
	assert_int_equal(seen[1].captures_len, 8);
	assert_memory_equal(seen_bytes[1] + 4, "abc", 3);
	assert_int_equal(ring_tail(rd), at);
	assert_int_equal(ring_torn(rd), 0);
	/* and no record twice */
	assert_int_equal(ring_reader_read(rd, &ops, NOW, at, false), 0);
	ring_reader_free(rd);
}

static void
a_leaf(void **state)
{
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint8_t b[64], c[8];
	uint64_t at, inner;

	(void)state;
	memcpy(c, &(struct captured){ CAP_OK, 3 }, 4);
	memcpy(c + 4, "abc", 4);
	r.brief.what = WHAT(0, AGENT_ENTER, 0);
	inner = write_at(0, &r, b, 0);
	at = brief_at(inner, 600, WHAT(1, AGENT_ENTER, RECORD_SAMPLED), b,
	    regs(b));
	at = brief_at(at, 650, WHAT(1, AGENT_EXIT, 0), c, 8);
	/* without its captures, and with a head that has none */
	at = brief_at(at, 660, WHAT(1, AGENT_ENTER, 0), b, regs(b));
	at = brief_at(at, 670, WHAT(1, AGENT_EXIT, RECORD_BARE), c, 0);
	at = brief_at(at, 800, WHAT(0, AGENT_EXIT, RECORD_BARE), c, 0);
	assert_int_equal(read_once(rd, NOW, false), 6);
	assert_int_equal(nseen, 4);
	assert_int_equal(seen[1].kind, RING_CALL);
	assert_int_equal(seen[1].id, inner + 1);
	assert_int_equal(seen[1].link, 1);
	assert_int_equal(seen[1].depth, 1);
	assert_int_equal(seen[1].tsc, 600);
	assert_int_equal(seen[1].end, 650);
	assert_int_equal(seen[1].flags, RECORD_SAMPLED);
	assert_int_equal(seen[1].captures_len, 20);
	assert_int_equal(seen[1].exit_captures_len, 8);
	assert_int_equal(seen[2].kind, RING_CALL);
	assert_int_equal(seen[2].end, 670);
	assert_int_equal(seen[2].exit_captures_len, 0);
	assert_int_equal(seen[3].kind, AGENT_EXIT);
	assert_int_equal(seen[3].id, 1);
	assert_int_equal(seen[3].start, 500);
	assert_int_equal(seen[3].tsc, 800);
	assert_int_equal(seen[3].flags, 0);
	assert_int_equal(ring_tail(rd), at);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

/* Low bits of a clock that goes on, and of one that wraps. */
static void
brief_times(void **state)
{
	const uint64_t now = 0x1234567890ULL, base = 0x11fffffff0ULL;
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint64_t at;

	(void)state;
	r.tsc = base;
	r.brief.what = WHAT(0, AGENT_ENTER, RECORD_OPEN);
	at = write_at(0, &r, "", 0);
	at = brief_at(at, (uint32_t)(base + 0x20), WHAT(0, AGENT_ENTER,
	    RECORD_OPEN), "", 0);
	/* interrupted by the one before */
	at = brief_at(at, (uint32_t)(base + 0x18), WHAT(0, AGENT_ENTER,
	    RECORD_OPEN), "", 0);
	at = brief_at(at, (uint32_t)(base + 0x7fff0000), WHAT(0, AGENT_ENTER,
	    RECORD_OPEN), "", 0);
	(void)at;
	assert_int_equal(read_once(rd, now, false), 3);
	assert_int_equal(seen[0].tsc, base);
	assert_int_equal(seen[1].tsc, base + 0x20);
	assert_int_equal(seen[2].tsc, base + 0x18);
	/* the last one is in the future */
	assert_int_equal(ring_torn(rd), 1);
	ring_reader_free(rd);
}

/* A lost record does not take later ones with it. */
static void
time_is_found_again(void **state)
{
	const uint64_t now = 0x12f0000000ULL;
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint64_t at;

	(void)state;
	/* of the first record all but the room was lost */
	at = write_at(0, &r, "", 0);
	ring[0] ^= 1;
	at = brief_at(at, 0xe0000000, WHAT(0, AGENT_ENTER, RECORD_OPEN), "",
	    0);
	(void)brief_at(at, 0xe0000005, WHAT(0, AGENT_ENTER, RECORD_OPEN), "",
	    0);
	assert_int_equal(read_once(rd, now, true), 2);
	assert_int_equal(seen[0].tsc, 0x12e0000000ULL);
	assert_int_equal(seen[1].tsc, 0x12e0000005ULL);
	ring_reader_free(rd);
}

/* The parent of a call when ends are missing, or calls were jumped over. */
static void
open_calls(void **state)
{
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint64_t at, a, b;

	(void)state;
	r.brief.what = WHAT(0, AGENT_ENTER, 0);
	a = write_at(0, &r, "", 0);
	b = brief_at(a, 510, WHAT(2, AGENT_ENTER, 0), "\1\0\0\0", 4);
	at = brief_at(b, 520, WHAT(0, AGENT_ENTER, 0), "", 0);
	/* the one above is gone without an end */
	r.link = a + 1;
	r.tsc = 530;
	at = write_at(at, &r, "", 0);
	at = brief_at(at, 535, WHAT(0, AGENT_VOID, 0), "", 0);
	at = brief_at(at, 540, WHAT(0, AGENT_EXIT, RECORD_BARE), "", 0);
	at = brief_at(at, 550, WHAT(2, AGENT_EXIT, RECORD_BARE), "", 0);
	/* one that the reader does not know, by a tracer before it */
	r.brief.what = WHAT(0, AGENT_EXIT, RECORD_BARE);
	r.link = 7;
	r.tsc = 560;
	r.start = 100;
	at = write_at(at, &r, "", 0);
	at = brief_at(at, 570, WHAT(0, AGENT_EXIT, RECORD_BARE), "", 0);
	/* there is none left */
	(void)brief_at(at, 580, WHAT(0, AGENT_EXIT, RECORD_BARE), "", 0);
	memset(seen, 0, sizeof(seen));
	(void)read_once(rd, NOW, false);
	assert_int_equal(ring_torn(rd), 1);
	assert_int_equal(nseen, 8);
	assert_int_equal(seen[1].link, 1);
	assert_int_equal(seen[2].link, a + 1);
	assert_int_equal(seen[3].link, a + 1);
	assert_int_equal(seen[3].depth, 2);
	assert_int_equal(seen[4].id, seen[3].id);
	assert_int_equal(seen[5].id, a + 1);
	assert_int_equal(seen[5].start, 510);
	assert_int_equal(seen[6].id, 7);
	assert_int_equal(seen[6].start, 100);
	assert_int_equal(seen[7].id, 1);
	ring_reader_free(rd);
}

/* More than any thread has open. */
static void
too_deep(void **state)
{
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint64_t at = 0, all = 0;
	size_t i;

	(void)state;
	r.brief.what = WHAT(0, AGENT_ENTER, 0);
	at = write_at(0, &r, "", 0);
	for (i = 0; i < 3 * AGENT_FRAMES; i++) {
		at = brief_at(at, 501, WHAT(0, AGENT_ENTER, 0), "", 0);
		all += read_once(rd, NOW, false);
	}
	assert_int_equal(all, i + 1);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

/* The tail as it was told before the last record. */
static uint64_t told, before;

static void
look_at_tail(const struct ring_record *r, void *arg)
{
	(void)arg;
	/* never beyond what has been read */
	assert_true(told >= before && told < r->id);
	before = told;
}

static void
room_meanwhile(void **state)
{
	const struct ring_ops telling = { .lookup = lookup,
		.record = look_at_tail, .tail = &told };
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint8_t b[64];
	uint64_t at = 0;

	(void)state;
	told = before = 0;
	while (at + 16 < WORDS)
		at = write_at(at, &r, b, regs(b));
	assert_true(ring_reader_read(rd, &telling, NOW, at, false) > 1000);
	/* the writer had room again long before all was read */
	assert_true(before > WORDS / 2 && told <= at);
	ring_reader_free(rd);
}

/* -- what is put aside ----------------------------------------------------- */

static struct ring_reader *aside_of;
static uint64_t expected;	/* the tsc of the next one */
static size_t in_order;

static void
see_order(const struct ring_record *r, void *arg)
{
	(void)arg;
	assert_int_equal(r->tsc, expected);
	assert_int_equal(r->captures_len, 20);
	expected++;
	in_order++;
}

static void
take_breath(void *arg)
{
	(void)arg;
	ring_put_aside(aside_of);
}

static const struct ring_ops ordered = { .lookup = lookup,
    .record = see_order, .breathe = take_breath };

/* Another one, whose tsc says which it is. */
static uint64_t
next_at(uint64_t at, uint64_t *tsc)
{
	struct agent_record r = good;
	uint8_t b[64];

	r.tsc = (*tsc)++;
	return (write_at(at, &r, b, regs(b)));
}

/* A lap of them, each time that it has been put aside. */
static uint64_t
put_laps(struct ring_reader *rd, size_t n, uint64_t *tsc)
{
	uint64_t at = ring_tail(rd);

	for (; n > 0; n--) {
		while (at + 16 < ring_tail(rd) + WORDS)
			at = next_at(at, tsc);
		ring_put_aside(rd);
		assert_int_equal(ring_tail(rd), at);
	}
	return (at);
}

static void
put_aside(void **state)
{
	struct ring_reader *rd = aside_of = fresh(0);
	uint64_t at, tsc = 1;

	(void)state;
	expected = 1;
	in_order = 0;
	at = put_laps(rd, 20, &tsc);
	/* some that are in the ring yet */
	at = next_at(next_at(at, &tsc), &tsc);
	assert_int_equal(ring_reader_read(rd, &ordered, NOW, at, false),
	    tsc - 1);
	assert_int_equal(expected, tsc);
	assert_int_equal(ring_tail(rd), at);
	assert_false(ring_more(rd));
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

/* About a lap at a time, and more comes meanwhile. */
static void
piece_by_piece(void **state)
{
	struct ring_ops ops_of = ordered;
	struct ring_reader *rd = aside_of = fresh(0);
	uint64_t at, tsc = 1;
	size_t n = 0, looks = 0;

	(void)state;
	expected = 1;
	in_order = 0;
	ops_of.briefly = true;
	put_laps(rd, 5, &tsc);
	do {
		at = next_at(ring_tail(rd), &tsc);
		n += ring_reader_read(rd, &ops_of, NOW, at, false);
		looks++;
		assert_int_equal(n, in_order);
	} while (ring_more(rd));
	assert_true(looks >= 5 && looks <= 7);
	assert_int_equal(expected, tsc);
	/* what is later than the moment waits there as well */
	put_laps(rd, 2, &tsc);
	ops_of.upto = expected + 9;
	assert_int_equal(ring_reader_read(rd, &ops_of, NOW, 0, false), 10);
	assert_false(ring_more(rd));
	n = (size_t)(tsc - expected);
	assert_int_equal(ring_reader_read(rd, &ordered, NOW, 0, false), n);
	assert_int_equal(expected, tsc);
	ring_reader_free(rd);
}

/* Bytes that are no record stay where they are, unchanged. */
static void
not_put_aside(void **state)
{
	struct ring_reader *rd = aside_of = fresh(0);
	uint64_t at = 0, tsc = 1;

	(void)state;
	expected = 1;
	in_order = 0;
	at = next_at(next_at(at, &tsc), &tsc);
	/* it says that it is one, but none is so long */
	ring[at] = (uint32_t)RECORD_ID(at);
	ring[at + 1] = (uint64_t)UINT32_MAX << 32;
	ring_put_aside(rd);
	assert_int_equal(ring_tail(rd), at);
	assert_int_equal(read_once(rd, NOW, false), 2);
	assert_int_equal(ring_torn(rd), 1);
	assert_int_equal(ring_tail(rd), at + 1);
	ring_reader_free(rd);
}

/* There is an end to it, for all rings together; the rest has to wait. */
static void
put_aside_much(void **state)
{
	struct ring_reader *rd = aside_of = fresh(0), *other;
	uint64_t at = 0, tsc = 1, was;

	(void)state;
	expected = 1;
	in_order = 0;
	do {
		was = ring_tail(rd);
		while (at + 16 < was + WORDS)
			at = next_at(at, &tsc);
		ring_put_aside(rd);
		assert_true(ring_tail(rd) * 8 <= 256UL << 20);
	} while (ring_tail(rd) == at);
	assert_true(ring_tail(rd) * 8 > 248UL << 20);
	other = ring_reader_new(ring, SIZE, was);
	ring_put_aside(other);
	assert_int_equal(ring_tail(other), was);
	ring_reader_free(other);
	assert_int_equal(ring_reader_read(rd, &ordered, LATE, at, false),
	    tsc - 1);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
	/* 1024 of 256 KiB, of which 16 stay */
	for (at = 0; ring_relax(); at++)
		assert_true(at < 100);
	assert_true(at > 10);
	assert_true(mallinfo2().hblkhd + mallinfo2().uordblks < 8UL << 20);
}

/* Records after the end of a reading are there for the next one. */
static void
left_for_later(void **state)
{
	struct ring_ops some = ops;
	struct agent_record r = good;
	struct ring_reader *rd = fresh(0);
	uint8_t b[64];
	uint64_t at = 0;
	size_t i, n = regs(b);

	(void)state;
	for (i = 0; i < 5; i++) {
		r.tsc = 100 + 10 * i;
		at = write_at(at, &r, b, n);
	}
	some.upto = 99;
	assert_int_equal(ring_reader_read(rd, &some, NOW, at, false), 0);
	assert_int_equal(ring_tail(rd), 0);
	some.upto = 120;
	assert_int_equal(ring_reader_read(rd, &some, NOW, at, false), 3);
	assert_int_equal(ring_reader_read(rd, &some, NOW, at, true), 0);
	some.upto = 135;
	assert_int_equal(ring_reader_read(rd, &some, NOW, at, false), 1);
	some.upto = 0;
	assert_int_equal(ring_reader_read(rd, &some, NOW, at, false), 1);
	assert_int_equal(ring_tail(rd), at);
	assert_int_equal(ring_torn(rd), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(seen[i].tsc, 100 + 10 * i);
	ring_reader_free(rd);
}

static void
laps(void **state)
{
	struct ring_reader *rd = fresh(0);
	struct agent_record r = good;
	uint8_t b[64];
	uint64_t at = 0;
	size_t i, n = regs(b), all = 0;

	(void)state;
	/* no such number of words divides a ring: records lie over its end */
	for (i = 0; i < 10 * WORDS / 8; i++) {
		at = write_at(at, &r, b, n);
		nseen = 0;
		all += read_once(rd, NOW, false);
		assert_int_equal(seen[0].id, at - 8 + 1);
		assert_int_equal(seen_bytes[0][16], 7);
	}
	assert_int_equal(all, i);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

/* Beyond 2^32 words, where the commit word has wrapped. */
static void
far(void **state)
{
	const uint64_t base = (1ULL << 35) - 3;
	struct ring_reader *rd = fresh(base);
	uint8_t b[64];
	uint64_t at;

	(void)state;
	at = write_at(base, &good, b, regs(b));
	(void)write_at(at, &good, b, regs(b));
	assert_int_equal(read_once(rd, NOW, false), 2);
	assert_int_equal(seen[0].id, base + 1);
	ring_reader_free(rd);
}

static void
not_yet(void **state)
{
	struct ring_reader *rd = fresh(0);
	struct agent_record r = good;
	uint8_t b[64];
	uint64_t at;

	(void)state;
	r.brief.commit = 99;
	at = write_at(0, &r, b, regs(b));
	(void)write_at(at, &good, b, regs(b));
	/* the writer has been interrupted: it is waited for */
	assert_int_equal(read_once(rd, NOW, false), 0);
	assert_int_equal(ring_tail(rd), 0);
	(void)write_at(0, &good, b, regs(b));
	assert_int_equal(read_once(rd, NOW, false), 2);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

static void
never(void **state)
{
	struct ring_reader *rd = fresh(0);
	struct agent_record r = good;
	uint8_t b[64];
	uint64_t at;

	(void)state;
	r.brief.commit = 99;
	at = write_at(0, &r, b, regs(b));
	(void)write_at(at, &good, b, regs(b));
	assert_int_equal(read_once(rd, NOW, false), 0);
	/* but not for ever */
	assert_int_equal(read_once(rd, LATE, false), 1);
	assert_int_equal(seen[0].id, at + 1);
	assert_int_equal(ring_torn(rd), 1);
	ring_reader_free(rd);
}

static void
of_the_dead(void **state)
{
	struct ring_reader *rd = fresh(0);
	struct agent_record r = good;
	uint8_t b[64];
	uint64_t at;

	(void)state;
	r.brief.commit = 99;
	at = write_at(0, &r, b, regs(b));
	(void)write_at(at, &good, b, regs(b));
	assert_int_equal(read_once(rd, NOW, true), 1);
	ring_reader_free(rd);
}

/* The program says that it wrote so much, and nothing of it is valid. */
static void
all_forged(void **state)
{
	struct ring_reader *rd = fresh(0);

	(void)state;
	memset(ring, 0xa5, sizeof(ring));
	assert_int_equal(ring_reader_read(rd, &ops, NOW, SIZE, false), 0);
	assert_int_equal(ring_torn(rd), 0);
	assert_int_equal(ring_reader_read(rd, &ops, NOW, SIZE, true), 0);
	assert_int_equal(ring_torn(rd), 1);
	/* once */
	assert_int_equal(ring_reader_read(rd, &ops, NOW, SIZE, true), 0);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
	/* the record that the program was killed in is no loss */
	rd = fresh(0);
	assert_int_equal(ring_reader_read(rd, &ops, NOW, 16, true), 0);
	assert_int_equal(ring_torn(rd), 0);
	ring_reader_free(rd);
}

/* A record that is wrong, followed by a good one. */
static void
refused(const char *why, const struct agent_record *r, const void *rest,
    size_t len)
{
	struct ring_reader *rd = fresh(0);
	uint8_t b[64];
	uint64_t at;

	at = write_at(0, r, rest, len);
	if (at < 8)
		at = 8;
	(void)write_at(at, &good, b, regs(b));
	(void)read_once(rd, NOW, false);
	(void)read_once(rd, LATE, true);
	if (nseen != 1 || seen[0].id != at + 1)
		fail_msg("%s: %zu records, the first is %lu", why, nseen,
		    nseen > 0 ? seen[0].id : 0);
	if (ring_torn(rd) == 0)
		fail_msg("%s is not counted", why);
	ring_reader_free(rd);
}

static void
wrong_heads(void **state)
{
	static const struct {
		const char *why;
		struct agent_record r;
	} rows[] = {
		{ "kind 0", { .tsc = 5, .brief.what = WHAT(1, 0, 0) } },
		{ "unknown function", { .tsc = 5,
		    .brief.what = WHAT(3, 1, 0) } },
		{ "function beyond", { .tsc = 5,
		    .brief.what = WHAT(0xfffff, 1, 0) } },
		{ "from the future", { .tsc = NOW + 1,
		    .brief.what = WHAT(1, 1, 0) } },
		{ "parent to come", { .tsc = 5, .brief.what = WHAT(1, 1, 0),
		    .link = 2 } },
		{ "parent beyond", { .tsc = 5, .brief.what = WHAT(1, 1, 0),
		    .link = UINT64_MAX } },
		{ "exit of nothing", { .tsc = 5,
		    .brief.what = WHAT(1, 2, RECORD_BARE) } },
		{ "exit before its entry", { .tsc = 5, .link = 1, .start = 6,
		    .brief.what = WHAT(1, 2, RECORD_BARE) } },
		{ "one word", { .tsc = 5, .words = 1,
		    .brief.what = WHAT(1, 1, 0) } },
		{ "less than a head", { .tsc = 5, .words = 4,
		    .brief.what = WHAT(1, 1, 0) } },
		{ "too many words", { .tsc = 5, .words = UINT32_MAX,
		    .brief.what = WHAT(1, 1, 0) } },
		{ "more than can be", { .tsc = 5,
		    .words = RECORD_WORDS + 1 + CAPTURE_BYTES_MAX / 8,
		    .brief.what = WHAT(1, 1, 0) } },
		{ "brief: one word", { .tsc = 5,
		    .brief.what = WHAT(1, 1, 0) | 1U << WHAT_WORDS } },
		{ "brief: exit of nothing", { .tsc = 5,
		    .brief.what = WHAT(1, 2, RECORD_BARE) |
		    8U << WHAT_WORDS } },
		{ "brief: kind 0", { .tsc = 5,
		    .brief.what = WHAT(1, 0, 0) | 8U << WHAT_WORDS } },
	};
	uint8_t b[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = regs(b);

		refused(rows[i].why, &rows[i].r, b, n);
	}
}

static void
wrong_captures(void **state)
{
	static const struct {
		const char *why;
		struct captured a, b;
	} rows[] = {
		{ "status", { CAP_STATUSES, 8 }, { CAP_OK, 4 } },
		{ "too long", { CAP_OK, 9 }, { CAP_OK, 4 } },
		{ "too short", { CAP_OK, 7 }, { CAP_OK, 4 } },
		{ "length of a fault", { CAP_FAULT, 8 }, { CAP_OK, 4 } },
		{ "length of what was not read", { CAP_UNREAD, 8 },
		    { CAP_OK, 4 } },
		{ "cut in part", { CAP_CUT, 4 }, { CAP_OK, 4 } },
		{ "beyond the record", { CAP_OK, 65535 }, { CAP_OK, 4 } },
		{ "the second", { CAP_OK, 8 }, { CAP_OK, 65535 } },
		{ "its status", { CAP_OK, 8 }, { 65535, 4 } },
	};
	uint8_t b[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)regs(b);
		memcpy(b, &rows[i].a, 4);
		memcpy(b + 12, &rows[i].b, 4);
		refused(rows[i].why, &good, b, 20);
	}
	/* nothing where two steps should be */
	refused("none", &good, b, 0);
	(void)regs(b);
	refused("one of two", &good, b, 12);
}

/* An exit right behind an entry does not end the call if the exit is wrong. */
static void
wrong_ends(void **state)
{
	static const struct {
		uint32_t tsc, what;
		size_t seen, torn;
	} rows[] = {
		{ 600, WHAT(2, AGENT_EXIT, RECORD_BARE), 1, 1 },
		{ 600, WHAT(0, AGENT_EXIT, RECORD_BARE | RECORD_UNWOUND),
		    2, 0 },
		{ 400, WHAT(0, AGENT_EXIT, RECORD_BARE), 1, 1 },
		{ (uint32_t)NOW + 1, WHAT(0, AGENT_EXIT, RECORD_BARE), 1, 1 },
		{ 600, WHAT(0, AGENT_EXIT, RECORD_BARE) | 1U << WHAT_WORDS,
		    1, 1 },
		{ 600, WHAT(0, AGENT_ENTER, RECORD_OPEN), 2, 0 },
	};
	struct agent_record r = good;
	struct ring_reader *rd;
	uint64_t at;
	size_t i;

	(void)state;
	r.brief.what = WHAT(0, AGENT_ENTER, 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rd = fresh(0);
		at = write_at(0, &r, "", 0);
		(void)brief_at(at, rows[i].tsc, rows[i].what, "", 0);
		(void)read_once(rd, NOW, false);
		assert_int_equal(nseen, rows[i].seen);
		assert_int_equal(seen[0].kind, AGENT_ENTER);
		assert_int_equal(ring_torn(rd), rows[i].torn);
		ring_reader_free(rd);
	}
	/* nor what a former lap has left there */
	rd = fresh(0);
	at = write_at(0, &r, "", 0);
	(void)brief_at(at, 600, WHAT(0, AGENT_EXIT, RECORD_BARE), "", 0);
	ring[at] ^= 1;
	assert_int_equal(ring_reader_read(rd, &ops, NOW, at, false), 1);
	assert_int_equal(seen[0].kind, AGENT_ENTER);
	ring_reader_free(rd);
}

static void
faults(void **state)
{
	struct ring_reader *rd = fresh(0);
	const struct captured none[] = { { CAP_FAULT, 0 }, { CAP_CUT, 0 } };

	(void)state;
	(void)write_at(0, &good, none, sizeof(none));
	assert_int_equal(read_once(rd, NOW, false), 1);
	assert_int_equal(seen[0].captures_len, 8);
	ring_reader_free(rd);
}

static bool
slice_ok(uint16_t status, uint64_t n, size_t elements, size_t extra)
{
	struct captured h = { status, (uint16_t)(8 + elements * 4 + extra) };
	uint8_t b[64] = { 0 };
	size_t used;

	memcpy(b, &h, 4);
	memcpy(b + 4, &n, 8);
	return (captures_valid(slice, b, captured_size(h.len), &used));
}

static void
slices(void **state)
{
	(void)state;
	assert_true(slice_ok(CAP_OK, 0, 0, 0));
	assert_true(slice_ok(CAP_OK, 3, 3, 0));
	assert_true(slice_ok(CAP_CUT, 1000, 3, 0));
	assert_true(slice_ok(CAP_CUT, UINT64_MAX, 3, 0));
	assert_false(slice_ok(CAP_OK, 3, 2, 0));
	assert_false(slice_ok(CAP_OK, 2, 3, 0));
	assert_false(slice_ok(CAP_CUT, 1, 2, 0));
	assert_false(slice_ok(CAP_OK, 2, 2, 1));
	assert_false(slice_ok(CAP_OK, 4, 4, 0));
	assert_false(slice_ok(CAP_OK, UINT64_MAX, 0, 0));
}

/* Reading a ring of any content ends, and stays within the ring. */
static void
garbage(void **state)
{
	struct ring_reader *rd;
	uint64_t end;
	size_t i, k;

	(void)state;
	srand(4);
	for (k = 0; k < 30; k++) {
		rd = fresh((uint64_t)rand() * k);
		for (i = 0; i < WORDS; i++) {
			ring[i] = (uint64_t)rand() << 33 ^ (uint64_t)rand();
			/* with many that look committed */
			if (k % 2 == 0 && rand() % 4 == 0) {
				end = ring_tail(rd) & ~(uint64_t)(WORDS - 1);
				ring[i] = (uint64_t)rand() << 32 |
				    (uint32_t)RECORD_ID(end + i);
			}
			if (k % 3 == 0 && rand() % 4 == 0)
				ring[i] = WHAT(rand() % 4, rand() % 4,
				    rand() % 8) | (uint32_t)rand() % 9 <<
				    WHAT_WORDS | 7ULL << 32;
		}
		for (i = 0; i < 20; i++)
			(void)ring_reader_read(rd, &ops, LATE * (i + 1),
			    (uint64_t)rand(), i > 10);
		ring_reader_free(rd);
	}
}

#define MANY	2000000

static uint64_t written, told;

/* As the agent does: what is in a record, then that it is one. */
static void *
write_many(void *arg)
{
	const uint32_t what = WHAT(0, AGENT_ENTER, RECORD_OPEN) |
	    2U << WHAT_WORDS;
	volatile uint64_t *w = ring;
	uint64_t at;

	for (at = 0; at < 2 * MANY; at += 2) {
		while (at + 2 - __atomic_load_n(&told, __ATOMIC_ACQUIRE) >
		    WORDS)
			sched_yield();
		__atomic_store_n(&written, at + 2, __ATOMIC_RELAXED);
		w[(at + 1) & (WORDS - 1)] = what;
		__atomic_thread_fence(__ATOMIC_RELEASE);
		w[at & (WORDS - 1)] = NOW / 2 << 32 | (uint32_t)RECORD_ID(at);
	}
	return (arg);
}

/* A record that is being written while it is looked for is not a wrong one. */
static void
beside_a_writer(void **state)
{
	const struct ring_ops all = { .lookup = lookup, .record = record,
		.tail = &told, .breathe = take_breath };
	struct ring_reader *rd = aside_of = fresh(0);
	pthread_t t;
	size_t n = 0;

	(void)state;
	written = told = 0;
	assert_int_equal(pthread_create(&t, NULL, write_many, NULL), 0);
	while (ring_tail(rd) < 2 * MANY) {
		n += ring_reader_read(rd, &all, NOW,
		    __atomic_load_n(&written, __ATOMIC_RELAXED), false);
		__atomic_store_n(&told, ring_tail(rd), __ATOMIC_RELEASE);
	}
	assert_int_equal(pthread_join(t, NULL), 0);
	/* what has been put aside last */
	n += ring_reader_read(rd, &all, NOW, 2 * MANY, false);
	assert_int_equal(ring_torn(rd), 0);
	assert_int_equal(n, MANY);
	ring_reader_free(rd);
}

#define BOTH(test) \
	cmocka_unit_test_setup(test, by_shape), \
	cmocka_unit_test_setup(test, by_steps)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_call),
		BOTH(a_leaf),
		BOTH(brief_times),
		BOTH(time_is_found_again),
		BOTH(open_calls),
		BOTH(too_deep),
		BOTH(left_for_later),
		BOTH(laps),
		BOTH(room_meanwhile),
		BOTH(put_aside),
		BOTH(piece_by_piece),
		BOTH(not_put_aside),
		BOTH(put_aside_much),
		BOTH(far),
		BOTH(not_yet),
		BOTH(never),
		BOTH(of_the_dead),
		BOTH(all_forged),
		BOTH(wrong_heads),
		BOTH(wrong_captures),
		BOTH(wrong_ends),
		BOTH(faults),
		BOTH(slices),
		BOTH(garbage),
		BOTH(beside_a_writer),
		cmocka_unit_test(shapes),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
