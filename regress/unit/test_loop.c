/* SPDX-License-Identifier: ISC */
/* The loop's timers: their order, and that there may be any number of them. */
#include <sys/epoll.h>
#include <sys/resource.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"

#define SOME	2000
#define MANY	(1U << 20)

static struct loop_timer timers[MANY];
static struct loop_timer end;
static size_t		 fired[MANY], nfired;

static void
on_timer(void *arg)
{
	fired[nfired++] = (size_t)((struct loop_timer *)arg - timers);
}

static void
stop(void *arg)
{
	(void)arg;
	loop_stop();
}

/* A timer belongs to the millisecond in which the loop turned. */
static void
run_for(uint64_t ms)
{
	nfired = 0;
	loop_timer_set(&end, ms, stop, NULL);
	assert_int_equal(loop_run(), 0);
}

static int
set_up(void **state)
{
	(void)state;
	memset(timers, 0, sizeof(timers));
	return loop_init();
}

static int
tear_down(void **state)
{
	(void)state;
	loop_end();
	return 0;
}

static void
earliest_first(void **state)
{
	static const uint64_t ms[] = { 9, 3, 7, 1, 1, 8, 2, 3 };
	static const size_t want[] = { 3, 4, 6, 1, 7, 2, 5, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		loop_timer_set(&timers[i], ms[i], on_timer, &timers[i]);
	run_for(10);
	assert_int_equal(nfired, 8);
	assert_memory_equal(fired, want, sizeof(want));
}

static void
unset_and_set_again(void **state)
{
	(void)state;
	loop_timer_set(&timers[0], 1, on_timer, &timers[0]);
	loop_timer_set(&timers[1], 2, on_timer, &timers[1]);
	loop_timer_set(&timers[2], 3, on_timer, &timers[2]);
	loop_timer_set(&timers[0], 4, on_timer, &timers[0]);
	loop_timer_unset(&timers[1]);
	loop_timer_unset(&timers[1]);
	assert_true(timers[1].slot == 0);
	run_for(5);
	assert_int_equal(nfired, 2);
	assert_int_equal(fired[0], 2);
	assert_int_equal(fired[1], 0);
	assert_true(timers[0].slot == 0);
}

/* The timers as they were set: slot tells the order among equal due_ms. */
static struct loop_timer was[SOME];

/* Sets and unsets in any order, from a fixed seed. */
static void
any_order(void **state)
{
	unsigned int seed = 7, n, set = 0;
	size_t i, j;

	(void)state;
	for (n = 0; n < 10 * SOME; n++) {
		i = (size_t)rand_r(&seed) % SOME;
		if (rand_r(&seed) % 3 == 0)
			loop_timer_unset(&timers[i]);
		else
			loop_timer_set(&timers[i],
			    (uint64_t)rand_r(&seed) % 20, on_timer,
			    &timers[i]);
	}
	for (i = 0; i < SOME; i++)
		set += timers[i].slot != 0;
	memcpy(was, timers, sizeof(was));
	run_for(25);
	assert_int_equal(nfired, set);
	for (i = 1; i < nfired; i++) {
		const struct loop_timer *a = &was[fired[i - 1]];
		const struct loop_timer *b = &was[fired[i]];

		assert_true(a->due_ms < b->due_ms ||
		    (a->due_ms == b->due_ms && a->slot < b->slot));
	}
	for (j = 0; j < SOME; j++)
		assert_true(timers[j].slot == 0);
}

static struct loop_timer again;
static unsigned int	 times;

static void
on_again(void *arg)
{
	if (++times == 2)
		assert_int_equal(nfired, 1);
	if (times < 10)
		loop_timer_set(&again, 0, on_again, arg);
	else
		loop_stop();
}

/* A timer that sets itself to 0 ms does not go before one that waits. */
static void
who_is_set_again_waits(void **state)
{
	(void)state;
	times = 0;
	loop_timer_set(&again, 1, on_again, NULL);
	loop_timer_set(&timers[5], 1, on_timer, &timers[5]);
	run_for(10000);
	loop_timer_unset(&end);
	assert_int_equal(times, 10);
	assert_int_equal(nfired, 1);
}

static void
on_readable(uint32_t events, void *arg)
{
	(void)events;
	(void)arg;
	loop_stop();
}

static void
watch_now(void *arg)
{
	assert_int_equal(loop_mod(arg, EPOLLIN), 0);
}

static void
on_always(void *arg)
{
	if (++times < 1000)
		loop_timer_set(&again, 0, on_always, arg);
	else
		loop_stop();
}

/* Nor does one that sets itself for at once go before an fd. */
static void
fds_are_served_between(void **state)
{
	struct loop_io io = LOOP_IO_INIT;
	int pair[2];

	(void)state;
	times = 0;
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	loop_timer_set(&again, 0, on_always, NULL);
	/* in the first turn the timer alone is there */
	assert_int_equal(loop_add(&io, pair[0], 0, on_readable, NULL), 0);
	loop_timer_set(&timers[0], 0, watch_now, &io);
	assert_int_equal(loop_run(), 0);
	assert_in_range(times, 1, 3);
	loop_timer_unset(&again);
	loop_del(&io);
	close(pair[0]);
	close(pair[1]);
}

/* How many there are is up to others: where memory has ended, too. */
static void
without_memory(void **state)
{
	const struct rlimit none = { 1 << 20, RLIM_INFINITY };
	struct rlimit before;
	size_t i;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	for (i = 0; i < MANY; i++)
		loop_timer_set(&timers[i], i % 3, on_timer, &timers[i]);
	run_for(5);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(nfired, MANY);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(earliest_first),
		T(unset_and_set_again),
		T(any_order),
		T(who_is_set_again_waits),
		T(fds_are_served_between),
		T(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
