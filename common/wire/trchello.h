/* SPDX-License-Identifier: ISC */
/* Data that the spawner sends to a tracer's process once, at its start. */
#ifndef DL_TRCHELLO_H
#define DL_TRCHELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "proto.h"

struct trc_hello {
	bool		user_mode;	/* the daemon is the user's own */
	bool		made;		/* the session is of its own making */
	bool		resumed;	/* it takes the place of one that died: */
	uint32_t	nfiles;		/* so many TRC_FILE follow, 0 or 3 */
	uint32_t	target_pid;	/* as the host sees it; 0 = none runs */
	uint64_t	started_ns;	/* CLOCK_REALTIME, of the run; 0 = none */
	uint64_t	calls_bytes;	/* limits of the timeline; 0 = the */
	uint64_t	output_bytes;	/* default */
	uint64_t	user_bytes;	/* of all of its owner's; 0 = no limit */
	uint64_t	budget;		/* calls a second of a function; 0 = the
					 * default, LIMIT_UNLIMITED = none */
	char		home[256];	/* empty = there is none */
	char		session[72];	/* its label, or its id */
	char		id[40];
	char		timeline[256];	/* its files' name; empty = it has none,
					 * or they are in memory */
	bool		forget;		/* it removes those, and is done */
	/*
	 * The session's program: a file of its bundle (a path in the sandbox)
	 * or a command of the host; empty = an image, or TRC_RUN says.
	 */
	char		program[EXEC_PATH_MAX + 512];
	/*
	 * Its saved arguments: NUL-terminated strings one after the other,
	 * borrowed from the message (get) or the caller (put).
	 */
	const char	*args;
	size_t		args_len;
};

void	trc_hello_put(struct msg_out *, const struct trc_hello *);
/* Marks messages as bad whose numbers are out of range. */
void	trc_hello_get(struct msg *, struct trc_hello *);

#endif
