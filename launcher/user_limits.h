/* SPDX-License-Identifier: ISC */
/*
 * Resources of which the host has a sum for all users, and a session's part of
 * it, so that many sessions do not use it up.
 */
#ifndef LAUNCHER_USER_LIMITS_H
#define LAUNCHER_USER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads what the host has, and what a user has of it, from /proc/sys. */
void		 user_limits_read(void);
/* Pseudo terminals of a session, its own one included; with a terminal or not. */
unsigned int	 user_limits_terminals(bool tty);
/*
 * In a session's user namespace, with its /proc at that path: half of what the
 * user has is the most that one session gets.  Failures end the process.
 */
void		 user_limits_divide(const char *proc);
/*
 * Pending signals and message queues.  In the fence, before a session's user
 * namespace: all sessions of the user together.  In any sandbox: one session.
 */
void		 user_limits_rlimits_user(void);
void		 user_limits_rlimits(void);
/* For DEPS: what a user has, and whether it is enough and held to. */
bool		 user_limits_users_part(char *form, size_t size);

#endif
