/* SPDX-License-Identifier: ISC */
/* The command that shows all sessions again and again. */
#ifndef CLIENT_CTL_TOP_H
#define CLIENT_CTL_TOP_H

struct client;

int	ctl_top(struct client *, int, char **);

#endif
