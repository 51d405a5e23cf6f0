/* SPDX-License-Identifier: ISC */
/* Flow control of terminals, with time and readers that are made up. */
/* links: netproc/text/term_flow.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "netproc/text/term_flow.h"

#define MS		1000ULL
#define RING		((size_t)1 << 20)
#define CLIENTS		3

static struct term_flow p;
static struct flow_client c[CLIENTS],
    *all[CLIENTS] = { &c[0], &c[1], &c[2] };
static uint64_t now, total, again;

static uint64_t
look(size_t n)
{
	return term_flow_look(&p, all, n, total, now, &again);
}

static int
begin(void **state)
{
	size_t i;

	(void)state;
	term_flow_init(&p, RING);
	memset(c, 0, sizeof(c));
	total = 0;
	now = 1000 * MS;
	for (i = 0; i < CLIENTS; i++)
		term_flow_join(&c[i], now);
	return 0;
}

static void
test_slowest_counts(void **state)
{
	(void)state;
	total = 500000;
	c[0].cursor = 500000;
	c[1].cursor = 300000;
	c[2].cursor = 400000;
	assert_true(look(3) == 300000 + FLOW_WINDOW);
	assert_true(look(1) == 500000 + FLOW_WINDOW);
	assert_true(look(0) == FLOW_UNLIMITED);
}

static void
test_small_ring(void **state)
{
	(void)state;
	term_flow_init(&p, 64 * 1024);
	assert_true(look(1) == 16 * 1024);
}

/* The next look is due exactly when it frees the waiting client. */
static void
test_slow_client(void **state)
{
	(void)state;
	total = FLOW_WINDOW;
	c[0].cursor = total;
	c[1].cursor = 0;
	assert_true(look(2) == FLOW_WINDOW);
	assert_true(again == now + FLOW_BUDGET_US);
	now += 249 * MS;
	assert_true(look(2) == FLOW_WINDOW);
	assert_false(c[1].lagging);
	now += 1 * MS;
	assert_true(look(2) == total + FLOW_WINDOW);
	assert_true(c[1].lagging);
	/* it comes back when it has caught up, with an empty budget */
	c[1].cursor = total;
	(void)look(2);
	assert_false(c[1].lagging);
	total += FLOW_WINDOW;
	c[0].cursor = total;
	assert_true(look(2) == total);
	now += 1 * MS;
	assert_true(look(2) == total + FLOW_WINDOW);
}

static void
test_budget_comes_back(void **state)
{
	(void)state;
	total = FLOW_WINDOW;
	c[0].cursor = total;
	(void)look(2);
	now += 200 * MS;
	(void)look(2);
	assert_true(c[1].held_us == 200 * MS);
	c[1].cursor = total;
	(void)look(2);
	now += 2000 * MS;
	(void)look(2);
	assert_true(c[1].held_us == 100 * MS);
	now += 60000 * MS;
	(void)look(2);
	assert_true(c[1].held_us == 0);
}

/* A client behind by less than the window holds up nobody. */
static void
test_near_is_near_enough(void **state)
{
	(void)state;
	total = FLOW_WINDOW;
	c[0].cursor = total;
	c[1].cursor = 1;
	(void)look(2);
	now += 1000 * MS;
	c[1].cursor = 2;
	(void)look(2);
	assert_true(c[1].held_us == 0);
	assert_false(c[1].lagging);
}

/* Two that are as slow as each other hold up nobody. */
static void
test_all_slow(void **state)
{
	size_t i;

	(void)state;
	total = FLOW_WINDOW * 2;
	for (i = 0; i < 40; i++) {
		c[0].cursor = c[1].cursor = total - FLOW_WINDOW;
		assert_true(look(2) == total);
		now += 100 * MS;
		total += 1000;
	}
	assert_false(c[0].lagging || c[1].lagging);
}

static void
test_alone_and_stalled(void **state)
{
	(void)state;
	total = FLOW_WINDOW;
	assert_true(look(1) == FLOW_WINDOW);
	assert_true(again == now + FLOW_STALL_US);
	now += FLOW_STALL_US - 1;
	assert_true(look(1) == FLOW_WINDOW);
	now++;
	assert_true(look(1) == FLOW_UNLIMITED);
	assert_true(c[0].stalled);
	/* a byte is enough to be waited for again */
	c[0].cursor++;
	assert_true(look(1) == 1 + FLOW_WINDOW);
	assert_false(c[0].stalled);
}

/* Quiet is not the same as stalled. */
static void
test_quiet(void **state)
{
	(void)state;
	total = c[0].cursor = 100;
	(void)look(1);
	assert_true(again == 0);
	now += 3600000 * MS;
	total = 200;
	(void)look(1);
	now += FLOW_STALL_US - 1;
	assert_true(look(1) == 100 + FLOW_WINDOW);
}

/* When the fast one has gone, who is left is waited for. */
static void
test_slow_client_alone(void **state)
{
	(void)state;
	total = FLOW_WINDOW * 2;
	c[1].cursor = total;
	(void)look(2);
	now += 300 * MS;
	c[0].cursor = 1;
	assert_true(look(2) == total + FLOW_WINDOW);
	assert_true(c[0].lagging);
	assert_true(look(1) == 1 + FLOW_WINDOW);
}

#define TEST(f)	cmocka_unit_test_setup(f, begin)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_slowest_counts),
		TEST(test_small_ring),
		TEST(test_slow_client),
		TEST(test_budget_comes_back),
		TEST(test_near_is_near_enough),
		TEST(test_all_slow),
		TEST(test_alone_and_stalled),
		TEST(test_quiet),
		TEST(test_slow_client_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
