/* SPDX-License-Identifier: ISC */
/* Which debug sessions there are, and which one is meant. */
#ifndef CLIENT_DEBUGGER_SESSIONS_H
#define CLIENT_DEBUGGER_SESSIONS_H

struct dbg;

/*
 * Command handlers: an exit code, after a report unless it is CTL_OK.  A
 * missing daemon is no error: there are no sessions then.
 */
int	dbg_sessions(struct dbg *, int argc, char **argv);
int	dbg_sessions_use(struct dbg *, int argc, char **argv);

#endif
