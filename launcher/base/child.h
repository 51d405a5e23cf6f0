/* SPDX-License-Identifier: ISC */
/*
 * The way from the launcher to a process that has no rights: fork, the fds that
 * it keeps, the change of user, and the socket by which it tells the launcher
 * how it went.
 */
#ifndef LAUNCHER_BASE_CHILD_H
#define LAUNCHER_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/proto.h"
#include "wire/run.h"

#define UP_SOCK		3
#define KEPT_FD		4
#define KEPT_FD2	5
/* Above every number that child_begin() hands out. */
#define CHILD_ASIDE	16

/*
 * Messages of a process that is being started.  The fds that come with one are
 * in the order of their kinds (RUN_FD_* and the like); a message, and so a
 * wakeup, for each fd would be expensive.
 */
enum { UP_FDS = 1, UP_PID, UP_FAILED };
#define UP_FDS_MAX	RUN_FD_COUNT	/* at most FDPASS_MAX */
struct up {
	uint32_t	what;
	uint32_t	fds;	/* 1 << kind for each */
	uint32_t	a;	/* pid in its own namespace; step */
	uint32_t	b;	/* errno */
};

/* The socket to the launcher: UP_SOCK, until an owner's process moves it. */
extern int	child_sock_fd;

/* fork() with a pidfd; flags of clone3.  cgroup_fd is borrowed, -1 = none. */
pid_t	 child_clone(uint64_t flags, int cgroup_fd, int *pidfd);
/* Moves all to their numbers (-1 = none) and closes everything else. */
void	 child_begin(int up_fd, const int keep_fds[2]);
/* Sends that with n fds, which it borrows.  A failure ends the process. */
void	 child_send_up(const struct up *, const int *fds, size_t n);
/* Ends with that step and errno. */
void	 child_die(enum step) __attribute__((noreturn));
/*
 * Capabilities that a user mode of root's keeps until a session's namespace is
 * made: mapping uid 0 into a namespace needs CAP_SETFCAP, as user_namespaces(7)
 * says.  0 for every other owner.
 */
uint64_t child_root_caps(void);
/*
 * The kernel counts all of the owner's processes in this user namespace, also
 * those in namespaces below it: none is begun when there are so many already.
 * For a process that has become its owner, unless it counts itself.
 */
void	 child_count(uint64_t processes);
/* All ids become the owner's, all capabilities but the above go. */
void	 child_become(const struct run_owner *);

#endif
