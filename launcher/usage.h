/* SPDX-License-Identifier: ISC */
/* Resources that the processes of a session use, by the kernel's files. */
#ifndef LAUNCHER_USAGE_H
#define LAUNCHER_USAGE_H

#include <sys/types.h>

#include <stdint.h>

/* USAGE_UNKNOWN (common/wire/proto.h) where the kernel does not tell. */
struct usage {
	uint64_t	cpu_ns;
	uint64_t	memory;		/* bytes */
};

/* By its cgroup; proc_fd is /proc, for memory without that controller. */
void	 usage_of_leaf(int leaf_fd, int proc_fd, struct usage *);
/* Where there are no cgroups: root and all its descendants. */
void	 usage_of_tree(pid_t root, int proc_fd, struct usage *);

#endif
