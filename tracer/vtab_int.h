/* SPDX-License-Identifier: ISC */
/* The virtual tables, for the connection that asks them. */
#ifndef TRACER_VTAB_INT_H
#define TRACER_VTAB_INT_H

#include "query_int.h"

/*
 * Adds events, sessions and REGEXP to a connection; the store is borrowed
 * for as long as it lives.  -1: no memory.
 */
int	 vtab_add(sqlite3 *, struct store *);

#endif
