/* SPDX-License-Identifier: ISC */
/*
 * Debuggers: a process for each session that has one, its owner's.  It is as
 * little to be trusted as the program: what it says counts for its session,
 * answers go to who asked, and whatever else it does costs only itself.
 */
#ifndef SPAWNER_DBG_H
#define SPAWNER_DBG_H

#include <sys/queue.h>

#include "client.h"
#include "dbgdeed.h"
#include "proto.h"
#include "session.h"

#define DBG_ADAPTER_NAME	32

/* A request that is not answered yet. */
struct dbg_asked {
	TAILQ_ENTRY(dbg_asked) next;
	struct asker	 asker;		/* owner NULL = he has gone */
	char		 user[USER_NAME_MAX];	/* who asked */
	enum dbg_deed	 deed;		/* what it does, for the audit log */
	uint32_t	 id;		/* of the channel to the debugger */
	size_t		 bytes;		/* of its answer so far */
	char		*json;		/* malloc'ed, until it can be sent */
	size_t		 json_len;
};
TAILQ_HEAD(dbg_asked_list, dbg_asked);

/* What one user does often. */
struct dbg_spell {
	enum dbg_deed	 deed;		/* DBG_DEED_NONE = free */
	enum door	 door;
	unsigned int	 count, refused;	/* after the first */
	uint64_t	 since;		/* ms */
	char		 user[USER_NAME_MAX];
	char		 address[ADDRESS_TEXT];
};
#define DBG_SPELLS	8

/* The answer that it leaves with: sent when it has gone. */
struct dbg_last {
	struct asker	 asker;
	uint32_t	 flags;		/* DBG_* of DBG_ANSWER */
	char		*json;		/* malloc'ed; NULL = there is none */
	size_t		 len;
};

enum dbg_life {
	DBG_ORDERED,		/* the launcher has been asked */
	DBG_UP,
	DBG_GOING		/* is freed when the loop comes round */
};

/* An adapter beside a program that runs. */
struct beside {
	uint64_t	 serial;	/* of ATTACH; 0 = none */
	int		 fds[ATTACH_FD_COUNT];
	struct loop_io	 pid_io;
	struct loop_timer timer;
	bool		 on;
};

struct dbgproc {
	LIST_ENTRY(dbgproc) next;
	struct session	*session;	/* NULL = it has gone */
	struct sid	 id;		/* of that, and of whom: */
	uint32_t	 uid;
	enum dbg_life	 life;
	uint64_t	 serial;	/* of INSTRUMENT */
	int		 fds[INSTRUMENT_FD_COUNT];
	struct channel	 chan;
	struct loop_io	 pid_io;
	struct loop_timer timer;	/* of the start, then of its idleness */
	struct loop_timer drop;
	bool		 ended;		/* and its cgroup with it */
	struct loop_timer pace;
	bool		 late;		/* netproc does not keep up with it */
	struct dbg_asked_list asked;
	unsigned int	 nasked;
	bool		 leaving;	/* it has said so */
	struct dbg_last	 last;
	struct dbg_spell spells[DBG_SPELLS];
	struct loop_timer spell_timer;
	uint32_t	 last_id;
	uint64_t	 used;		/* ms, of the last request or answer */
	uint64_t	 current;	/* the greatest of a user's is it */
	bool		 made;		/* and the session for it */
	bool		 began;		/* a request of it has succeeded */
	bool		 host;		/* what it starts may be in none: */
	bool		 inside;	/* but nothing of its has been in one */
	uint32_t	 sandbox, network;	/* of what it starts */
	enum dbg_phase	 phase;
	bool		 unshown;	/* of what it said, for now */
	struct loop_timer show;
	unsigned int	 nlogged;
	bool		 armed;		/* it waits for output: */
	uint64_t	 armed_at;
	/* -- the adapter -- */
	bool		 ordered;	/* a run of it is being started */
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

LIST_HEAD(dbgproc_list, dbgproc);
extern struct dbgproc_list dbgprocs;

/* -- the process (dbg.c) -- */
/*
 * Starts one for the session, whose owner's account is known.  NULL: there is
 * no memory, or no launcher.
 */
struct dbgproc	*dbg_begin(struct session *, const struct account *);
/* It ends now, and is freed soon; whoever waits for it is told why. */
void	 dbg_end(struct dbgproc *, enum err, const char *why);
/* The session is about to be freed. */
void	 dbg_session_gone(struct session *);
void	 dbg_launcher_lost(void);
/* Whose channel it is. */
struct dbgproc	*dbg_of(const struct msg *);
/* It goes, and a session of its making, when the handler has returned. */
void	 dbg_leave(struct dbgproc *);
/* Shows what has changed of it, if netproc has the session. */
void	 dbg_show(struct session *);
/* What it said of itself a moment ago is shown before what it says now. */
void	 dbg_show_late(struct dbgproc *);
/* The same, soon: at a rate that netproc can take. */
void	 dbg_show_soon(struct dbgproc *);
/* Hears it, unless there is a reason to wait. */
void	 dbg_listen(struct dbgproc *);
/* It does not read: whatever makes it be told more breaks the rules. */
bool	 dbg_is_deaf(const struct dbgproc *);

/* -- its program (dbgstate.c) -- */
/* No launcher answers what it was asked: another one is. */
void	 dbg_seek_lost(struct dbgproc *);
/* There is nothing to be found any more. */
void	 dbg_seek_end(struct dbgproc *);

/* -- requests (dbgask.c) -- */
void	 dbg_ask(struct dbgproc *, struct asker *, const char *, size_t);
/* The process can be asked: what has waited for that is sent. */
void	 dbg_asks_begin(struct dbgproc *);
void	 dbg_asks_fail(struct dbgproc *, enum err, const char *why);
/* Sends the answer that it left with, if there is one; frees it. */
void	 dbg_last_send(struct dbg_last *, const struct sid *);
/* conn 0 = all */
void	 dbg_drop_conn(uint32_t conn);
/* From now on its owner means this one by none in particular. */
void	 dbg_use(struct dbgproc *);
/*
 * It may leave the sandbox, or has, and this one may not: he only looks.  A
 * debugger does what it is asked to, by whomever.
 */
bool	 dbg_is_too_far(const struct dbgproc *, const struct asker *);
/* A start whose account was asked for may be forgotten. */
void	 dbg_drop_starts(uint32_t conn);

/* -- the adapter (dbgrun.c) -- */
/* What start.c has to say of a start that a debugger has ordered. */
void	 dbg_ran(struct session *, uint32_t pid, uint32_t inner_pid);
void	 dbg_run_failed(struct session *, enum err, const char *why);
/* The adapter, which is the session's program, has ended. */
void	 dbg_adapter_ended(struct session *, bool by_signal, uint32_t value);
/* And so has all that it had started, before STOPPED is shown. */
void	 dbg_tree_gone(struct session *);
/* There may be output that it waits for. */
void	 dbg_output(struct session *);
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
