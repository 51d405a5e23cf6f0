/* SPDX-License-Identifier: ISC */
/*
 * /api/v1/pty/sessions: terminals as small clients want them, each call doing
 * what takes several commands.  These stand in for commands in route.c.
 */
#ifndef DL_NET_PTYWEB_H
#define DL_NET_PTYWEB_H

#include "netproc/text/line.h"

struct conn;
struct rsession;

/* NEW, START unless start=attach, and KEYS. */
void	pty_create(struct conn *, struct rsession *, const struct words *);
void	pty_list(struct conn *, struct rsession *, const struct words *);
/* KILL if it runs, and DELETE. */
void	pty_delete(struct conn *, struct rsession *, const struct words *);

#endif
