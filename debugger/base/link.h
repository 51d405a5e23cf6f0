/* SPDX-License-Identifier: ISC */
/*
 * A debugger's messages beyond those of other instruments.  The spawner carries
 * them in the daemon, a rig of pipes in tests.
 */
#ifndef DEBUGGER_BASE_LINK_H
#define DEBUGGER_BASE_LINK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "inst/link.h"
#include "wire/insthello.h"
#include "wire/debugger_audit.h"
#include "wire/ring.h"

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
	struct link_calls calls;
	/* The first call of all; borrows. */
	void	(*hello)(const struct dbg_hello *);
	/* The adapter runs.  Takes the fds: its stdin, stdout, stderr. */
	void	(*ran)(pid_t inner, pid_t target, const char *image,
		    const int adapter_fds[DBG_FD_COUNT]);
	/* The adapter and all of its tree are gone; borrows. */
	void	(*ended)(const struct dbg_end *);
	/* Answers link_drain(): all that was in the pipes then is in the ring. */
	void	(*drained)(uint64_t total);
};

/* -- downwards: the carrier's ------------------------------------------- */
void	 link_run(const struct dbg_run *);
/* Ends the adapter and its tree; ended() follows if one ran. */
void	 link_kill(void);
void	 link_drain(void);
void	 link_state(const struct dbg_state *);
/* The number, as the host counts, of what the adapter calls that; 0 = none. */
pid_t	 link_pid(pid_t inner);
/* Opens the channel to the spawner: takes fd, borrows the handlers. */
void	 link_open(int fd, const struct link_handlers *);

#endif
