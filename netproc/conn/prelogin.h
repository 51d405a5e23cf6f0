/* SPDX-License-Identifier: ISC */
/*
 * Clients that have not said who they are: from elsewhere, or by the web.  All
 * of them have a quarter of max-connections, and those of one address, or of
 * one user of this host, a quarter of that, so that none keeps out the others.
 */
#ifndef DL_NET_PRELOGIN_H
#define DL_NET_PRELOGIN_H

#include <stdbool.h>
#include <stdint.h>

struct conn;

/*
 * uid is whose socket it is, UID_UNKNOWN when it is of another host.
 * address is idproc's, with a port; what one client of IPv6 usually has to
 * itself, 64 bits of network, counts as one.  false: there is no place.
 */
bool	 prelogin_enter(struct conn *, uint32_t uid, const char *address);
/* It ends, or has become somebody's; harmless for all others. */
void	 prelogin_leave(struct conn *);

#endif
