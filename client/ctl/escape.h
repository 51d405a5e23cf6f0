/* SPDX-License-Identifier: ISC */
/* The escape character of attached terminals: at the beginning of a line it
 * makes the next key a command to the client. */
#ifndef CLIENT_CTL_ESCAPE_H
#define CLIENT_CTL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#define ESCAPE_NONE	-1

enum escape_event {
	ESCAPE_NOTHING,		/* all bytes have been looked at */
	ESCAPE_DETACH,
	ESCAPE_SUSPEND,
	ESCAPE_HELP,
};

struct escape {
	int	key;		/* ESCAPE_NONE: everything is input */
	bool	at_line;	/* a line begins */
	bool	pending;	/* the key was pressed there */
};

void	escape_init(struct escape *, int key);

/*
 * Looks at *lenp bytes of what is typed. Writes to out (room for *lenp + 1)
 * what is input, *outlenp bytes, and sets *lenp to how many were looked at:
 * all, or those up to the event that is returned.
 */
enum escape_event escape_feed(struct escape *, const unsigned char *in,
	    size_t *lenp, unsigned char *out, size_t *outlenp);

/* "~", "^]" or "none" as a key; -2 when it is neither. */
int	escape_parse(const char *);

#endif
