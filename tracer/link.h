/* SPDX-License-Identifier: ISC */
/*
 * Between the tracer's parts and the channel to the spawner.  Upcalls come
 * from the event loop, never from within a call downwards.
 */
#ifndef TRACER_LINK_H
#define TRACER_LINK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tracer_audit.h"
#include "wire/trchello.h"

/* A request of a client, as the spawner passed it on. */
struct ask {
	uint32_t	conn;		/* the client's connection */
	uint32_t	id;		/* of the request, on our channel */
	uint32_t	uid;
	bool		rw;		/* else only what looks */
};

/* The session's program. */
struct trc_run {
	char *const	*argv;		/* argv[0] is a path; NULL = what the
					 * session runs */
	char *const	*envp;		/* NAME=VALUE, on top of the session's */
	const char	*cwd;		/* NULL or empty = the session's */
};

#define LINK_VEC_MAX	(40 * 1024)	/* bytes of argv, and of envp */

/* -- upwards ------------------------------------------------------------- */
struct link_handlers {
	/* The first call of all; borrows. */
	void	(*hello)(const struct trc_hello *);
	/* A part of a timeline, which a successor will get as well; takes fd. */
	void	(*file)(enum trc_file, int fd);
	/*
	 * Answers link_want_used(): bytes of all timelines in memory of this
	 * owner, the calls of this one excepted.
	 */
	void	(*used)(uint64_t bytes);
	/* json: an object with "command" and "args"; borrowed, no NUL needed. */
	void	(*ask)(const struct ask *, const char *json, size_t);
	void	(*conn_gone)(uint32_t conn);
	/* The output of the session's run; takes fd (a sealed memfd). */
	void	(*ring)(int fd);
	/* Answers link_arm(): so much has been written. */
	void	(*output_notice)(uint64_t total);
	/*
	 * After link_run() the program stands at its first instruction,
	 * stopped by SIGSTOP.  Else others have started it, and it runs.
	 */
	void	(*ran)(pid_t pid);
	/* It could not be started: an error code, and why in a sentence. */
	void	(*run_failed)(const char *code, const char *why);
	/* The program has ended, and all that it wrote is in the ring. */
	void	(*ended)(int code, int sig);
	/* A symbols process's channel; takes fd. */
	void	(*symbols)(int fd);
	void	(*symbols_failed)(const char *why);
	/* link_is_full() no longer. */
	void	(*goes_on)(void);
};

/* -- downwards ----------------------------------------------------------- */
/*
 * So much waits for the spawner that answers which can wait should: the
 * channel ends when too much of it does.
 */
bool	 link_is_full(void);
/* The one answer to a request: an object, "result" or "error" by failed. */
void	 link_reply(const struct ask *, bool failed, const char *json, size_t);
/* The answer that is sent next is given when the tracer has gone. */
void	 link_reply_last(void);
/* Reports what a request will do, for the audit log: before its answer. */
void	 link_does(const struct ask *, enum trc_action);
void	 link_run(const struct trc_run *);
/* The program of ran() may go on. */
void	 link_let_go(void);
/* symbols() or symbols_failed() follows. */
void	 link_want_symbols(void);
/* Three file() follow. */
void	 link_want_files(void);
/* used() follows. */
void	 link_want_used(void);
/* output_notice() follows, once, as soon as the ring has more than that. */
void	 link_arm(uint64_t offset);
/*
 * Names the timeline's files, for the tracer that comes after this one; "" =
 * they are kept, or gone.
 */
void	 link_named(const char *name);
void	 link_state(enum trc_phase, uint32_t functions, pid_t pid);
/* The tracer is done. */
void	 link_bye(void);

#endif
