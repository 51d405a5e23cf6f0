/* SPDX-License-Identifier: ISC */
/* Debuggers: what is theirs alone; instrument.h has the rest. */
#ifndef SPAWNER_DBG_H
#define SPAWNER_DBG_H

#include "instrument.h"

/* An adapter beside a program that runs. */
struct beside {
	uint64_t	 serial;	/* of ATTACH; 0 = none */
	int		 fds[ATTACH_FD_COUNT];
	struct loop_io	 pid_io;
	struct loop_timer timer;
	bool		 on;
};

struct dbgproc {
	struct inst	 i;		/* first of all */
	uint64_t	 current;	/* the greatest of a user's is it */
	bool		 host;		/* what it starts may be in none: */
	bool		 inside;	/* but nothing of its has been in one */
	uint32_t	 sandbox, network;	/* of what it starts */
	enum dbg_phase	 phase;
	/* -- the adapter -- */
	bool		 on;		/* it is the session's program, */
	bool		 elsewhere;	/* without a sandbox, for what is none */
	bool		 reported;	/* how it ended: */
	uint32_t	 code, signal;
	uint32_t	 sought;	/* pid that the launcher looks for; 0 = none */
	uint64_t	 sought_serial;	/* of FIND */
	uint64_t	 sought_ms;	/* when, the last */
	struct loop_timer seek;
	struct loop_timer leave;	/* its program may go on without it */
	struct beside	 beside;
};

extern const struct inst_kind dbg_kind;

/* -- the process (debugger.c) -- */
/* The session is about to be freed. */
void	 dbg_session_gone(struct session *);
void	 dbg_launcher_lost(void);
/* The debugger that sent the message. */
struct dbgproc	*dbg_of(const struct msg *);
/* Shows what has changed of it, if netproc has the session. */
void	 dbg_show(struct session *);

/* -- its program (debugger_state.c) -- */
/* No launcher answers what it was asked: another one is. */
void	 dbg_seek_lost(struct dbgproc *);
/* There is nothing to be found any more. */
void	 dbg_seek_end(struct dbgproc *);

/* -- requests (debugger_request.c) -- */
/* Makes this debugger the one that its owner means by default. */
void	 dbg_use(struct dbgproc *);
/* Is there a debugger that the owner means by default? */
bool	 dbg_has_current(const struct owner *);
/* The session of the debugger that the owner made or used last; or NULL. */
struct session *dbg_current(const struct owner *);
/* As struct inst_kind has them. */
void	 dbg_asked(struct session *, const struct asker *, bool use);
void	 dbg_absent(struct session *, struct asker *, const char *, size_t);
/* May a debugger start programs for the asker outside of all sandboxes? */
bool	 dbg_is_at_home(const struct asker *);
/*
 * The debugger may start programs outside of the sandbox, or has, and this
 * asker may not: the asker only looks.  A debugger obeys any asker.
 */
bool	 dbg_is_too_far(const struct dbgproc *, const struct asker *);

/* -- the adapter (debugger_start.c) -- */
/* Results of a start that a debugger has ordered, from start.c. */
void	 dbg_ran(struct session *, uint32_t pid, uint32_t inner_pid);
void	 dbg_run_failed(struct session *, enum err, const char *why);
/* The adapter, which is the session's program, has ended. */
void	 dbg_adapter_ended(struct session *, bool by_signal, uint32_t value);
/* And so has all that it had started, before STOPPED is shown. */
void	 dbg_tree_gone(struct session *);
/* Ends the adapter, and what is debugged unless that ran before. */
void	 dbg_kill(struct dbgproc *);
/* An adapter is beside the session's program, or is about to be. */
bool	 dbg_is_beside(const struct session *);
/* The launcher's answers to ATTACH that are no gdbserver's. */
int	 dbg_on_attach_fd(struct msg *, uint32_t kind);
int	 dbg_on_attached(struct msg *, uint32_t pid, uint32_t inner_pid);
int	 dbg_on_attach_failed(struct msg *, uint32_t step, uint32_t errnum);
void	 dbg_run_lost(struct dbgproc *);
/* It will not be used any more. */
void	 dbg_run_end(struct dbgproc *);

#endif
