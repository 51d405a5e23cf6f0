/* SPDX-License-Identifier: ISC */
/*
 * Clients from elsewhere that have not said who they are.  All of them have
 * a quarter of max-connections, and those of one address a quarter of that,
 * so that no host keeps out users, or all other hosts.
 */
#ifndef DL_NET_STRANGER_H
#define DL_NET_STRANGER_H

#include <stdbool.h>

struct conn;

/*
 * address is idproc's, with a port; what one client of IPv6 usually has to
 * itself, 64 bits of network, counts as one.  false: there is no place.
 */
bool	 stranger_enter(struct conn *, const char *address);
/* It ends, or has become somebody's; harmless for all others. */
void	 stranger_leave(struct conn *);

#endif
