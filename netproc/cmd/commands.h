/* SPDX-License-Identifier: ISC */
/* The control protocol: its lines run commands. */
#ifndef DL_NET_COMMANDS_H
#define DL_NET_COMMANDS_H

#include "command.h"

/* Connections read commands by the table, which gets most of its rows. */
void	 command_init(void);
/*
 * Runs a row for words that were made of something else than a line; run in
 * place of the row's own function, unless it is NULL.
 */
void	 command_row(struct conn *, const struct command *,
	    void (*run)(struct conn *, struct rsession *,
	    const struct words *), const struct words *);

#endif
