/* SPDX-License-Identifier: ISC */
/*
 * Control groups by number: is a socket one of a session, or was it made
 * outside?
 */
#ifndef DL_CGROUPS_H
#define DL_CGROUPS_H

#include <stdint.h>

enum cgroup_place {
	CGROUP_OUTSIDE,		/* exists, and is not below the sessions */
	CGROUP_SESSION,
	CGROUP_UNKNOWN		/* exists nowhere that we can see */
};

/*
 * sessions is the directory below which each session has its group, borrowed
 * for good.  Returns -1 with errno when it is none of cgroup v2.
 */
int	cgroups_init(const char *sessions);
/*
 * Ids of groups are never used again and groups do not move, so what was
 * once found to be outside is remembered.
 */
enum cgroup_place cgroups_place(uint64_t id);

#endif
