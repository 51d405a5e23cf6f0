/* SPDX-License-Identifier: ISC */
/* Command lines of the protocol, built from words that stay what they are. */
#ifndef CLIENT_LIB_QUOTE_H
#define CLIENT_LIB_QUOTE_H

#include <stddef.h>

/*
 * A growing command line; text is NULL at first and freed by the caller.
 * The functions return 0, or -1 after a report when a word cannot be sent.
 */
struct line {
	char	*text;
	size_t	 len;
};

/* A bare word: an id, a number, a path. No white space in it. */
int	line_word(struct line *, const char *word);

/* An argument of any kind, quoted as needed: for people to read. */
void	line_any(struct line *, const char *arg);

/* An argument of any kind but one with a line feed, quoted as needed. */
int	line_quoted(struct line *, const char *arg);

/* "key=number". */
int	line_number(struct line *, const char *key, unsigned int number);

/* "key=value", both without white space in them. */
int	line_value(struct line *, const char *key, const char *value);

/* The rest of the line as it is: a KEY=VALUE. */
int	line_as_it_is(struct line *, const char *text);

/* Ends the line; -1 when it is longer than the protocol allows. */
int	line_end(struct line *);

#endif
