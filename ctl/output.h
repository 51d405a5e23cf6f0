/* SPDX-License-Identifier: ISC */
/* Commands that print what a program wrote. */
#ifndef CTL_OUTPUT_H
#define CTL_OUTPUT_H

struct client;

int	cmd_follow(struct client *, int, char **);
int	cmd_output(struct client *, int, char **);

#endif
