/* SPDX-License-Identifier: ISC */
/*
 * Resources of which the host has a sum for all users, and a session's part of
 * it, so that many sessions do not use it up.
 */
#ifndef LAUNCHER_OWNER_USER_LIMITS_H
#define LAUNCHER_OWNER_USER_LIMITS_H

#include <sys/resource.h>

#include <stdbool.h>
#include <stdint.h>

#include "launcher/base/facts.h"

struct user_resource {
	const char	*name, *what;
	/* where all users' sum is, if it can be read inside the fence */
	const char	*host;
	uint64_t	 least;		/* a user's, for programs as they are */
	bool		 halved;	/* for each session */
};
extern const struct user_resource	user_resources[USER_RESOURCES];

/* Limits of a process that the kernel counts by users. */
enum { USER_SIGNALS, USER_QUEUES, USER_RLIMITS };
struct user_rlimit {
	__rlimit_resource_t which;
	const char	*what;
	uint64_t	 least;		/* a user's, for programs as they are */
};
extern const struct user_rlimit	user_rlimits[USER_RLIMITS];

/* A part of what is divided by that many, rounded up. */
uint64_t	user_limits_part(uint64_t all, uint64_t by);

/* Pseudo terminals of a session, its own one included; with a terminal or not. */
unsigned int	user_limits_terminals(bool tty);
/*
 * In a session's user namespace, with its /proc at that path: half of what the
 * user has is the most that one session gets.  Failures end the process.
 */
void	user_limits_divide(const char *proc);
/*
 * Pending signals and message queues.  In the fence, before a session's user
 * namespace: all sessions of the user together.  In any sandbox: one session.
 */
void	user_limits_rlimits_user(void);
void	user_limits_rlimits(void);

#endif
