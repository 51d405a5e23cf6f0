/* SPDX-License-Identifier: ISC */
/* The user's terminal at a session. */
#ifndef CLIENT_CTL_ATTACH_H
#define CLIENT_CTL_ATTACH_H

#include <stdbool.h>

struct client;

int	ctl_attach(struct client *, int, char **);

/* CTL_OK unless --escape makes no sense; an exit code after a report. */
int	attach_check(const struct client *);

struct attach_how {
	const char	*from;		/* offset to begin at; NULL: history */
	bool		 read_only;
	bool		 own;		/* the session was made for this: the
					 * end of our input is its end */
};

/*
 * Attaches until the program has ended, the user detaches or the connection
 * is gone. An exit code: that of the program if it has ended. *overp: it has,
 * or what it writes has nowhere to go.
 */
int	attach_session(struct client *, const char *id,
	    const struct attach_how *, bool *overp);

#endif
