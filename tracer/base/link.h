/* SPDX-License-Identifier: ISC */
/* A tracer's messages beyond those of other instruments. */
#ifndef TRACER_LINK_H
#define TRACER_LINK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "inst/link.h"
#include "wire/insthello.h"
#include "wire/tracer_audit.h"

/* The session's program. */
struct trc_run {
	char *const	*argv;		/* argv[0] is a path; NULL = what the
					 * session runs */
	char *const	*envp;		/* NAME=VALUE, on top of the session's */
	const char	*cwd;		/* NULL or empty = the session's */
};

/* -- upwards ------------------------------------------------------------- */
struct link_handlers {
	struct link_calls calls;
	/* The first call of all; borrows. */
	void	(*hello)(const struct trc_hello *);
	/* A part of a timeline, which a successor will get as well; takes fd. */
	void	(*file)(enum trc_file, int fd);
	/*
	 * Answers link_want_used(): bytes of all timelines in memory of this
	 * owner, the calls of this one excepted.
	 */
	void	(*used)(uint64_t bytes);
	/*
	 * After trace_link_run() the program stands at its first instruction,
	 * stopped by SIGSTOP.  Else others have started it, and it runs.
	 */
	void	(*ran)(pid_t pid);
	/* The program has ended, and all that it wrote is in the ring. */
	void	(*ended)(int code, int sig);
	/* A symbols process's channel; takes fd. */
	void	(*symbols)(int fd);
	void	(*symbols_failed)(const char *why);
};

/* -- downwards ----------------------------------------------------------- */
void	 trace_link_run(const struct trc_run *);
/* The program of ran() may go on. */
void	 link_let_go(void);
/* symbols() or symbols_failed() follows. */
void	 link_want_symbols(void);
/* Three file() follow. */
void	 link_want_files(void);
/* used() follows. */
void	 link_want_used(void);
/*
 * Names the timeline's files, for the tracer that comes after this one; "" =
 * they are kept, or gone.
 */
void	 link_named(const char *name);
void	 trace_link_state(enum trc_phase, uint32_t functions, pid_t pid);
/* Opens the channel to the spawner: takes fd, borrows the handlers. */
void	 trace_link_open(int fd, const struct link_handlers *);

#endif
