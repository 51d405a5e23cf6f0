/* SPDX-License-Identifier: ISC */
/* The command that finds targets by multicast DNS. */
#ifndef CTL_DISCOVER_H
#define CTL_DISCOVER_H

struct client;

int	cmd_discover(struct client *, int, char **);

#endif
