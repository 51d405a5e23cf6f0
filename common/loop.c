/* SPDX-License-Identifier: ISC */
/* Event loop: epoll for fds, a binary heap for timers. */
#include <sys/epoll.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "log.h"
#include "loop.h"

#define BATCH	64

static int		  epoll_fd = -1;
static bool		  stopping;
static uint64_t		  now_ms;
static struct epoll_event batch[BATCH];
static int		  batch_len;
static struct loop_timer **heap;
static size_t		  heap_len, heap_cap;

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

static void
heap_put(size_t slot, struct loop_timer *t)
{
	heap[slot - 1] = t;
	t->slot = slot;
}

static void
heap_up(size_t slot, struct loop_timer *t)
{
	while (slot > 1 && heap[slot / 2 - 1]->due_ms > t->due_ms) {
		heap_put(slot, heap[slot / 2 - 1]);
		slot /= 2;
	}
	heap_put(slot, t);
}

static void
heap_down(size_t slot, struct loop_timer *t)
{
	size_t kid;

	while ((kid = slot * 2) <= heap_len) {
		if (kid < heap_len && heap[kid]->due_ms < heap[kid - 1]->due_ms)
			kid++;
		if (heap[kid - 1]->due_ms >= t->due_ms)
			break;
		heap_put(slot, heap[kid - 1]);
		slot = kid;
	}
	heap_put(slot, t);
}

void
loop_timer_unset(struct loop_timer *t)
{
	struct loop_timer *last;
	size_t slot = t->slot;

	if (slot == 0)
		return;
	t->slot = 0;
	last = heap[--heap_len];
	if (last == t)
		return;
	heap_down(slot, last);
	heap_up(last->slot, last);
}

void
loop_timer_set(struct loop_timer *t, uint64_t ms, loop_timer_fn fn, void *arg)
{
	struct loop_timer **bigger;
	size_t cap;

	loop_timer_unset(t);
	if (heap_len == heap_cap) {
		cap = heap_cap == 0 ? 64 : heap_cap * 2;
		bigger = reallocarray(heap, cap, sizeof(*heap));
		if (bigger == NULL)
			fatal("timers");
		heap = bigger;
		heap_cap = cap;
	}
	t->fn = fn;
	t->arg = arg;
	t->due_ms = now_ms + ms;
	heap_len++;
	heap_up(heap_len, t);
}

static int
next_timeout(void)
{
	uint64_t wait;

	if (heap_len == 0)
		return -1;
	if (heap[0]->due_ms <= now_ms)
		return 0;
	wait = heap[0]->due_ms - now_ms;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}

static void
run_timers(void)
{
	struct loop_timer *t;

	while (heap_len > 0 && heap[0]->due_ms <= now_ms) {
		t = heap[0];
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
