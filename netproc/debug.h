/* SPDX-License-Identifier: ISC */
/*
 * Debuggers of sessions: the socket to gdbserver, and how a gdb gets to it:
 * by a port that takes one connection, or over a client's own connection.
 */
#ifndef DL_NET_DEBUG_H
#define DL_NET_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"
#include "msg.h"

struct conn;
struct rsession;

void	 cmd_debug(struct conn *, struct rsession *, const struct words *);
void	 cmd_gdbpipe(struct conn *, struct rsession *, const struct words *);

/* The answer about a connection to a debug port; false = it is none. */
bool	 debug_peer_is(uint32_t number, bool known, uint32_t uid,
	    const char *why);
/* Asks again about connections whose answer may have been lost. */
void	 debug_who_again(void);
/* Ends the GDBPIPE of a connection that left before the debugger attached. */
void	 debug_release(const struct sid *, uint32_t conn);
/* The spawner has gone: so have all debuggers. */
void	 debug_clear(void);

int	 net_on_debug_fd(struct msg *);
int	 net_on_debug_over(struct msg *);

#endif
