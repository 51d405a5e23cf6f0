/* SPDX-License-Identifier: ISC */
/* Calls to debuggers and tracers of a session as its run begins and ends. */
#ifndef SPAWNER_RUN_HOOKS_H
#define SPAWNER_RUN_HOOKS_H

#include "spawner/session/session.h"

struct run_hooks {
	/* Nothing can be debugged beside it; the asker has been told. */
	bool	(*in_way)(const struct session *, struct asker *);
	/* An order of theirs runs or not, or without one the program runs. */
	void	(*ran)(struct session *, uint32_t pid, uint32_t inner_pid,
		    bool ordered);
	void	(*failed)(struct session *, bool adapter, enum err,
		    const char *why);
	/* START --debug: answers the asker. */
	void	(*debug)(struct session *, struct asker *, bool by_pipe);
	/* There is more output. */
	void	(*output)(struct session *);
	/* Its program is no session's, and the asker may not reach that far. */
	bool	(*too_far)(const struct session *, const struct asker *);
	/* A signal with that number has been sent. */
	void	(*signal_sent)(struct session *, uint64_t serial);
	/* Its first process is about to be killed. */
	void	(*last_stage)(struct session *);
	/* The adapter that runs in the program's place has ended. */
	void	(*adapter_ended)(struct session *, bool by_signal,
		    uint32_t value);
	/* Its tree is gone; then that has been told; then it is answered. */
	void	(*tree_gone)(struct session *);
	void	(*stopped)(struct session *);
	void	(*stop_told)(struct session *);
};

/* Set once, and borrowed for good. */
extern const struct run_hooks *run_hooks;

#endif
