/* SPDX-License-Identifier: ISC */
/*
 * gdbserver, or the adapter of another debugger, beside a session's program,
 * in its namespaces.
 */
#ifndef LAUNCHER_OWNER_ATTACH_H
#define LAUNCHER_OWNER_ATTACH_H

#include "wire/run.h"

/*
 * Blocked in programs that were started to be debugged, as attach.c ends
 * their first stop with it.  Harmless: it stops background jobs of terminals.
 */
#define FIRST_STOP_MARK	SIGTTOU

struct attach_spec {
	struct run_owner owner;
	uint32_t	 pid;		/* in the session's pid namespace */
	uint32_t	 flags;		/* ATTACH_* */
	/* with ATTACH_PIPES: as a program of the session's would have */
	uint64_t	 processes, limits[LIMIT_COUNT];
	/* NUL-terminated strings one after the other, borrowed */
	const char	*argv, *envp;
	size_t		 argv_len, envp_len;
};

/* An owner_fn; arg is a struct attach_spec, KEPT_FD the program's pidfd. */
void	attach_first(const void *arg) __attribute__((noreturn));

#endif
