/* SPDX-License-Identifier: ISC */
/* Commands that print what a program wrote. */
#ifndef CLIENT_CTL_OUTPUT_H
#define CLIENT_CTL_OUTPUT_H

struct client;

int	ctl_follow(struct client *, int, char **);
int	ctl_output(struct client *, int, char **);

#endif
