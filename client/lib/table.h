/* SPDX-License-Identifier: ISC */
/* Aligned tables for people. */
#ifndef CLIENT_LIB_TABLE_H
#define CLIENT_LIB_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "term.h"

struct table_column {
	const char	*title;
	int		 right;		/* align right: numbers */
	int		 optional;	/* left out when every cell is empty */
	int		 keep;		/* is not shortened */
};

struct table;

/* columns is borrowed for the life of the table; table_free() frees it. */
struct table *table_new(const struct table_column *columns, size_t n);
void	table_free(struct table *);

/* Fills the next cell, row by row. The text is copied and made safe. */
void	table_cell(struct table *, const char *text, enum colour);

/*
 * Prints at most max_rows rows (0: all) in width columns (0: as wide as it
 * gets); cells that do not fit are shortened, the widest first.
 */
void	table_print(const struct table *, FILE *, size_t width,
	    size_t max_rows, int colours);

/* The same with lines around everything, in ASCII unless utf8. */
void	table_box(const struct table *, FILE *, size_t width, int utf8,
	    int colours);

#endif
