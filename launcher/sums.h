/* SPDX-License-Identifier: ISC */
/*
 * Resources of which the host has a sum for all users, and a session's part of
 * it, so that many sessions do not use it up.
 */
#ifndef LAUNCHER_SUMS_H
#define LAUNCHER_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads what the host has, and what a user has of it, from /proc/sys. */
void		 sums_read(void);
/* Pseudo terminals of a session, its own one included; with a terminal or not. */
unsigned int	 sums_terminals(bool tty);
/*
 * In a session's user namespace, with its /proc at that path: half of what the
 * user has is the most that one session gets.  Failures end the process.
 */
void		 sums_limit(const char *proc);
/*
 * Pending signals and message queues.  In the fence, before a session's user
 * namespace: all sessions of the user together.  In any sandbox: one session.
 */
void		 sums_rlimits_user(void);
void		 sums_rlimits(void);
/* For DEPS: what a user has, and whether it is enough and held to. */
bool		 sums_users_part(char *form, size_t size);

#endif
