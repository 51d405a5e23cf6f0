/* SPDX-License-Identifier: ISC */
/* Commands that let the program run, stop it, or end it. */
#ifndef DEBUGGER_RUN_EXEC_H
#define DEBUGGER_RUN_EXEC_H

#include <stdbool.h>

#include "debugger/base/command.h"

struct op;

extern const struct command exec_commands[];

/* Now, or as soon as everything about the present stop is known. */
void	 exec_when_settled(struct op *, void (*)(struct op *));
/* At a stop: one of several steps was done, the next one is on its way. */
bool	 exec_goes_on(void);
/* A stop that is none: the program is let go on, nobody hears of it. */
void	 exec_let_go(void);
/*
 * The program runs, as the adapter says, because of op (NULL = none): looks
 * whether it does, and refuses op if not.
 */
void	 exec_watch(struct op *);
/* All about a stop is known, and its waiters were told. */
void	 exec_settled(void);
/* The tree of the adapter is gone. */
void	 exec_tree_gone(void);

#endif
