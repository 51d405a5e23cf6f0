/* SPDX-License-Identifier: ISC */
/*
 * Users behind connections whose TLS handshake tlsproc has done.  netproc knows
 * such a connection only by its end of a socket pair, so idproc keeps its
 * verdict on the TCP connection under the inode of that end.
 */
#ifndef DL_TLSPEERS_H
#define DL_TLSPEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "peer.h"

/*
 * Looks at the TCP connection, which is borrowed; name is that of a verified
 * certificate, or empty.  -1 when there are more than there can be.
 */
int	 tlspeers_add(uint64_t inode, const char *name, int tcp_fd);
void	 tlspeers_remove(uint64_t inode);
/* Forgets all connections: those of an earlier tlsproc mean nothing now. */
void	 tlspeers_clear(void);
/* An end of a socket pair: it has no name, unlike an accepted connection. */
bool	 tlspeers_is_pair(int sock_fd);
/* NULL = not told yet, or gone.  Good until the next call. */
const struct verdict *tlspeers_find(int sock_fd);

#endif
