/* SPDX-License-Identifier: ISC */
/* Parsers of the kernel's files about cgroups. */
#ifndef PARENT_CGFILE_H
#define PARENT_CGFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Each takes its file; NULL = there is none.  -1: it does not say it. */

/* /proc/self/mountinfo: where cgroup2 is mounted. */
int	 cgfile_mount(FILE *, char *mnt, size_t size);
/* /proc/self/cgroup: the one that this process is in, as cgroup2 has it. */
int	 cgfile_own(FILE *, char *path, size_t size);
/* cgroup.subtree_control: CONTROLLER_* bits of those that are enabled. */
uint64_t cgfile_controllers(FILE *);

#endif
