/* SPDX-License-Identifier: ISC */
/* Help and the lists that the shells complete from. */
#ifndef CLIENT_DEBUGGER_HELP_H
#define CLIENT_DEBUGGER_HELP_H

#include <stdio.h>

struct dbg;
struct dbg_command;

/* Command handler: an exit code, after a report unless it is CTL_OK. */
int	dbg_help(struct dbg *, int argc, char **argv);

/* Prints one command's usage and options, or the list of all (NULL). */
void	dbg_help_print(const struct dbg_command *, FILE *);

/* Reports that there is no such command, and what there is. An exit code. */
int	dbg_help_unknown(int argc, char **argv);

#endif
