/* SPDX-License-Identifier: ISC */
/*
 * SQL over a timeline: the tables events and sessions with the columns of the
 * seed's schema, to be read and nothing else.  Statements run in a connection
 * of their own that has no file; what it may do is decided by an authorizer,
 * how long and how large by limits.
 */
#ifndef TIMELINE_VTAB_H
#define TIMELINE_VTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "timeline/store/store.h"

#define SQL_LONGEST	65536		/* bytes of a statement */
#define SQL_ROWS	1000		/* of an answer, unless asked */
#define SQL_ROWS_MAX	10000
#define SQL_BYTES_MAX	((size_t)4 << 20)
#define SQL_MS		5000
#define SQL_MEMORY	((int64_t)64 << 20)	/* to sort and group in */

struct sql_limits {
	uint32_t rows;		/* 0 = SQL_ROWS */
	uint32_t ms;		/* 0 = SQL_MS */
};

/*
 * Runs one SELECT.  Adds {"columns":[..],"rows":[[..]..],"truncated":b};
 * truncated: there were more rows, or bytes, than fit.  -1 with words.
 */
int	 store_sql(struct store *, const char *sql, size_t len,
	    const struct sql_limits *, struct text *, char why[STORE_WHY]);

#endif
