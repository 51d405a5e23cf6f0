/* SPDX-License-Identifier: ISC */
/* Data that the spawner sends to a debugger's process once, at its start. */
#ifndef DL_DBGHELLO_H
#define DL_DBGHELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "proto.h"

#define HELLO_ADAPTERS	16

struct dbg_adapter {
	char		name[32];
	char		command[480];	/* words apart by blanks */
};

/* Settings from the configuration, and the session they are for. */
struct dbg_hello {
	bool		user_mode;	/* the daemon is the user's own */
	bool		image;		/* fd 6 of the adapter is the program */
	bool		narrow;		/* and a 32-bit one */
	bool		on_tty;		/* the program has a terminal in any case */
	uint32_t	target_pid;	/* attach: inner pid of the session's program */
	uint32_t	initialize_s;	/* time limits; 0 = the default */
	uint32_t	request_s;
	uint32_t	await_s;
	uint32_t	max_events;	/* of output, 0 = the default */
	uint64_t	max_bytes;
	char		home[256];
	char		session[72];	/* its label, or its id */
	char		id[40];
	/*
	 * The session's program: a file of its bundle (a path in the sandbox)
	 * or a command of the host; empty = the request says.
	 */
	char		program[EXEC_PATH_MAX + 512];
	/*
	 * Its saved arguments: NUL-terminated strings one after the other,
	 * borrowed from the message (get) or the caller (put).
	 */
	const char	*args;
	size_t		args_len;
	size_t		nadapters;
	struct dbg_adapter adapters[HELLO_ADAPTERS];
};

void	dbg_hello_put(struct msg_out *, const struct dbg_hello *);
/* Marks messages as bad whose numbers are out of range. */
void	dbg_hello_get(struct msg *, struct dbg_hello *);

#endif
