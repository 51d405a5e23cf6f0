/* SPDX-License-Identifier: ISC */
/* Text from elsewhere, made harmless for a terminal. */
#ifndef CLIENT_LIB_SAFE_H
#define CLIENT_LIB_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A copy of s in which control characters (C0, DEL, C1), characters that
 * turn the direction of the line, and bytes that are not UTF-8 are spelled
 * out (\n, \x1b, \u202e). The caller frees it. Ends the program when memory
 * is short.
 */
char	*safe_string(const char *s);

/* Columns that a result of safe_string() takes on a terminal. */
size_t	 safe_width(const char *s);

/*
 * A filter for a program's output on a terminal, byte stream in, byte stream
 * out. Line ends, tabs, backspaces and colours pass, everything else that
 * steers a terminal is spelled out. It keeps what is cut at the end of a
 * piece for the next one.
 */
struct safe_filter {
	unsigned char	pending[32];
	size_t		npending;
	bool		coloured;	/* a colour is on */
};

/* Appends the filtered form of buf to out, a memory stream or a file. */
void	 safe_filter_put(struct safe_filter *, const void *buf, size_t len,
	    FILE *out);

/* Spells out what is still pending and switches colours off. */
void	 safe_filter_end(struct safe_filter *, FILE *out);

#endif
