/* SPDX-License-Identifier: ISC */
/* Local sockets of daemons on this host. */
#ifndef CLIENT_LIB_LOCAL_H
#define CLIENT_LIB_LOCAL_H

#include <stdbool.h>

struct target;

/*
 * Connects to a local socket after a look at who could have put it there.
 * A non-blocking socket, the caller's to close; -1 and *code, an exit code,
 * after a report. perhaps: none being there for this user is no error, -1
 * with CTL_OK.
 */
int	local_connect(const char *path, bool perhaps, int *code);

/* The local sockets of the user's own daemon, and of the system's. */
void	local_own(struct target *);
void	local_system(struct target *);

/*
 * Connects to the local socket of the system's daemon, else to that of the
 * user's own, and makes it the target. As above, with perhaps.
 */
int	local_default(struct target *, int *code);

#endif
