/* SPDX-License-Identifier: ISC */
/*
 * The file system that a session or a job sees.  For a process that has all
 * capabilities in its own user and mount namespace; failures end that process.
 */
#ifndef LAUNCHER_OWNER_MOUNTS_H
#define LAUNCHER_OWNER_MOUNTS_H

#include "wire/run.h"

/* Where a bundle lies, below the state directory. */
#define BUNDLE_NAME	"bundle"

/* All of a session's mounts, for its kind of sandbox. */
void	mounts_session(const struct run_spec *);
/* Nothing that is mounted from now on is seen by others, or the reverse. */
void	mounts_private(void);
/*
 * Lays an empty directory over path.  False when it needs none, as nothing
 * in here can reach it.
 */
bool	mounts_mask(const char *path);
/* Enters a new network namespace.  Returns it, and a socket in it; gives both. */
int	mounts_network(int *sock_fd);
/* Brings its loopback device up.  Borrows the socket. */
void	mounts_network_up(int sock_fd);

#endif
