/* SPDX-License-Identifier: ISC */
/* Commands of clients: who may give them, when, and what does them. */
#ifndef DEBUGGER_BASE_COMMAND_H
#define DEBUGGER_BASE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "debuggee.h"
#include "op.h"

#define ON(phase)	(1U << (phase))
#define ON_ANY		(ON(PHASE_COUNT) - 1)
#define ON_LIVE		(ON(PHASE_RUNNING) | ON(PHASE_STOPPED))
#define ON_STOPPED	ON(PHASE_STOPPED)

/*
 * Sets the tables of rows, whose own are ON() bits: in other phases a request
 * is refused with words.  over says how the program ended or was let go, and
 * what can be done about it; look comes before each command, to find out what
 * no event has told.  Borrows the tables.
 */
void	 debugger_commands(const struct command *const *tables, size_t,
	    const char *(*over)(bool looks), void (*look)(void));

/* Refuses unless the program is stopped; says what it does instead. */
bool	 op_stopped(struct op *);

/* Whether the phase is one of these; if not, op was refused with words. */
bool	 command_allowed(struct op *, unsigned int when);

#endif
