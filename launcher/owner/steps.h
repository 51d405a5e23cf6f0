/* SPDX-License-Identifier: ISC */
/*
 * Steps of every process between launcher and program.  All files of this
 * directory run in forks of the launcher that have become the session's owner
 * and given up all capabilities, with everything closed but UP_SOCK and the kept
 * fds (launcher/base/child.h); a failure ends the process with child_die().
 */
#ifndef LAUNCHER_OWNER_STEPS_H
#define LAUNCHER_OWNER_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/base/child.h"

/* Owner's part of a start; arg is as it was in the launcher. */
typedef void __attribute__((noreturn)) (*owner_fn)(const void *arg);

/* The only way in: after child_become(). */
void	owner_main(owner_fn, const void *arg) __attribute__((noreturn));
/* Sends that fd (-1 = none) as that kind to the launcher, and closes it. */
void	child_up_fd(unsigned int kind, int fd);
/* Sends many, each as the kind that is its index, -1 = none.  Borrows them. */
void	child_up_fds(const int *fds, unsigned int n);
/* "I am the process", with an fd of that kind (-1 = none); borrows it. */
void	child_up_pid(unsigned int kind, int fd);
/* rlimits of a program, LIMIT_COUNT of them; none above those it has. */
void	child_limits(const uint64_t *);
/* Maps the owner's uid and gid, and no other, into a new user namespace. */
void	child_map_ids(void);
/*
 * A process with a user namespace to itself may empty the bounding set too.
 * Without one it keeps the parent's, which no_new_privs makes worthless.
 * Done by child_lock(); where there is a moment to wait, it can be done there.
 */
void	child_unbound(void);
/*
 * Gives up for good: capabilities, the way back to them, 32-bit programs if
 * they are not allowed, and, where there are namespaces to guard, the system
 * calls that made them.
 */
void	child_lock(bool filter);
/* The last steps before exec: session leader, standard fds (borrowed). */
void	child_last(int in_fd, int out_fd, int err_fd);
/*
 * The same with n fds as 0 to n - 1, -1 = none.  Messages to the launcher still
 * go up, over another number than UP_SOCK, which is kept in a variable: not for
 * a process that shares its memory.
 */
void	child_last_fds(const int *fds, int n);
/* Pointers into NUL-terminated strings one after the other; max with NULL. */
char	**child_vector(char **v, size_t max, const char *p, size_t len);

#endif
