/* SPDX-License-Identifier: ISC */
/*
 * Code common to the processes between launcher and program.  They are forks of
 * the launcher with everything closed; a failure is sent over UP_SOCK as {step,
 * errno} and ends the process.
 */
#ifndef LAUNCHER_CHILD_H
#define LAUNCHER_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/proto.h"
#include "wire/run.h"

#define UP_SOCK		3
#define KEPT_FD		4
#define KEPT_FD2	5

/* fork() with a pidfd; flags of clone3.  cgroup_fd is borrowed, -1 = none. */
pid_t	 child_clone(uint64_t flags, int cgroup_fd, int *pidfd);
/* Moves all to their numbers (-1 = none) and closes everything else. */
void	 child_begin(int up_fd, const int keep_fds[2]);
/* Sends that fd (-1 = none) as that kind to the launcher, and closes it. */
void	 child_up_fd(unsigned int kind, int fd);
/* Sends many, each as the kind that is its index, -1 = none.  Borrows them. */
void	 child_up_fds(const int *fds, unsigned int n);
/* "I am the process", with an fd of that kind (-1 = none); borrows it. */
void	 child_up_pid(unsigned int kind, int fd);
/* Ends with that step and errno. */
void	 child_die(enum step) __attribute__((noreturn));
/*
 * Capabilities that a user mode of root's keeps until a session's namespace is
 * made: mapping uid 0 into a namespace needs CAP_SETFCAP, as user_namespaces(7)
 * says.  0 for every other owner.
 */
uint64_t child_root_caps(void);
/* All ids become the owner's, all capabilities but the above go. */
void	 child_become(const struct run_owner *);
/*
 * After it, and before the user namespace: in this one the kernel counts all
 * of the owner's processes, also those in namespaces below it, and those that
 * are made from now on are not begun when there are so many already.
 */
void	 child_count(uint64_t processes);
/* rlimits of a program, LIMIT_COUNT of them; none above those it has. */
void	 child_limits(const uint64_t *);
/* Maps the owner's uid and gid, and no other, into a new user namespace. */
void	 child_map_ids(void);
/*
 * A process with a user namespace to itself may empty the bounding set too.
 * Without one it keeps the parent's, which no_new_privs makes worthless.
 * Done by child_lock(); where there is a moment to wait, it can be done there.
 */
void	 child_unbound(void);
/*
 * Gives up for good: capabilities, the way back to them, 32-bit programs if
 * they are not allowed, and, where there are namespaces to guard, the system
 * calls that made them.
 */
void	 child_lock(bool filter);
/* The last steps before exec: session leader, standard fds (borrowed). */
void	 child_last(int in_fd, int out_fd, int err_fd);
/*
 * The same with n fds as 0 to n - 1, -1 = none.  Messages to the launcher still
 * go up, over another number than UP_SOCK, which is kept in a variable: not for
 * a process that shares its memory.
 */
void	 child_last_fds(const int *fds, int n);
/* Pointers into NUL-terminated strings one after the other; max with NULL. */
char	**child_vector(char **v, size_t max, const char *p, size_t len);

#endif
