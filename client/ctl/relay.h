/* SPDX-License-Identifier: ISC */
/* Bytes both ways between a connection and two descriptors. */
#ifndef CLIENT_CTL_RELAY_H
#define CLIENT_CTL_RELAY_H

#include <stdbool.h>

struct conn;

/*
 * Copies until the daemon closes. The end of in_fd is passed on as the end of
 * what we send; half: and the end of what it sends as that of out_fd, which
 * is closed then, while the other way goes on. All are borrowed. what: whom
 * the connection is to, for messages. An exit code.
 */
int	relay(struct conn *, int in_fd, int out_fd, bool half,
	    const char *what);

#endif
