/* SPDX-License-Identifier: ISC */
/*
 * The traced session: from a program that is launched or attached to, to its
 * end and that of the tracing.
 */
#ifndef TRACER_SESSION_H
#define TRACER_SESSION_H

#include <stdbool.h>

#include "tracer/base/op.h"
#include "tracer/probe/probing.h"
#include "wire/insthello.h"

/* The spawner's first message; its strings stay. */
extern struct trc_hello session_hello;

/* The program's root, as it was given last; "" = nobody has. */
const char *session_root(void);
void	 session_set_root(const char *);
/*
 * Words that the root is missing on this host, borrowed; else NULL.  Code that
 * was compiled elsewhere may be below that root all the same.
 */
const char *session_root_missing(void);
/* "tracing", "idle" or "ended" */
const char *session_state(void);
/* The session's program; 0 = there is none. */
pid_t	 session_pid(void);
/*
 * Attached to the program that there is, if need be, with a timeline.  false:
 * op was refused, or is held and run again once it is so.
 */
bool	 session_ready(struct op *);
/* Whether there is a timeline to ask; else op was refused. */
bool	 session_asked(struct op *);
/* Tells the spawner, if anything has changed. */
void	 session_tell(void);
/* Refuses: the program has ended, with its code. */
void	 session_refuse_ended(struct op *);

/* A launch waits no more for its patterns. */
void	 launch_settled(void);
/* Answers requests that wait for patterns, if these are settled now. */
void	 session_settled(void);
/* Refuses all requests that wait, as tracing stops. */
void	 session_stopping(void);
void	 queries_stopping(void);
/* The timeline is no longer busy: what was put off is done. */
void	 session_goes_on(void);

/* -- from the link; see struct link_handlers -- */
void	 trc_hello(const struct trc_hello *);
void	 trc_conn_gone(uint32_t conn);
void	 session_ran(pid_t pid);
void	 session_run_failed(const char *code, const char *why);
void	 trc_ended(int code, int sig);

#endif
