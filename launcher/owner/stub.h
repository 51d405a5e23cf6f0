/* SPDX-License-Identifier: ISC */
/*
 * The stub: every session's first process and the parent of its program.
 * PID 1 where there is a pid namespace, a subreaper elsewhere.
 */
#ifndef LAUNCHER_OWNER_STUB_H
#define LAUNCHER_OWNER_STUB_H

#include <stdbool.h>
#include <sys/types.h>

/* Signals come by fd from now on; before the program is forked. */
void	stub_signals(void);
/*
 * Gives up everything but status_fd, tells how target ends, reaps the tree,
 * passes on what the spawner wants of it, and ends with it.  init: the tree
 * is a pid namespace.
 */
void	stub_run(pid_t target, int status_fd, bool init)
	    __attribute__((noreturn));

#endif
