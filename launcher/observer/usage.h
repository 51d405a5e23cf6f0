/* SPDX-License-Identifier: ISC */
/* Resources that the processes of a session use, by the kernel's files. */
#ifndef LAUNCHER_OBSERVER_USAGE_H
#define LAUNCHER_OBSERVER_USAGE_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

/* USAGE_UNKNOWN (common/wire/proto.h) where the kernel does not tell. */
struct usage {
	uint64_t	cpu_ns;
	uint64_t	memory;		/* bytes */
};

/* Resources that all sessions of a user use. */
struct user_use {
	uint32_t	uid;
	uint64_t	memory, pids;
};

/* By its cgroup; proc_fd is /proc, for memory without that controller. */
void	 usage_of_leaf(int leaf_fd, int proc_fd, struct usage *);
/* Where there are no cgroups: root and all its descendants. */
void	 usage_of_tree(pid_t root, int proc_fd, struct usage *);
/* Fills in use by that user, or by each (USER_ALL), max at most; how many. */
size_t	 usage_of_users(uint32_t uid, struct user_use *, size_t max);

#endif
