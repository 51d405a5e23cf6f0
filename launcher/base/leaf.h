/* SPDX-License-Identifier: ISC */
/*
 * Cgroups, where a tree has been delegated: one per user, and in it one per
 * session, one per debugger and one per tracer.  All are named by the owner's
 * uid and the id of the session.
 */
#ifndef LAUNCHER_BASE_LEAF_H
#define LAUNCHER_BASE_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/msg.h"
#include "wire/proto.h"
#include "wire/role.h"

/* the tree, "/u4294967295", a slash, "dbg-" and a UUID */
#define LEAF_PATH	(sizeof(settings.cgroup) + 60)

struct cgroup_leaf {
	uint32_t	uid;
	struct sid	session;
	enum leaf_of	of;
};

/* False when the host delegates no cgroups. */
bool	leaf_user_path(char path[LEAF_PATH], uint32_t uid);
bool	leaf_path(char path[LEAF_PATH], const struct cgroup_leaf *);
/* The caller owns the fd; -1 with errno when there is none. */
int	leaf_open_user(uint32_t uid);
int	leaf_open(const struct cgroup_leaf *);

#endif
