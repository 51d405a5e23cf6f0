/* SPDX-License-Identifier: ISC */
/*
 * Handing over: idproc is told who shook hands, then netproc gets the end of
 * a socket pair in place of the connection.
 */
#ifndef DL_TLS_HANDOVER_H
#define DL_TLS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/roles.h"

void	 handover_init(void);
/* A new channel to idproc or netproc; takes fd. */
void	 handover_peer(enum role, int fd, uint32_t generation);
/* Both are there: without one of them nobody could be served. */
bool	 handover_possible(void);
/*
 * Tells idproc whose connection the pair with that inode is; name is that of
 * a verified certificate, or empty.  Borrows tcp_fd.  -1 without an fd.
 */
int	 handover_tell_peer(uint64_t inode, const char *name, int tcp_fd);
/* Gives plain_fd, which is taken, to netproc. */
void	 handover_conn(uint32_t listener, int plain_fd);
/* That inode may belong to another from now on. */
void	 handover_gone(uint64_t inode);

#endif
