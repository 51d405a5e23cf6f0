/* SPDX-License-Identifier: ISC */
/* links: announcer/avpoll.c */
/* Avahi's watches, also where there is no room for one in the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "announcer/avpoll.h"
#include "base/log.h"
#include "base/loop.h"

static unsigned int called;

static void
on_event(AvahiWatch *w, int fd, AvahiWatchEvent happened, void *arg)
{
	char c;

	assert_int_equal(avpoll()->watch_get_events(w), happened);
	assert_int_equal(happened, AVAHI_WATCH_IN);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_ptr_equal(arg, &called);
	called++;
	loop_stop();
}

static void
give_up(void *arg)
{
	(void)arg;
	loop_stop();
}

/* Until something has happened, 20 seconds at most. */
static void
run(void)
{
	static struct loop_timer t;

	loop_timer_set(&t, 20000, give_up, NULL);
	assert_int_equal(loop_run(), 0);
	loop_timer_unset(&t);
}

static void
watched(void **state)
{
	const AvahiPoll *api = avpoll();
	AvahiWatch *w;
	int fds[2];

	(void)state;
	called = 0;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	w = api->watch_new(api, fds[0], AVAHI_WATCH_IN, on_event, &called);
	assert_non_null(w);
	assert_int_equal(write(fds[1], "x", 1), 1);
	run();
	assert_int_equal(called, 1);
	api->watch_update(w, 0);
	api->watch_update(w, AVAHI_WATCH_IN);
	assert_int_equal(write(fds[1], "x", 1), 1);
	run();
	assert_int_equal(called, 2);
	api->watch_free(w);
	close(fds[0]);
	close(fds[1]);
}

/* A file cannot be watched, as nothing can be when there is no memory. */
static void
not_at_first(void **state)
{
	const AvahiPoll *api = avpoll();
	AvahiWatch *w;
	int file_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[2], dup_fd;

	(void)state;
	called = 0;
	assert_int_not_equal(file_fd, -1);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_null(api->watch_new(api, file_fd, AVAHI_WATCH_IN, on_event,
	    &called));
	assert_null(api->watch_new(api, -1, AVAHI_WATCH_IN, on_event,
	    &called));
	/* the next one that is free will be its own */
	dup_fd = fcntl(file_fd, F_DUPFD_CLOEXEC, 0);
	close(dup_fd);
	w = api->watch_new(api, file_fd, 0, on_event, &called);
	assert_non_null(w);
	api->watch_update(w, AVAHI_WATCH_IN);
	/* now it can be */
	assert_int_equal(dup3(fds[0], dup_fd, O_CLOEXEC), dup_fd);
	assert_int_equal(dup3(fds[0], file_fd, O_CLOEXEC), file_fd);
	assert_int_equal(write(fds[1], "x", 1), 1);
	run();
	assert_int_equal(called, 1);
	api->watch_free(w);
	assert_int_equal(fcntl(dup_fd, F_GETFD), -1);
	close(file_fd);
	close(fds[0]);
	close(fds[1]);
}

/* A watch that is freed while it waits is not tried again. */
static void
gone_meanwhile(void **state)
{
	static struct loop_timer t;
	const AvahiPoll *api = avpoll();
	int file_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AvahiWatch *w = api->watch_new(api, file_fd, 0, on_event, &called);

	(void)state;
	called = 0;
	assert_non_null(w);
	api->watch_update(w, AVAHI_WATCH_IN);
	api->watch_free(w);
	close(file_fd);
	loop_timer_set(&t, 1500, give_up, NULL);
	assert_int_equal(loop_run(), 0);
	assert_int_equal(called, 0);
}

static void
timed(AvahiTimeout *t, void *arg)
{
	(void)t;
	(*(unsigned int *)arg)++;
	loop_stop();
}

static void
timeouts(void **state)
{
	const AvahiPoll *api = avpoll();
	const struct timeval past = { .tv_sec = 1 };
	AvahiTimeout *t = api->timeout_new(api, &past, timed, &called);

	(void)state;
	called = 0;
	assert_non_null(t);
	run();
	assert_int_equal(called, 1);
	api->timeout_update(t, NULL);
	api->timeout_update(t, &past);
	run();
	assert_int_equal(called, 2);
	api->timeout_free(t);
	/* libavahi does so where it got none */
	api->timeout_free(NULL);
}

static int
tear_down(void **state)
{
	(void)state;
	loop_end();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watched), cmocka_unit_test(not_at_first),
		cmocka_unit_test(gone_meanwhile), cmocka_unit_test(timeouts),
	};

	log_init("test", LOG_L_ERROR, NULL);
	if (loop_init() == -1)
		return (1);
	return (cmocka_run_group_tests(tests, NULL, tear_down));
}
