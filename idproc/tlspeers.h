/* SPDX-License-Identifier: ISC */
/*
 * Who is behind a connection that tlsproc has shaken hands for.  netproc
 * knows such a connection by its end of a socket pair only, so what idproc
 * thinks of the TCP connection is kept by the inode of that end.
 */
#ifndef DL_TLSPEERS_H
#define DL_TLSPEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "who.h"

/*
 * Looks at the TCP connection, which is borrowed; name is that of a verified
 * certificate, or empty.  -1 when there are more than there can be.
 */
int	 tlspeers_add(uint64_t inode, const char *name, int tcp_fd);
void	 tlspeers_remove(uint64_t inode);
/* Of another tlsproc than the present one nothing is known. */
void	 tlspeers_clear(void);
/* An end of a socket pair: it has no name, unlike an accepted connection. */
bool	 tlspeers_is_pair(int sock_fd);
/* NULL = not told yet, or gone.  Good until the next call. */
const struct verdict *tlspeers_find(int sock_fd);

#endif
