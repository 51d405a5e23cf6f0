/* SPDX-License-Identifier: ISC */
/* Cgroups of users and sessions: made, limited, killed, removed. */
#ifndef LAUNCHER_CGROUP_H
#define LAUNCHER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/base/leaf.h"

/* Bytes and numbers of processes; LIMIT_UNLIMITED = none. */
struct cgroup_limits {
	uint64_t	memory, pids;
};

/*
 * Makes the leaf with its limits, and before it the owner's cgroup with the
 * owner's limits, unless that exists.  The caller owns *cgroup_fd; -1 when the
 * host delegates no cgroup.  Returns -1 and errno: EBUSY while the last process
 * of an earlier run has not left the leaf.
 */
int	 cgroup_make(const struct cgroup_leaf *,
	    const struct cgroup_limits *user,
	    const struct cgroup_limits *own, int *cgroup_fd);
/* Changes the limits of a user's cgroup, if any; false with errno. */
bool	 cgroup_limit_user(uint32_t uid, const struct cgroup_limits *);
/* Kills all processes in the leaf; harmless when there is no leaf. */
void	 cgroup_kill(const struct cgroup_leaf *);
/*
 * Kills what is left and removes it, now or within seconds; its owner's
 * with the last.
 */
void	 cgroup_sweep(const struct cgroup_leaf *);
/* At the end of the daemon: every session's, for a second at most. */
void	 cgroup_sweep_all(void);

#endif
