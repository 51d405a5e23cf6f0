/* SPDX-License-Identifier: ISC */
/* links: tracer/record/writes.c */
/* Bytes of the output, and what was seen of who wrote them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/record/writes.h"

#define SECOND 1000000000ULL

static void
seen(uint64_t ts, uint32_t tid, int fd, const char *text)
{
	struct write_seen w = {.ts = ts,
	    .tid = tid,
	    .fd = fd,
	    .parent = 1000 + tid,
	    .len = strlen(text)};

	w.nhead = (uint32_t)(w.len < sizeof(w.head) ? w.len : sizeof(w.head));
	memcpy(w.head, text, w.nhead);
	writes_seen(&w);
}

/* The pieces of some bytes: "TID:LENGTH@TIME ". */
static const char *
pieces_at(uint64_t now, uint32_t stream, const char *p, size_t n, bool merge)
{
	static char all[4096];
	struct write_piece w;
	size_t len = 0;

	all[0] = '\0';
	for (; n > 0; p += w.len, n -= w.len) {
		w = writes_take(stream, p, n, now, merge);
		assert_in_range(w.len, 1, n);
		assert_true(w.tid == 0 || w.parent == 1000 + w.tid);
		len += (size_t)snprintf(all + len, sizeof(all) - len,
		    "%u:%zu@%llu ", w.tid, w.len, (unsigned long long)w.ts);
		assert_true(len < sizeof(all));
	}
	return all;
}

static const char *
pieces(uint32_t stream, const char *text)
{
	return pieces_at(SECOND, stream, text, strlen(text), false);
}

static int
tear_down(void **state)
{
	(void)state;
	writes_forget();
	return 0;
}

static void
each_has_its_own(void **state)
{
	(void)state;
	seen(10, 1, 1, "one\n");
	seen(20, 2, 1, "two\n");
	seen(30, 1, 1, "three\n");
	assert_string_equal(
	    pieces(1, "one\ntwo\nthree\n"), "1:4@10 2:4@20 1:6@30 ");
	assert_string_equal(pieces(1, "who?\n"), "0:5@0 ");
	assert_true(writes_awaited(SECOND) == UINT64_MAX);
}

/* The write that began first need not be first in the pipe. */
static void
bytes_say_the_order(void **state)
{
	(void)state;
	seen(10, 1, 1, "one\n");
	seen(20, 2, 1, "two\n");
	assert_string_equal(pieces(1, "two\none\n"), "2:4@20 1:4@10 ");
	/* the ring of the second was read first */
	seen(50, 2, 1, "b\n");
	seen(40, 1, 1, "b\n");
	assert_true(writes_awaited(SECOND) == 40);
	assert_string_equal(pieces(1, "b\nb\n"), "1:2@40 2:2@50 ");
}

static void
streams_are_apart(void **state)
{
	(void)state;
	seen(10, 1, 1, "same\n");
	seen(20, 2, 2, "same\n");
	assert_string_equal(pieces(2, "same\n"), "2:5@20 ");
	assert_string_equal(pieces(1, "same\n"), "1:5@10 ");
	/* unless one was made the other */
	seen(30, 1, 2, "2>&1\n");
	assert_string_equal(pieces(1, "2>&1\n"), "1:5@30 ");
	/* or nobody tells them apart */
	seen(40, 1, 2, "b\n");
	seen(50, 2, 1, "a\n");
	assert_string_equal(pieces(0, "b\na\n"), "1:2@40 2:2@50 ");
}

static void
pieces_of_one_write(void **state)
{
	char *big = malloc(100001);

	(void)state;
	assert_non_null(big);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	seen(10, 1, 1, big);
	seen(20, 2, 1, "next\n");
	assert_string_equal(
	    pieces_at(SECOND, 1, big, 60000, false), "1:60000@10 ");
	assert_string_equal(
	    pieces_at(SECOND, 1, big, 40000, false), "1:40000@10 ");
	assert_string_equal(pieces(1, "next\n"), "2:5@20 ");
	/* a part of it alone, and the rest by another call */
	seen(30, 1, 1, "0123456789abcdef");
	seen(40, 1, 1, "89abcdef");
	assert_string_equal(pieces(1, "01234567"), "1:8@30 ");
	assert_string_equal(pieces(1, "89abcdef"), "1:8@40 ");
	free(big);
}

static void
parts_of_a_line_go_together(void **state)
{
	(void)state;
	seen(10, 1, 1, "a ");
	seen(11, 1, 1, "line\n");
	seen(12, 1, 1, "another\n");
	seen(13, 2, 1, "not\n");
	assert_string_equal(
	    pieces_at(SECOND, 1, "a line\nanother\nnot\n", 19, false),
	    "1:7@10 1:8@12 2:4@13 ");
	seen(14, 1, 1, "a\n");
	seen(15, 1, 1, "b\n");
	assert_string_equal(pieces_at(SECOND, 1, "a\nb\n", 4, true), "1:4@14 ");
}

/* Bytes of unseen writes come before the next write that is known. */
static void
what_was_not_seen(void **state)
{
	(void)state;
	seen(10, 1, 1, "a known one\n");
	assert_string_equal(pieces(1, "nobody's\na known one\nnor this\n"),
	    "0:9@10 1:12@10 0:9@0 ");
	/* too short to be looked for */
	seen(20, 1, 1, "no\n");
	assert_string_equal(pieces(1, "who knows\n"), "0:10@0 ");
}

static void
what_went_elsewhere(void **state)
{
	(void)state;
	seen(10, 1, 1, "to a file\n");
	seen(20, 2, 1, "another's\n");
	seen(30, 1, 1, "here\n");
	assert_true(writes_awaited(SECOND) == 10);
	assert_string_equal(pieces(1, "here\n"), "1:5@30 ");
	assert_true(writes_awaited(SECOND) == 20);
	/* it is not waited for for ever, and then not at all */
	assert_true(writes_awaited(21 + WRITES_WAIT_NS) == UINT64_MAX);
	seen(WRITES_WAIT_NS + 22, 2, 1, "again\n");
	assert_true(writes_awaited(23 + WRITES_WAIT_NS) == UINT64_MAX);
	/* until something is found again */
	assert_string_equal(
	    pieces_at(30 + WRITES_WAIT_NS, 1, "again\n", 6, false),
	    "2:6@5000000022 ");
	seen(WRITES_WAIT_NS + 40, 2, 1, "more\n");
	assert_true(writes_awaited(50 + WRITES_WAIT_NS) == WRITES_WAIT_NS + 40);
}

static void
little_is_known(void **state)
{
	struct write_seen w = {
	    .ts = 10, .tid = 1, .fd = 1, .parent = 1001, .len = 5};

	(void)state;
	/* not how it begins */
	writes_seen(&w);
	seen(20, 2, 1, "next\n");
	assert_string_equal(pieces(1, "what\nnext\n"), "1:5@10 2:5@20 ");
	/* nor how long it is */
	w.len = UINT64_MAX;
	writes_seen(&w);
	seen(30, 2, 1, "something known\n");
	assert_string_equal(
	    pieces(1, "anything\nsomething known\n"), "1:9@10 2:16@30 ");
	/* nothing, or to nowhere */
	w.len = 0;
	writes_seen(&w);
	w.len = 1;
	w.fd = 3;
	writes_seen(&w);
	assert_true(writes_awaited(SECOND) == UINT64_MAX);
}

/* A terminal makes two characters of the end of a line. */
static void
through_a_terminal(void **state)
{
	(void)state;
	seen(10, 1, 1, "a\nb\n");
	seen(20, 2, 1, "c\n");
	assert_string_equal(pieces(0, "a\r\nb\r\nc\r\n"), "1:6@10 2:3@20 ");
	/* echoes are nobody's */
	seen(30, 1, 1, "an answer\n");
	assert_string_equal(
	    pieces(0, "typed\r\nan answer\r\n"), "0:7@30 1:11@30 ");
}

/* All bytes come, each once, whatever the program writes. */
static void
lies(void **state)
{
	static const char alphabet[] = "ab\r\n";
	struct write_seen w;
	char text[600];
	size_t i, n;
	int round;

	(void)state;
	srandom(1);
	for (round = 0; round < 3000; round++) {
		memset(&w, 0, sizeof(w));
		w.ts = (uint64_t)random() % 1000;
		w.tid = (uint32_t)random() % 4;
		w.parent = 1000 + w.tid;
		w.fd = (int)(random() % 4);
		w.len =
		    random() % 9 == 0 ? UINT64_MAX : (uint64_t)random() % 200;
		w.nhead = (uint32_t)random() % (WRITES_HEAD + 1);
		for (i = 0; i < w.nhead; i++)
			w.head[i] = (uint8_t)alphabet[random() % 4];
		writes_seen(&w);
		n = (size_t)random() % sizeof(text);
		for (i = 0; i < n; i++)
			text[i] = alphabet[random() % 4];
		/* which sees to it that they add up */
		(void)pieces_at(
		    SECOND, (uint32_t)random() % 3, text, n, random() % 2 == 0);
	}
}

/* More than there is room for: the oldest are given up. */
static void
storm(void **state)
{
	uint64_t i;
	char line[32];

	(void)state;
	for (i = 1; i <= 100000; i++) {
		(void)snprintf(
		    line, sizeof(line), "line %llu\n", (unsigned long long)i);
		seen(i, 1, 1, line);
	}
	assert_in_range(writes_awaited(SECOND), 2, 100000);
	assert_string_equal(pieces(1, line), "0:12@0 ");
}

#define TEST(fn) cmocka_unit_test_teardown(fn, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(each_has_its_own),
	    TEST(bytes_say_the_order), TEST(streams_are_apart),
	    TEST(pieces_of_one_write), TEST(parts_of_a_line_go_together),
	    TEST(what_was_not_seen), TEST(what_went_elsewhere),
	    TEST(little_is_known), TEST(through_a_terminal), TEST(lies),
	    TEST(storm)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
