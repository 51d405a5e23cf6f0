/* SPDX-License-Identifier: ISC */
/* Wrong tries: who has to wait, how long, and who has not. */
/* links: spawner/keys/throttle.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "common/base/loop.h"
#include "spawner/keys/throttle.h"

static uint64_t	now = 1000000;

/* Time is the test's. */
uint64_t
loop_now_ms(void)
{
	return now;
}

/* Everything of the tests before is forgotten. */
static int
later(void **state)
{
	(void)state;
	now += THROTTLE_FORGET_MS;
	return 0;
}

static void
wrong(const char *address, int times)
{
	while (times-- > 0)
		throttle_wrong(address);
}

static bool
may(const char *address)
{
	unsigned int wait_s;

	return throttle_may(address, &wait_s);
}

static unsigned int
wait_for(const char *address)
{
	unsigned int wait_s;

	assert_false(throttle_may(address, &wait_s));
	return wait_s;
}

static void
ten_are_free(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < THROTTLE_FREE; i++) {
		assert_true(may("192.0.2.1:1000"));
		throttle_wrong("192.0.2.1:1000");
	}
	assert_int_equal(wait_for("192.0.2.1:1000"), 1);
	now += THROTTLE_FIRST_MS - 1;
	assert_int_equal(wait_for("192.0.2.1:1000"), 1);
	now++;
	assert_true(may("192.0.2.1:1000"));
}

static void
waits_double(void **state)
{
	static const unsigned int waits[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
	size_t i;

	(void)state;
	wrong("192.0.2.2", THROTTLE_FREE - 1);
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		assert_true(may("192.0.2.2"));
		throttle_wrong("192.0.2.2");
		assert_int_equal(wait_for("192.0.2.2"), waits[i]);
		now += waits[i] * 1000;
	}
}

static void
a_thousand_in_a_row(void **state)
{
	unsigned int wait_s;
	int tried = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		if (throttle_may("192.0.2.3", &wait_s)) {
			throttle_wrong("192.0.2.3");
			tried++;
		} else
			assert_in_range(wait_s, 1, 30);
		assert_true(may("192.0.2.4"));
	}
	assert_int_equal(tried, THROTTLE_FREE);
	/* not even a counter that runs over frees it */
	wrong("192.0.2.3", 5000);
	assert_int_equal(wait_for("192.0.2.3"), 30);
}

static void
clients_are_told_apart(void **state)
{
	static const struct {
		const char	*tried, *same, *other;
	} cases[] = {
		{ "192.0.2.1:1000", "192.0.2.1:2000", "192.0.2.10:1000" },
		{ "192.0.2.5:1", "192.0.2.5", "192.0.2.50" },
		{ "192.0.2.6:1", "::ffff:192.0.2.6", "::ffff:192.0.2.7" },
		{ "192.0.2.8", "[::ffff:192.0.2.8]:99", "[::192.0.2.8]:99" },
		{ "[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:7",
		    "[2001:db8:1:3::1]:1" },
		{ "2001:db8:5:6::1", "[2001:db8:5:6::2]:1",
		    "2001:db8:5:7::1" },
		{ "[fe80::1%eth0]:1", "[fe80::2%eth1]:9", "[fe81::1%eth0]:1" },
		{ "[::1]:1", "[::1]:2", "127.0.0.1:1" },
		{ "uid 1001", "uid 1001", "uid 1002" },
		{ "", "", "uid 1003" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wrong(cases[i].tried, THROTTLE_FREE);
		assert_false(may(cases[i].tried));
		assert_false(may(cases[i].same));
		assert_true(may(cases[i].other));
	}
}

static void
all_is_forgotten(void **state)
{
	(void)state;
	wrong("192.0.2.9", THROTTLE_FREE + 3);
	now += THROTTLE_FORGET_MS;
	wrong("192.0.2.9", THROTTLE_FREE - 1);
	assert_true(may("192.0.2.9"));
	throttle_wrong("192.0.2.9");
	assert_int_equal(wait_for("192.0.2.9"), 1);
}

static void
name_one(char *buf, size_t size, unsigned int i)
{
	(void)snprintf(buf, size, "10.%u.%u.%u:1", i >> 16, i >> 8 & 255,
	    i & 255);
}

/* Many addresses with few tries do not free one that has to wait. */
static void
many_addresses(void **state)
{
	char address[32];
	unsigned int i;

	(void)state;
	wrong("203.0.113.1", THROTTLE_FREE + 4);
	wrong("203.0.113.2", THROTTLE_FREE - 1);
	for (i = 0; i < 3 * THROTTLE_MAX; i++) {
		name_one(address, sizeof(address), i);
		throttle_wrong(address);
		assert_true(may(address));
	}
	assert_int_equal(wait_for("203.0.113.1"), 16);
	/* nor does one that is near its limit begin anew */
	throttle_wrong("203.0.113.2");
	assert_false(may("203.0.113.2"));
}

/* Nor do many that have to wait themselves; and a new one may still try. */
static void
all_have_to_wait(void **state)
{
	char address[32];
	unsigned int i;

	(void)state;
	wrong("203.0.113.1", THROTTLE_FREE);
	for (i = 0; i < THROTTLE_MAX + 10; i++) {
		name_one(address, sizeof(address), i);
		wrong(address, THROTTLE_FREE + 10);
	}
	assert_int_equal(wait_for("203.0.113.1"), 1);
	name_one(address, sizeof(address), THROTTLE_MAX - 2);
	assert_int_equal(wait_for(address), 30);
	assert_true(may("203.0.113.77"));
	/* after a while there is room again */
	now += THROTTLE_FORGET_MS;
	wrong("203.0.113.77", THROTTLE_FREE);
	assert_false(may("203.0.113.77"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ten_are_free, later),
		cmocka_unit_test_setup(waits_double, later),
		cmocka_unit_test_setup(a_thousand_in_a_row, later),
		cmocka_unit_test_setup(clients_are_told_apart, later),
		cmocka_unit_test_setup(all_is_forgotten, later),
		cmocka_unit_test_setup(many_addresses, later),
		cmocka_unit_test_setup(all_have_to_wait, later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
