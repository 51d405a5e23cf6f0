/* SPDX-License-Identifier: ISC */
/*
 * Debuggers of sessions: the socket to gdbserver, and how a gdb gets to it:
 * by a port that takes one connection, or over a client's own connection.
 */
#ifndef DL_NET_DEBUG_H
#define DL_NET_DEBUG_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	 cmd_debug(struct conn *, struct rsession *, const struct words *);
void	 cmd_gdbpipe(struct conn *, struct rsession *, const struct words *);

/* Hears of the answers about connections to debug ports. */
void	 debug_init(void);

int	 net_on_debug_fd(struct msg *);
int	 net_on_debug_over(struct msg *);

#endif
