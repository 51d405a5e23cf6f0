/* SPDX-License-Identifier: ISC */
/*
 * The AvahiPoll interface over common/loop.h.  Everything may be freed by
 * the callback that it calls: nothing is touched after a callback.
 */
#include <sys/epoll.h>
#include <sys/time.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "avpoll.h"
#include "log.h"
#include "loop.h"

struct AvahiWatch {
	struct loop_io		 io;
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

static void
watch_update(AvahiWatch *w, AvahiWatchEvent wanted)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < NEVENTS; i++)
		if (wanted & events[i].avahi)
			bits |= events[i].epoll;
	/* epoll tells of EPOLLHUP even when nothing is asked for */
	if (bits == 0)
		loop_del(&w->io);
	else if (w->io.active)
		(void)loop_mod(&w->io, bits);
	else if (loop_add(&w->io, w->dup_fd, bits, on_io, w) == -1)
		log_warn("watching the D-Bus connection");
}

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
	if (w->dup_fd == -1) {
		free(w);
		return NULL;
	}
	w->fd = fd;
	w->fn = fn;
	w->userdata = userdata;
	watch_update(w, wanted);
	return w;
}

static AvahiWatchEvent
watch_get_events(AvahiWatch *w)
{
	return w->happened;
}

static void
watch_free(AvahiWatch *w)
{
	loop_del(&w->io);
	close(w->dup_fd);
	free(w);
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

static void
timeout_free(AvahiTimeout *t)
{
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
