/* SPDX-License-Identifier: ISC */
/* Connections: from the handshake to the last byte either way. */
#ifndef DL_TLS_CONN_H
#define DL_TLS_CONN_H

#include <sys/socket.h>

#include <stdint.h>

/*
 * Takes fd.  Where there are too many the oldest handshake gives way, and
 * where none is under way the newcomer.
 */
void	 tls_conn_new(int fd, uint32_t listener, const struct sockaddr_storage *);
/* Tells idproc of every connection that netproc has. */
void	 conn_introduce_all(void);
/* Gives netproc those that waited for somebody to be there again. */
void	 conn_hand_over_all(void);

#endif
