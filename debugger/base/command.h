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

struct command {
	const char	*name;
	bool		 ro;		/* looks only; readers may */
	unsigned int	 when;		/* ON() bits; else refused with words */
	void		(*run)(struct op *);	/* holds the op while it runs */
};

/*
 * Sets the tables of rows, each ended by one without a name, and what says in
 * words how the program ended or was let go, and what can be done about it.
 * look comes before each command, to find out what no event has told.
 * Borrows the tables.
 */
void	 commands_set(const struct command *const *tables, size_t,
	    const char *(*over)(bool looks), void (*look)(void));

/* Refuses unless the program is stopped; says what it does instead. */
bool	 op_stopped(struct op *);

/* Whether the phase is one of these; if not, op was refused with words. */
bool	 command_allowed(struct op *, unsigned int when);
/* A request as it came.  json need not end with NUL. */
void	 commands_run(const struct ask *, const char *json, size_t);

/*
 * The same for a part of ours, with the rights of that client.  Takes args;
 * told hears of the end, once, with data in op->told_data.
 */
void	 commands_give(const struct ask *, const char *name,
	    struct json_object *args, void (*told)(struct op *, bool failed,
	    struct json_object *), void *data);

#endif
