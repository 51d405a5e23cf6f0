/* SPDX-License-Identifier: ISC */
/*
 * The processes that are traced: the session's program, and the processes that
 * it has forked if they are followed.  Events of these processes come in here,
 * records of their probes by way of timeline.c.
 */
#ifndef TRACER_PROCESS_H
#define TRACER_PROCESS_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/binary/binary.h"
#include "tracer/engine/target.h"

struct text;

/* A file of which code is mapped. */
struct module {
	struct binary	*binary;
	uint64_t	 base, end;	/* where its first byte is mapped, and
					 * behind its last */
	bool		 exe;
};

enum hook_state {
	HOOK_NONE,
	HOOK_ON,
	HOOK_FAILED	/* not traceable: why says so */
};

/* A function in a process. */
struct hook {
	enum hook_state	 state;
	bool		 entry_only;	/* why says so */
	uint32_t	 budget;
	char		*why;		/* owned, or NULL */
};

struct process {
	TAILQ_ENTRY(process) entry;
	struct target	*target;
	pid_t		 pid;
	struct module	*modules;	/* the program's own comes first */
	size_t		 nmodules;
	struct hook	*hooks;		/* by function's number; owned */
	uint32_t	 nhooks;
	uint32_t	 non, nfailed;	/* of these, by hook_set() */
	bool		 stale;		/* its modules have to be looked at */
	bool		 unsettled;	/* its probes have to be */
	bool		 watched;	/* what it loads is told */
	bool		 held;		/* a thread of it waits for them */
	uint64_t	 held_since;	/* ms */
	bool		 main;		/* the session's */
	bool		 arrived;	/* at its own code */
	bool		 over;		/* it has ended */
	bool		 is_child;	/* followed */
	bool		 follows;	/* its children are traced as well */
	bool		 unwanted;	/* it is let go of, soon */
	int		 status;	/* as waitpid's */
};

TAILQ_HEAD(processes, process);
extern struct processes processes;

/* Attaches.  NULL with words in why. */
struct process *process_open(pid_t, const struct target_options *,
	    char why[TARGET_WHY]);
/* Lets go of all, which is what was called with why they are closed. */
void	 process_close(struct process *);
/* The session's own; NULL = it is not traced. */
struct process *process_main(void);
/*
 * Reads its modules as they are now; modules that have gone take their hooks
 * along.  A process without memory any more keeps the modules that it had.
 */
void	 process_look(struct process *);
/* Room for a function's hook.  NULL: no memory. */
struct hook *process_hook(struct process *, uint32_t fn);
void	 hook_set(struct process *, struct hook *, enum hook_state);
void	 hook_forget(struct process *, struct hook *);
/* Where an unrelocated address of a module is. */
uint64_t module_bias(const struct module *);

/* For feed_set_place(). */
void	 process_place(const struct target_event *, struct text *, void *);
/* Calls of a function that budgets have passed over, of all processes. */
uint64_t process_skipped(uint32_t fn);

/* -- told by the engine; what is done about it is the session's ----------- */
/*
 * Sets what is called when a process is where its own code begins or has loaded
 * libraries, so that it is looked at again, and when its probes have changed.
 */
void	 process_on_change(void (*changed)(struct process *),
	    void (*probes)(void));
/* It has ended, or is no more the session's; about to be freed. */
void	 process_gone(struct process *);

#endif
