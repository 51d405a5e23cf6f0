/* SPDX-License-Identifier: ISC */
/* A process by its number, if it is a session's. */
#ifndef LAUNCHER_OBSERVER_FIND_H
#define LAUNCHER_OBSERVER_FIND_H

#include <sys/types.h>

#include "launcher/base/leaf.h"

/* Its number; 0 when it has ended, and that may be another's. */
pid_t	 find_pid(int proc_fd, int pidfd);
/*
 * A pidfd, for the caller to close, of the process with that number if it is
 * in the leaf, or, where there are no cgroups, below the stub; NULL leaf: of
 * any process.  *inner is its number in its own pid namespace.  -1 = none.
 */
int	 find_process(int proc_fd, pid_t pid, const struct cgroup_leaf *leaf,
	    int stub_fd, pid_t *inner);

#endif
