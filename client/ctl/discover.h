/* SPDX-License-Identifier: ISC */
/* The command that finds targets by multicast DNS. */
#ifndef CLIENT_CTL_DISCOVER_H
#define CLIENT_CTL_DISCOVER_H

struct client;

int	ctl_discover(struct client *, int, char **);

#endif
