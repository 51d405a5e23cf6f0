/* SPDX-License-Identifier: ISC */
/* Identifies the peer of an accepted connection. */
#ifndef DL_ID_PEER_H
#define DL_ID_PEER_H

#include "principal.h"

#define PEER_REASON_MAX	240

struct verdict {
	uint32_t	 what;		/* PEER_* */
	enum door	 door;
	struct principal principal;	/* before AUTH its socket's, or -1 */
	char		 address[ADDRESS_TEXT];
	char		 why[PEER_REASON_MAX];	/* a line for the log */
};

/* Borrows the socket, which is not trusted. */
void	peer_identify(int sock_fd, struct verdict *);
/* Fills in that nobody is there who could be served. */
void	peer_refuse(struct verdict *, const char *why);

#endif
