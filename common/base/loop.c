/* SPDX-License-Identifier: ISC */
/*
 * Event loop: epoll for fds, a pairing heap for timers.  The heap is made of
 * the timers themselves: how many there are is up to peers, and what peers do
 * must not end a process.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "loop.h"

#define BATCH	64

static int		  epoll_fd = -1;
static bool		  stopping;
static uint64_t		  now_ms;
static struct epoll_event batch[BATCH];
static int		  batch_len;
static struct loop_timer *first;	/* the next one due */
static uint64_t		  settings_made;

static void
update_now(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts) == -1)
		fatal("clock_gettime");
	now_ms = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int
loop_init(void)
{
	update_now();
	stopping = false;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd == -1 ? -1 : 0;
}

void
loop_end(void)
{
	if (epoll_fd != -1)
		close(epoll_fd);
	epoll_fd = -1;
}

int
loop_add(struct loop_io *io, int fd, uint32_t events, loop_io_fn fn, void *arg)
{
	struct epoll_event ev = { .events = events, .data.ptr = io };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) == -1)
		return -1;
	io->fd = fd;
	io->events = events;
	io->fn = fn;
	io->arg = arg;
	io->active = true;
	return 0;
}

int
loop_mod(struct loop_io *io, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = io };

	if (!io->active || io->events == events)
		return 0;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, io->fd, &ev) == -1)
		return -1;
	io->events = events;
	return 0;
}

void
loop_del(struct loop_io *io)
{
	int i;

	if (!io->active)
		return;
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
	io->active = false;
	io->fd = -1;
	for (i = 0; i < batch_len; i++)
		if (batch[i].data.ptr == io)
			batch[i].data.ptr = NULL;
}

static bool
is_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->due_ms < b->due_ms ||
	    (a->due_ms == b->due_ms && a->slot < b->slot);
}

/* Merges two heaps: the later top becomes a child of the earlier. */
static struct loop_timer *
meld(struct loop_timer *a, struct loop_timer *b)
{
	struct loop_timer *top, *under;

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	top = is_before(b, a) ? b : a;
	under = top == a ? b : a;
	under->prev = top;
	under->next = top->child;
	if (top->child != NULL)
		top->child->prev = under;
	top->child = under;
	return top;
}

/* Siblings by twos, then those, last ones first: that keeps the heap flat. */
static struct loop_timer *
meld_siblings(struct loop_timer *t)
{
	struct loop_timer *a, *b, *pairs = NULL, *top = NULL;

	while (t != NULL) {
		a = t;
		b = a->next;
		t = b == NULL ? NULL : b->next;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs != NULL) {
		a = pairs;
		pairs = a->next;
		a->next = NULL;
		top = meld(top, a);
	}
	return top;
}

void
loop_timer_unset(struct loop_timer *t)
{
	if (t->slot == 0)
		return;
	if (t == first)
		first = meld_siblings(t->child);
	else {
		if (t->prev->child == t)
			t->prev->child = t->next;
		else
			t->prev->next = t->next;
		if (t->next != NULL)
			t->next->prev = t->prev;
		first = meld(first, meld_siblings(t->child));
	}
	t->slot = 0;
	t->child = t->next = t->prev = NULL;
}

void
loop_timer_set(struct loop_timer *t, uint64_t ms, loop_timer_fn fn, void *arg)
{
	loop_timer_unset(t);
	t->fn = fn;
	t->arg = arg;
	t->due_ms = now_ms + ms;
	t->slot = ++settings_made;
	t->child = t->next = t->prev = NULL;
	first = meld(first, t);
}

static int
next_timeout(void)
{
	uint64_t wait;

	if (first == NULL)
		return -1;
	if (first->due_ms <= now_ms)
		return 0;
	wait = first->due_ms - now_ms;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}

static void
run_timers(void)
{
	const uint64_t until = settings_made;
	struct loop_timer *t;

	/* one that is set meanwhile waits for a turn: fds are served between */
	while (first != NULL && first->due_ms <= now_ms &&
	    first->slot <= until) {
		t = first;
		loop_timer_unset(t);
		t->fn(t->arg);
	}
}

uint64_t
loop_now_ms(void)
{
	return now_ms;
}

void
loop_stop(void)
{
	stopping = true;
}

int
loop_run(void)
{
	struct loop_io *io;
	int i;

	while (!stopping) {
		batch_len = epoll_wait(epoll_fd, batch, BATCH, next_timeout());
		if (batch_len == -1) {
			batch_len = 0;
			if (errno != EINTR)
				return -1;
		}
		update_now();
		for (i = 0; i < batch_len; i++) {
			io = batch[i].data.ptr;
			if (io != NULL)
				io->fn(batch[i].events, io->arg);
		}
		batch_len = 0;
		run_timers();
	}
	stopping = false;
	return 0;
}
