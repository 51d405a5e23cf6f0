/* SPDX-License-Identifier: ISC */
/*
 * One cgroup for each user with one per session in it, where a tree has been
 * delegated.  A session is named by its owner's uid and its id.
 */
#ifndef LAUNCHER_CGROUP_H
#define LAUNCHER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "msg.h"

/* Bytes and numbers of processes; LIMIT_UNLIMITED = none. */
struct cgroup_limits {
	uint64_t	memory, pids;
};

/* What all sessions of a user use; USAGE_UNKNOWN where nobody counts. */
struct cgroup_use {
	uint32_t	uid;
	uint64_t	memory, pids;
};

/*
 * Makes the session's cgroup with its limits, and before it its owner's with
 * his, unless he has one.  *cgroup_fd is the caller's; -1 when the host
 * delegates none.  -1, errno.
 */
int	 cgroup_make(uint32_t uid, const struct sid *,
	    const struct cgroup_limits *user,
	    const struct cgroup_limits *session, int *cgroup_fd);
/* The same without touching limits; -1 when there is none. */
int	 cgroup_open(uint32_t uid, const struct sid *);
/* Other limits for a user's, if he has one; false with errno. */
bool	 cgroup_limit_user(uint32_t uid, const struct cgroup_limits *);
/* Those of that user, or of USER_ALL, as many as max: how many there are. */
size_t	 cgroup_users(uint32_t uid, struct cgroup_use *, size_t max);
/* Kills whoever is in it; harmless when there is none. */
void	 cgroup_kill(uint32_t uid, const struct sid *);
/*
 * Kills what is left and removes it, now or within seconds; its owner's
 * with the last.
 */
void	 cgroup_sweep(uint32_t uid, const struct sid *);
/* At the end of the daemon: every session's, for a second at most. */
void	 cgroup_sweep_all(void);

#endif
