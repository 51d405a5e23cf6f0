/* SPDX-License-Identifier: ISC */
/* gdbserver beside a session's program, in its namespaces. */
#ifndef LAUNCHER_ATTACH_H
#define LAUNCHER_ATTACH_H

#include "run.h"

/*
 * Blocked in programs that were started to be debugged, as attach.c ends
 * their first stop with it.  Harmless: it stops background jobs of terminals.
 */
#define FIRST_STOP_MARK	SIGTTOU

struct attach_spec {
	struct run_owner owner;
	uint32_t	 pid;		/* in the session's pid namespace */
};

/* A flight_fn; arg is a struct attach_spec, KEPT_FD the program's pidfd. */
void	attach_first(const void *arg) __attribute__((noreturn));

#endif
