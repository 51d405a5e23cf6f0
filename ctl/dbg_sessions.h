/* SPDX-License-Identifier: ISC */
/* Which debug sessions there are, and which one is meant. */
#ifndef CTL_DBG_SESSIONS_H
#define CTL_DBG_SESSIONS_H

struct dbg;

int	dbg_sessions(struct dbg *, int argc, char **argv);
int	dbg_use(struct dbg *, int argc, char **argv);

#endif
