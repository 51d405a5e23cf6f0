/* SPDX-License-Identifier: ISC */
/* A session is not a client of its daemon: tells the two apart. */
#ifndef DL_ORIGIN_H
#define DL_ORIGIN_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

#include "diag.h"

/* Prepares what the daemon's mode and control groups allow to be asked. */
void	origin_init(void);
/*
 * 0 when the socket, of this host, is no session's, or when sessions may be
 * clients.  Else -1 with a line for the log in why; so also when it cannot
 * be told.  1 when it cannot be told now, for want of descriptors or memory:
 * who is asked again may know.
 */
int	origin_check(const struct diag_socket *, char *why, size_t size);

/*
 * The same for a client of the local socket, by its credentials.  pidfd is
 * that process, borrowed; -1 where the kernel has none for it: then one that
 * has ended might pass for the next with its number.
 */
int	 origin_check_pid(pid_t, int pidfd, char *why, size_t size);

/* By its errno, whether a call has failed for want of descriptors or memory. */
static inline bool
origin_lacks(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}
/* Something could not be looked at on the way to an answer, as errno says. */
void	 origin_missed(void);

#endif
