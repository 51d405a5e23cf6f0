/* SPDX-License-Identifier: ISC */
/* Tracers: what is theirs alone; instrument.h has the rest. */
#ifndef SPAWNER_TRC_H
#define SPAWNER_TRC_H

#include "instrument.h"

struct symproc;

struct trcproc {
	struct inst	 i;		/* first of all */
	enum trc_phase	 phase;
	uint32_t	 functions;	/* that it traces */
	bool		 held;		/* the run stands at its first instruction */
	unsigned int	 nwanted;	/* times that it asked for files */
	struct loop_timer let_go;	/* that could not be told yet */
	uint64_t	 going;		/* of SEND_SIGNAL, until it is sent; 0 */
	LIST_HEAD(, symproc) symprocs;
	unsigned int	 nsymprocs;
};

extern const struct inst_kind trc_kind;

/* -- the process (tracer.c) -- */
struct trcproc	*trc_of(const struct msg *);
/* The session is about to be freed. */
void	 trc_session_gone(struct session *);
/* Shows what has changed of it, if netproc has the session. */
void	 trc_show(struct session *);
/*
 * True: the session's tracer is in a debugger's way, as there can only be one
 * of the two; the asker is told.
 */
bool	 trc_is_in_way(const struct session *, struct asker *);

/* -- its program (tracer_start.c) -- */
/* Results from start.c: of a start that the tracer ordered, or another. */
void	 trc_ran(struct session *, uint32_t pid, uint32_t inner_pid,
	    bool ordered);
void	 trc_run_failed(struct session *, enum err, const char *why);
/* The session's program has ended, and all that it had started. */
void	 trc_tree_gone(struct session *);
/* The launcher has sent the signal of that number. */
void	 trc_signal_sent(struct session *, uint64_t serial);
/* It has gone, and may not have done so. */
void	 trc_launcher_lost(void);
/* It will not be used any more. */
void	 trc_run_end(struct trcproc *);
/* The parts of a timeline that are in memory, to who goes on with it. */
void	 trc_tell_files(struct trcproc *);

/* -- what a deleted session leaves (tracer_forget.c) -- */
/* Has the files of that name removed, by a process of their owner's. */
void	 trc_forget(struct owner *, const char *name);
/* It has done so: the session that it had goes. */
void	 trc_forgotten(struct session *);
/* It could not, or died: another one, for a while. */
void	 trc_forget_failed(struct session *);

/* -- symbols processes (symbols_start.c) -- */
void	 trc_symbols_end(struct trcproc *);

#endif
