/* SPDX-License-Identifier: ISC */
/* The patterns that are active, one row each, and what they have chosen. */
#ifndef TRACER_ROWS_H
#define TRACER_ROWS_H

#include <sys/queue.h>

#include "probing.h"
#include "tracer/syms/match.h"

#define ROW_NAMES	100	/* of functions that are inlined, kept */

struct row_counts {
	uint32_t	 matched;	/* functions with code */
	uint32_t	 untyped;	/* only the symbol table knows, not taken */
	uint32_t	 inlined;
};

struct row {
	TAILQ_ENTRY(row) entry;
	char		*text;		/* owned */
	struct pattern	*pattern;	/* owned; NULL = an address */
	bool		 raw;
	bool		 is_new;	/* what has made it may be refused yet */
	bool		 has_budget;
	uint32_t	 budget;
	/* of the process that is being looked at; most of any, since the last
	 * change of the patterns */
	struct row_counts now, most;
	const char	*inlined[ROW_NAMES];	/* of indexes, which stay */
};

TAILQ_HEAD(rows, row);
extern struct rows rows;

struct row *row_find(const char *text);
void	 row_remove(struct row *);
/* Counts anew from here on. */
void	 rows_reset(void);
/* Before and after the functions of one process have been looked at. */
void	 rows_count(void);
void	 rows_counted(void);
/* Whether any row takes functions without debug information. */
bool	 rows_any_raw(void);

#endif
