/* SPDX-License-Identifier: ISC */
/*
 * Between the engine and the carrier of its messages: the channel to the
 * spawner in the daemon, a rig of pipes in tests.  Upcalls come from the event
 * loop, never from within a call downwards.
 */
#ifndef DEBUGGER_BASE_LINK_H
#define DEBUGGER_BASE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/dbghello.h"
#include "wire/debugger_audit.h"
#include "wire/ring.h"

/* A request of a client, as the spawner passed it on. */
struct ask {
	uint32_t	conn;		/* the client's connection */
	uint32_t	id;		/* of the request, on our channel */
	uint32_t	uid;
	bool		rw;		/* else only what looks */
};

#define RUN_TTY		(1U << 0)	/* 3, 4, 5 are a terminal */
#define RUN_BESIDE	(1U << 1)	/* in the session that runs already */
#define RUN_HOST	(1U << 2)	/* no sandbox; user mode only */

/*
 * A program for the session: the adapter.  It gets 0, 1, 2 = pipes to us;
 * 3, 4, 5 = the debugged program's stdin, stdout and stderr.
 */
struct dbg_run {
	/* argv[0] is a path, or looked for in the PATH of the sandbox */
	char *const	*argv;
	char *const	*envp;		/* NAME=VALUE, on top of the session's */
	const char	*cwd;		/* NULL or empty = the session's */
	const char	*adapter;	/* its name, as lists show it */
	/* the program and its arguments, likewise; NULL = as before */
	char *const	*shown;
	uint32_t	 flags;
};

struct dbg_state {
	uint32_t	phase;		/* enum phase */
	int32_t		pid;		/* the program's, as the adapter said; 0 */
	bool		ended;		/* code or signal are known */
	int32_t		code;
	int32_t		signal;
};

/* How the adapter ended, and all of its tree. */
struct dbg_end {
	bool		 known;		/* the adapter's code and signal */
	bool		 program;	/* those of what ran beside it */
	int		 code, signal;	/* signal 0 = none */
};

/* -- upwards --------------------------------------------------------------- */
struct link_handlers {
	/* The first call of all; borrows. */
	void	(*hello)(const struct dbg_hello *);
	/* json: an object with "command" and "args"; borrowed, no NUL needed. */
	void	(*ask)(const struct ask *, const char *json, size_t);
	void	(*conn_gone)(uint32_t conn);
	/* The adapter runs.  Takes the fds: its stdin, stdout, stderr. */
	void	(*ran)(pid_t inner, pid_t target, const char *image,
		    const int adapter_fds[DBG_FD_COUNT]);
	/*
	 * It could not be started: an error code for clients
	 * ("adapter_missing"), and a sentence that says why.
	 */
	void	(*run_failed)(const char *code, const char *why);
	/* The adapter and all of its tree are gone; borrows. */
	void	(*ended)(const struct dbg_end *);
	/* The ring of a new run; takes fd (a sealed memfd). */
	void	(*ring)(int fd);
	/* Answers link_drain(): all that was in the pipes then is in the ring. */
	void	(*drained)(uint64_t total);
	/* Answers link_arm(): so much has been written. */
	void	(*output_notice)(uint64_t total);
};

/* -- downwards: the carrier's ------------------------------------------- */
/* The one answer to a request: an object, "result" or "error" by failed. */
void	 link_reply(const struct ask *, bool failed, const char *json, size_t);
/* Reports an action of the client for the audit log: before its answer. */
void	 link_does(const struct ask *, enum dbg_action);
void	 link_run(const struct dbg_run *);
/* Ends the adapter and its tree; ended() follows if one ran. */
void	 link_kill(void);
void	 link_drain(void);
/* output_notice() follows, once, as soon as the ring has more than that. */
void	 link_arm(uint64_t offset);
void	 link_state(const struct dbg_state *);
/* The number, as the host counts, of what the adapter calls that; 0 = none. */
pid_t	 link_pid(pid_t inner);
/* The answer that is sent next is given when the session has gone. */
void	 link_reply_last(void);
/* The debugger is done; its session may go. */
void	 link_bye(void);

#endif
