/* SPDX-License-Identifier: ISC */
/*
 * Text that grows up to a bound, and JSON in it.  Bytes from a traced program
 * go through text_json() and cannot end a string, a line or an object.
 */
#ifndef TIMELINE_TEXT_H
#define TIMELINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char	*s;		/* owned; NUL-terminated once something is in it */
	size_t	 len, cap;
	size_t	 max;		/* most bytes; 0 = 64 MiB */
	bool	 cut;		/* something did not fit: nothing more is added */
};

/* Each adds all of it, or nothing and sets cut. */
void	 text_add(struct text *, const void *, size_t);
void	 text_str(struct text *, const char *);
void	 text_printf(struct text *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));
/* A decimal number: the quick way for what stands in every event. */
void	 text_num(struct text *, uint64_t);
/*
 * A JSON string with its quotes: control characters escaped, every byte that
 * is not UTF-8 as U+FFFD.
 */
void	 text_json(struct text *, const char *, size_t);
/* The same bytes for a terminal or a line: \n, \t, \x1b and so on. */
void	 text_plain(struct text *, const char *, size_t);
/* Empties it; the memory stays. */
void	 text_clear(struct text *);
void	 text_free(struct text *);

#endif
