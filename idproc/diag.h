/* SPDX-License-Identifier: ISC */
/*
 * sock_diag: what the kernel knows of the socket at the other end of a
 * connection within this host.
 */
#ifndef DL_DIAG_H
#define DL_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoint.h"

struct diag_socket {
	uint32_t	uid;
	uint32_t	inode;
	uint64_t	cgroup;		/* where it was made; 0 = not told */
};

enum diag_result {
	DIAG_FOUND,
	DIAG_NONE,	/* no such socket: the peer is elsewhere, or gone */
	DIAG_CLOSED,	/* there, but no process has it any more */
	DIAG_FAILED	/* the kernel could not be asked; errno */
};

/* Takes the netlink socket; -1 when it is another kind of socket. */
int	diag_open(int netlink_fd);
bool	diag_is_open(void);
/* Finds the client's socket of a connection that this host accepted. */
enum diag_result diag_find(const struct ends *, struct diag_socket *);
/*
 * Judges one datagram of the kernel.  Returns -1 when it does not answer
 * request number seq, else an enum diag_result.
 */
int	diag_parse(const void *, size_t len, uint32_t seq, const struct ends *,
	    struct diag_socket *);

#endif
