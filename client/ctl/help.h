/* SPDX-License-Identifier: ISC */
/* Help and the lists that the shells complete from. */
#ifndef CLIENT_CTL_HELP_H
#define CLIENT_CTL_HELP_H

#include <stdbool.h>
#include <stdio.h>

struct client;
struct command;

int	ctl_help(struct client *, int, char **);

/* Its usage alone, without an end of line. */
void	help_usage(const struct command *, FILE *);

/* The words that may follow its name, if there are any, with commas. */
bool	help_has_words(const struct command *);
void	help_words(const struct command *, FILE *);

/* Prints a command's usage and options, or all commands (cmd is NULL). */
void	help_print(const struct command *cmd, FILE *);

#endif
