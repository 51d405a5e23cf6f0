/* SPDX-License-Identifier: ISC */
/* The virtual tables, for the connection that asks them. */
#ifndef TIMELINE_VTAB_INT_H
#define TIMELINE_VTAB_INT_H

#include "query_int.h"

/*
 * Adds events, sessions and REGEXP to a connection; the store is borrowed
 * for as long as it lives.  -1: no memory.
 */
int	 vtab_add(sqlite3 *, struct store *);

/* Asked by functions that may take their time; also attends to the rest. */
struct vtab_clock {
	bool	 (*is_late)(void *arg);
	void	*arg;
};

/*
 * Puts others in the place of instr, replace, the trims with two arguments,
 * LIKE and GLOB, which are as SQLite's but for their time; the clock is
 * borrowed for as long as the connection lives.  -1: no memory.
 */
int	 vtab_functions(sqlite3 *, struct vtab_clock *);

#endif
