/* SPDX-License-Identifier: ISC */
/*
 * The AvahiPoll interface over common/base/loop.h.  Everything may be freed by
 * the callback that it calls: nothing is touched after a callback.
 */
#include <sys/epoll.h>
#include <sys/time.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "avpoll.h"
#include "base/log.h"
#include "base/loop.h"

/* Between attempts to watch what could not be watched. */
#define AGAIN_MS	1000

struct AvahiWatch {
	struct loop_io		 io;
	struct loop_timer	 again;
	uint32_t		 wanted;	/* events of epoll */
	int			 fd;		/* Avahi's */
	int			 dup_fd;	/* ours, for the loop */
	AvahiWatchEvent		 happened;	/* for a callback to ask */
	AvahiWatchCallback	 fn;
	void			*userdata;
};

struct AvahiTimeout {
	struct loop_timer	 timer;
	AvahiTimeoutCallback	 fn;
	void			*userdata;
};

static const struct {
	AvahiWatchEvent	avahi;
	uint32_t	epoll;
} events[] = {
	{ AVAHI_WATCH_IN,	EPOLLIN },
	{ AVAHI_WATCH_OUT,	EPOLLOUT },
	{ AVAHI_WATCH_ERR,	EPOLLERR },
	{ AVAHI_WATCH_HUP,	EPOLLHUP },
};
#define NEVENTS	(sizeof(events) / sizeof(events[0]))

static void
on_io(uint32_t got, void *arg)
{
	AvahiWatch *w = arg;
	unsigned int happened = 0;
	size_t i;

	for (i = 0; i < NEVENTS; i++)
		if (got & events[i].epoll)
			happened |= events[i].avahi;
	w->happened = (AvahiWatchEvent)happened;
	w->fn(w, w->fd, w->happened, w->userdata);
}

static int
watch(AvahiWatch *w)
{
	/* epoll tells of EPOLLHUP even when nothing is asked for */
	if (w->wanted == 0) {
		loop_del(&w->io);
		return 0;
	}
	return w->io.active ? loop_mod(&w->io, w->wanted) :
	    loop_add(&w->io, w->dup_fd, w->wanted, on_io, w);
}

static void
watch_again(void *arg)
{
	AvahiWatch *w = arg;

	if (watch(w) == -1)
		loop_timer_set(&w->again, AGAIN_MS, watch_again, w);
}

static void
watch_want(AvahiWatch *w, AvahiWatchEvent wanted)
{
	size_t i;

	w->wanted = 0;
	for (i = 0; i < NEVENTS; i++)
		if (wanted & events[i].avahi)
			w->wanted |= events[i].epoll;
}

/* Avahi cannot be told of a failure here: a timer retries the update. */
static void
watch_update(AvahiWatch *w, AvahiWatchEvent wanted)
{
	watch_want(w, wanted);
	loop_timer_unset(&w->again);
	if (watch(w) == 0)
		return;
	log_warn("watching the D-Bus connection");
	loop_timer_set(&w->again, AGAIN_MS, watch_again, w);
}

static void
watch_free(AvahiWatch *w)
{
	loop_timer_unset(&w->again);
	loop_del(&w->io);
	if (w->dup_fd != -1)
		close(w->dup_fd);
	free(w);
}

/* NULL is for the caller to try again. */
static AvahiWatch *
watch_new(const AvahiPoll *api, int fd, AvahiWatchEvent wanted,
    AvahiWatchCallback fn, void *userdata)
{
	AvahiWatch *w = calloc(1, sizeof(*w));

	(void)api;
	if (w == NULL)
		return NULL;
	/* D-Bus watches one fd twice, for reading and for writing */
	w->dup_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	w->fd = fd;
	w->fn = fn;
	w->userdata = userdata;
	watch_want(w, wanted);
	if (w->dup_fd == -1 || watch(w) == -1) {
		log_warn("watching the D-Bus connection");
		watch_free(w);
		return NULL;
	}
	return w;
}

static AvahiWatchEvent
watch_get_events(AvahiWatch *w)
{
	return w->happened;
}

static void
on_timer(void *arg)
{
	AvahiTimeout *t = arg;

	t->fn(t, t->userdata);
}

/* Avahi's times are points of the wall clock. */
static uint64_t
ms_until(const struct timeval *tv)
{
	struct timeval now, rest;

	if (gettimeofday(&now, NULL) == -1 || !timercmp(tv, &now, >))
		return 0;
	timersub(tv, &now, &rest);
	/* rounded up: a timer that is early would only be set again */
	return (uint64_t)rest.tv_sec * 1000 + (uint64_t)rest.tv_usec / 1000 + 1;
}

static void
timeout_update(AvahiTimeout *t, const struct timeval *tv)
{
	if (tv == NULL)
		loop_timer_unset(&t->timer);
	else
		loop_timer_set(&t->timer, ms_until(tv), on_timer, t);
}

static AvahiTimeout *
timeout_new(const AvahiPoll *api, const struct timeval *tv,
    AvahiTimeoutCallback fn, void *userdata)
{
	AvahiTimeout *t = calloc(1, sizeof(*t));

	(void)api;
	if (t == NULL)
		return NULL;
	t->fn = fn;
	t->userdata = userdata;
	timeout_update(t, tv);
	return t;
}

/* t is NULL if timeout_new() failed: libavahi does not check for that. */
static void
timeout_free(AvahiTimeout *t)
{
	if (t == NULL)
		return;
	loop_timer_unset(&t->timer);
	free(t);
}

const AvahiPoll *
avpoll(void)
{
	static const AvahiPoll api = {
		.watch_new = watch_new,
		.watch_update = watch_update,
		.watch_get_events = watch_get_events,
		.watch_free = watch_free,
		.timeout_new = timeout_new,
		.timeout_update = timeout_update,
		.timeout_free = timeout_free,
	};

	return &api;
}
