/* SPDX-License-Identifier: ISC */
/* The command that runs a program over there as if it were here. */
#ifndef CLIENT_CTL_RUN_H
#define CLIENT_CTL_RUN_H

struct client;

int	ctl_run(struct client *, int, char **);

#endif
