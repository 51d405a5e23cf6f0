/* SPDX-License-Identifier: ISC */
/* Help and the lists that the shells complete from. */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdio.h>

struct client;
struct command;

int	cmd_help(struct client *, int, char **);

/* One command's usage and options, or the list of all (cmd is NULL). */
void	help_print(const struct command *cmd, FILE *);

#endif
