/* SPDX-License-Identifier: ISC */
/* Identifies the peer of an accepted connection. */
#ifndef DL_WHO_H
#define DL_WHO_H

#include "principal.h"

#define WHO_REASON_MAX	240

struct verdict {
	uint32_t	 what;		/* PEER_* */
	enum door	 door;
	struct principal principal;	/* of strangers the socket's uid, or -1 */
	char		 address[ADDRESS_TEXT];
	char		 why[WHO_REASON_MAX];	/* a line for the log */
};

/* Borrows the socket, which is not trusted. */
void	who_is(int sock_fd, struct verdict *);
/* Fills in that nobody is there who could be served. */
void	who_refuse(struct verdict *, const char *why);

#endif
