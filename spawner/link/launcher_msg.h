/* SPDX-License-Identifier: ISC */
/* Orders to the launcher that need no answer, or none that is waited for. */
#ifndef SPAWNER_LAUNCHER_MSG_H
#define SPAWNER_LAUNCHER_MSG_H

#include <stdint.h>

struct session;

/*
 * Sends a signal through the launcher, for a session or NULL; pidfd is
 * borrowed.  -1: the launcher has gone.
 */
int	 send_signal(const struct session *, uint64_t serial, int pidfd,
	    int signal, uint32_t whom);
/*
 * Gives an image, bundle or archive to the launcher, which lets a process of no
 * importance close it: freeing its pages may take 100 ms.  Takes fd (-1 =
 * none).  The launcher also removes the cgroup that the session (NULL = none)
 * left behind.
 */
void	 sweep(const struct session *, int fd);

#endif
