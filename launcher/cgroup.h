/* SPDX-License-Identifier: ISC */
/* One cgroup per session, where a tree has been delegated. */
#ifndef LAUNCHER_CGROUP_H
#define LAUNCHER_CGROUP_H

#include <stdint.h>

#include "msg.h"

/*
 * Makes the session's cgroup with its limits (LIMIT_UNLIMITED = none).
 * *cgroup_fd is the caller's; -1 when the host delegates none.  -1, errno.
 */
int	 cgroup_make(const struct sid *, uint64_t memory, uint64_t pids,
	    int *cgroup_fd);
/* The same without touching limits; -1 when there is none. */
int	 cgroup_open(const struct sid *);
/* Kills whoever is in it; harmless when there is none. */
void	 cgroup_kill(const struct sid *);
/* Kills what is left and removes it, now or within seconds. */
void	 cgroup_sweep(const struct sid *);
/* At the end of the daemon: every session's, for a second at most. */
void	 cgroup_sweep_all(void);

#endif
