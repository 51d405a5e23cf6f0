/* SPDX-License-Identifier: ISC */
/* The command that shows all sessions again and again. */
#ifndef CTL_TOP_H
#define CTL_TOP_H

struct client;

int	cmd_top(struct client *, int, char **);

#endif
