/* SPDX-License-Identifier: ISC */
/* TCP connections to a host. */
#ifndef CLIENT_LIB_DIAL_H
#define CLIENT_LIB_DIAL_H

#include <stdbool.h>

struct sockaddr_storage;
struct target;

/*
 * Connects within ms to each of the host's addresses until one answers. A
 * non-blocking socket, the caller's to close; -1 and *code, an exit code,
 * after a report.
 */
int	dial(const struct target *, int ms, int *code);

/* Whether a socket's other end is on this host: loopback, or no network. */
bool	dial_is_local(const struct sockaddr_storage *);

/* Whether two addresses are one, whatever the ports. */
bool	dial_same_host(const struct sockaddr_storage *,
	    const struct sockaddr_storage *);

#endif
