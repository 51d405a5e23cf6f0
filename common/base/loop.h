/* SPDX-License-Identifier: ISC */
/*
 * The event loop that every role runs: one epoll set, level triggered, and
 * one-shot timers, which know each other, so that setting one needs no memory
 * and cannot fail.  Single threaded; one loop per process.
 */
#ifndef DL_LOOP_H
#define DL_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void	(*loop_io_fn)(uint32_t events, void *arg);
typedef void	(*loop_timer_fn)(void *arg);

/*
 * Embedded in the structure that owns the fd.  Zero it (LOOP_IO_INIT) before
 * first use.  The loop borrows fd: loop_del() before close().
 */
struct loop_io {
	int		 fd;
	uint32_t	 events;	/* EPOLL* bits; 0 = not in the set */
	loop_io_fn	 fn;
	void		*arg;
	bool		 active;
};
#define LOOP_IO_INIT	{ .fd = -1 }

/* Zeroed memory is a timer that is not set. */
struct loop_timer {
	uint64_t	 due_ms;
	uint64_t	 slot;		/* counts settings; 0 = unset */
	loop_timer_fn	 fn;
	void		*arg;
	/* the loop's: prev is the parent of a first child */
	struct loop_timer *child, *next, *prev;
};

/* Makes the epoll fd.  Returns -1 with errno. */
int	 loop_init(void);
/* Closes it.  A role's lasts as long as the role: this is for tests. */
void	 loop_end(void);
/* Watches fd.  Returns -1 with errno (ENOMEM, ENOSPC, EPERM). */
int	 loop_add(struct loop_io *, int fd, uint32_t events, loop_io_fn, void *);
/* Changes what is waited for; no system call when it is the same already. */
int	 loop_mod(struct loop_io *, uint32_t events);
/*
 * Forgets the fd; harmless when it is not watched.  Events of it that are
 * already fetched are dropped, so the memory may be freed at once.
 */
void	 loop_del(struct loop_io *);

/*
 * (Re)arms a timer.  The structure is borrowed, and must stay where it is until
 * the timer fires or is unset.  Timers that are due at the same time are called
 * in the order in which they were set.  A timer that is set by another timer's
 * function, or by its own, is called in the next turn at the earliest.
 */
void	 loop_timer_set(struct loop_timer *, uint64_t ms, loop_timer_fn, void *);
void	 loop_timer_unset(struct loop_timer *);

/* CLOCK_MONOTONIC in ms, read once per turn of the loop. */
uint64_t loop_now_ms(void);

/* Runs until loop_stop().  Returns -1 with errno when epoll itself fails. */
int	 loop_run(void);
void	 loop_stop(void);

#endif
