/* SPDX-License-Identifier: ISC */
/*
 * Which process has a socket: found in /proc, for daemons without a control
 * group of their own.
 */
#ifndef DL_HOLDERS_H
#define DL_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum holder {
	HOLDER_OUTSIDE,		/* a process that is no session's */
	HOLDER_SESSION,
	HOLDER_NONE		/* nobody was found, or nothing may be seen */
};

/* Notes our pid namespace and the daemon's process.  -1 with errno. */
int	holders_init(void);
/* Looks among the processes of uid, the youngest first. */
enum holder holders_find(uid_t, uint32_t inode);
/* Is that process one that the daemon started, or gone?  By its ancestors. */
bool	 holders_is_session(pid_t);
/* Does /proc hide other users' processes (hidepid), and so most ancestors? */
bool	 holders_hidden(void);

#endif
