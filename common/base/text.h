/* SPDX-License-Identifier: ISC */
/* Text that grows up to a bound. */
#ifndef DL_TEXT_H
#define DL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_MAX	((size_t)64 << 20)	/* bound of what has no other */

/* Set max, zero the rest. */
struct text {
	char	*p;		/* owned; ends with a NUL once it has anything */
	size_t	 len, cap;
	size_t	 max;		/* most bytes, the NUL not counted */
	bool	 bad;		/* something did not fit: no more is added */
};

/* Each adds all of it, or nothing and sets bad. */
void	 text_put(struct text *, const void *, size_t);
void	 text_puts(struct text *, const char *);
void	 text_printf(struct text *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));
void	 text_u64(struct text *, uint64_t);
/* Bytes for a terminal or a line: \n, \t, \x1b and so on. */
void	 text_plain(struct text *, const void *, size_t);

/*
 * Room for n more bytes, to be counted by adding to len, without a NUL after
 * them; NULL sets bad.
 */
char	*text_room(struct text *, size_t n);
/* Empties; keeps at most keep bytes of memory. */
void	 text_reset(struct text *, size_t keep);
void	 text_free(struct text *);

#endif
