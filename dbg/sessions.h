/* SPDX-License-Identifier: ISC */
/* Which debug sessions there are, and which one is meant. */
#ifndef CTL_DBG_SESSIONS_H
#define CTL_DBG_SESSIONS_H

struct dbg;

/*
 * Of the table: an exit code, after a report unless it is CTL_OK.  Without a
 * daemon there are no sessions, which is no error.
 */
int	dbg_sessions(struct dbg *, int argc, char **argv);
int	dbg_use(struct dbg *, int argc, char **argv);

#endif
