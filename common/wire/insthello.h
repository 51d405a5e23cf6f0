/* SPDX-License-Identifier: ISC */
/* Data that the spawner sends to an instrument once, at its start. */
#ifndef DL_INSTHELLO_H
#define DL_INSTHELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "proto.h"

/* The session, whichever instrument it has. */
struct inst_hello {
	bool		user_mode;	/* the daemon is the user's own */
	/*
	 * The program that runs, as the host sees it (a tracer) or as the
	 * session does (a debugger, to attach to); 0 = none.
	 */
	uint32_t	target_pid;
	char		home[256];	/* empty = there is none */
	char		session[72];	/* its label, or its id */
	char		id[40];
	/*
	 * The session's program: a file of its bundle (a path in the sandbox)
	 * or a command of the host; empty = an image, or the order says.
	 */
	char		program[EXEC_PATH_MAX + 512];
	/*
	 * Its saved arguments: NUL-terminated strings one after the other,
	 * borrowed from the message (get) or the caller (put).
	 */
	const char	*args;
	size_t		args_len;
};

#define HELLO_ADAPTERS	16

struct dbg_adapter {
	char		name[32];
	char		command[480];	/* words apart by blanks */
};

struct dbg_hello {
	struct inst_hello inst;
	bool		image;		/* fd 6 of the adapter is the program */
	bool		narrow;		/* and a 32-bit one */
	bool		on_tty;		/* the program has a terminal in any case */
	uint32_t	initialize_s;	/* time limits; 0 = the default */
	uint32_t	request_s;
	uint32_t	await_s;
	uint32_t	max_events;	/* of output, 0 = the default */
	uint64_t	max_bytes;
	size_t		nadapters;
	struct dbg_adapter adapters[HELLO_ADAPTERS];
};

struct trc_hello {
	struct inst_hello inst;
	bool		made;		/* the session is of its own making */
	bool		resumed;	/* it takes the place of one that died: */
	uint32_t	nfiles;		/* so many TRC_FILE follow, 0 or 3 */
	uint64_t	started_ns;	/* CLOCK_REALTIME, of the run; 0 = none */
	uint64_t	calls_bytes;	/* limits of the timeline; 0 = the */
	uint64_t	output_bytes;	/* default */
	uint64_t	user_bytes;	/* of all of its owner's; 0 = no limit */
	uint64_t	budget;		/* calls a second of a function; 0 = the
					 * default, LIMIT_UNLIMITED = none */
	char		timeline[256];	/* its files' name; empty = it has none,
					 * or they are in memory */
	bool		forget;		/* it removes those, and is done */
};

void	dbg_hello_put(struct msg_out *, const struct dbg_hello *);
void	trc_hello_put(struct msg_out *, const struct trc_hello *);
/* Mark messages as bad whose numbers are out of range. */
void	dbg_hello_get(struct msg *, struct dbg_hello *);
void	trc_hello_get(struct msg *, struct trc_hello *);

#endif
