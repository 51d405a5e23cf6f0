/* SPDX-License-Identifier: ISC */
/*
 * Output that is shown again: sequences that would make a terminal answer, or
 * reach beyond its screen, are left out. The answer would arrive, as if typed,
 * in the program that reads the keyboard then.
 */
#ifndef CLIENT_CTL_ESCAPE_FILTER_H
#define CLIENT_CTL_ESCAPE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a sequence that are kept back. */
#define ESCAPE_FILTER_HELD	2048

struct escape_filter {
	bool		on;
	bool		utf8;		/* so the terminal is */
	unsigned int	state;
	size_t		need;		/* bytes left of a UTF-8 character */
	size_t		n;
	unsigned char	held[ESCAPE_FILTER_HELD];
};

/*
 * Begins with on set.  utf8: what the terminal takes bytes for.  The caller
 * may change it at any time; a sequence that is being looked at is looked at
 * to its end.
 */
void	escape_filter_init(struct escape_filter *, bool utf8);

/* Writes what is left of len bytes to out, which has room for
 * ESCAPE_FILTER_HELD more; how many bytes that is. */
size_t	escape_filter_feed(struct escape_filter *, const unsigned char *in,
	    size_t len, unsigned char *out);

#endif
