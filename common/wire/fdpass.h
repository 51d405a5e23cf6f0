/* SPDX-License-Identifier: ISC */
/* Records over Unix sockets, with file descriptors. */
#ifndef DL_FDPASS_H
#define DL_FDPASS_H

#include <sys/types.h>
#include <sys/uio.h>

#include <stddef.h>

#define FDPASS_MAX	16

/* Borrows n fds, FDPASS_MAX at most.  As sendmsg(2); no SIGPIPE. */
ssize_t	fdpass_send(int sock_fd, struct iovec *, size_t niov, const int *fds,
	    size_t n, int flags);
/*
 * As recvmsg(2).  Gives *n fds, FDPASS_MAX at most, close-on-exec, the caller's
 * from now on; and the sender's pid, 0 without SO_PASSCRED, if sender is not NULL.
 * -1 and EMFILE for a record of which a part or an fd had no room; none is given.
 */
ssize_t	fdpass_recv(int sock_fd, struct iovec *, size_t niov,
	    int fds[FDPASS_MAX], size_t *n, pid_t *sender, int flags);

#endif
