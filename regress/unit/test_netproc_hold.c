/* SPDX-License-Identifier: ISC */
/* Followers that hold: what the spawner is told, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "wire/msg_out.h"
/* compiled here for its STEP_PART */
#include "netproc/conn/hold.c"

#define SIZE	((size_t)256 * 1024)

struct channel		 spawner_chan;
static enum access	 granted;

bool
replica_may_use(const struct conn *c, const struct rsession *s)
{
	(void)s;
	return !c->read_only && granted >= ACCESS_USE;
}

static uint64_t		 sent;

int
chan_send(struct channel *chan, struct msg_out *o, int fd)
{
	(void)chan;
	assert_int_equal(fd, -1);
	assert_int_equal(o->hdr.type, MSG_HOLD);
	assert_int_equal(o->hdr.conn, 5);
	assert_int_equal(o->hdr.length, 12);
	sent++;
	return 0;
}

static struct ring	 r;

static int
begin(void **state)
{
	(void)state;
	return ring_create(&r, SIZE);
}

static int
end(void **state)
{
	(void)state;
	ring_close(&r);
	return 0;
}

/* Bytes still in this process would be lost with it. */
static void
what_is_unsent_is_not_taken(void **state)
{
	(void)state;
	assert_int_equal(hold_taken(5000, 0, 100), 5000);
	assert_int_equal(hold_taken(5000, 1, 100), 4899);
	assert_int_equal(hold_taken(5000, 4900, 100), 0);
	assert_int_equal(hold_taken(5000, 1000000, 100), 0);
	assert_true(hold_taken(UINT64_MAX, 0, 100) == UINT64_MAX);
}

static void
told_in_steps(void **state)
{
	struct hold h = { true, 1000 };

	(void)state;
	assert_false(hold_is_news(&h, &r, 0));
	assert_false(hold_is_news(&h, &r, 1000));
	assert_false(hold_is_news(&h, &r, 1000 + SIZE / STEP_PART - 1));
	assert_true(hold_is_news(&h, &r, 1000 + SIZE / STEP_PART));
	/* less than the spawner waits at, whatever the ring */
	assert_true(SIZE / STEP_PART < SIZE / 2);
}

static void
told_after_changes(void **state)
{
	struct hold h = { true, 0 };
	struct iovec iov[2];
	uint32_t i;

	(void)state;
	for (i = 0; i <= RING_MARKS / STEP_PART; i++) {
		(void)ring_space(&r, 1, iov);
		ring_commit(&r, 1, 1 + i % 2);
		if (i < RING_MARKS / STEP_PART)
			assert_false(hold_is_news(&h, &r, i + 1));
	}
	assert_true(hold_is_news(&h, &r, 1));
	h.told = 1;
	assert_false(hold_is_news(&h, &r, 1));
	assert_false(hold_is_news(&h, &r, 2));
}

static void
who_may(void **state)
{
	struct rsession s;
	struct conn c;
	const char *why;

	(void)state;
	memset(&s, 0, sizeof(s));
	memset(&c, 0, sizeof(c));
	c.watched = &s;
	granted = ACCESS_SEE;
	assert_int_equal(hold_refused(&c, &why), ERR_READ_ONLY);
	granted = ACCESS_USE;
	assert_int_equal(hold_refused(&c, &why), ERR_OK);
	c.read_only = true;
	assert_int_equal(hold_refused(&c, &why), ERR_READ_ONLY);
	c.read_only = false;
	s.view.tty = true;
	assert_int_equal(hold_refused(&c, &why), ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(why, "ATTACH"));
}

static void
tells(void **state)
{
	struct hold h = { true, 0 };
	struct rsession s;
	struct conn c;

	(void)state;
	memset(&s, 0, sizeof(s));
	memset(&c, 0, sizeof(c));
	c.watched = &s;
	c.number = 5;
	hold_tell(&c, &h, 1, 777);
	assert_int_equal(sent, 1);
	assert_int_equal(h.told, 777);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_unsent_is_not_taken),
		T(told_in_steps),
		T(told_after_changes),
		T(who_may),
		T(tells),
	};

	return cmocka_run_group_tests_name("netproc: holding", tests, NULL,
	    NULL);
}
