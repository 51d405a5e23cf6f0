/* SPDX-License-Identifier: ISC */
/* Writes a program's output to standard output. */
#ifndef CLIENT_LIB_PRINTER_H
#define CLIENT_LIB_PRINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "safe.h"

struct client;

/* With the client's json_errors what is printed is the daemon's JSON. */
struct printer {
	struct client		*client;
	const char		*id;
	struct safe_filter	 filter;
	bool			 filtered;
	bool			 holds;		/* the program waits */
	bool			 started;	/* a byte has been seen */
	uint64_t		 next;		/* offset of the next byte */
	size_t			 most;		/* bytes to show of what is held;
						 * 0: all */
	int			 schema;	/* member of its JSON; 0: none */
};

/*
 * Prints all that the daemon holds from next on, in as many answers as that
 * takes; if lines > 0, only the last so many lines. Reports output that is no
 * longer there or is passed over. Returns an exit code.
 */
int	printer_held(struct printer *, long long lines);

/* How many bytes the program has written. An exit code. */
int	printer_total(struct printer *, uint64_t *);

/* Prints what comes from next on, until the session's end. An exit code. */
int	printer_follow(struct printer *);

/* Leaves the terminal as it was. */
void	printer_end(struct printer *);

#endif
