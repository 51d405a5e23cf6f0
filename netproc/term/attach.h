/* SPDX-License-Identifier: ISC */
/* How clients come to a terminal: by a command, or by a WebSocket. */
#ifndef DL_NET_ATTACH_H
#define DL_NET_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netproc/conn/conn.h"
#include "netproc/conn/termask.h"
#include "netproc/text/line.h"

/*
 * ERR_OK, or why this connection cannot attach; *why is a static text, NULL
 * = the code says it all.
 */
uint32_t attach_refuses(const struct conn *, const struct rsession *,
    const char **why);
/*
 * Attaches: the connection carries the terminal from now on.  A command that
 * has never run is started first, where that is the client's right.
 */
void	 attach_begin(struct conn *, struct rsession *,
    const struct term_ask *);

/* Parameters of a request for a WebSocket. */
struct ws_ask {
	char		 session[SESSION_NAME_MAX];	/* as the path says */
	struct term_ask	 term;
	/* Called once, when the WebSocket has ended; NULL = nobody waits. */
	void		 (*done)(void *arg);
	void		*arg;
};

/*
 * The handshake is over: takes fd, the first n bytes of which have been read
 * already, and the conn with it, which has a socket from now on.  A conn
 * without a user has to bring a token or key in its first message.  May free
 * the conn.
 */
void	 ws_begin(struct conn *, int fd, const void *extra, size_t n,
    const struct ws_ask *);

/*
 * We go: says so on the conn's WebSocket, if it has one; conn_run() is to
 * follow.
 */
bool	 ws_farewell(struct conn *);
/* Adds the command ATTACH. */
void	 attach_init(void);

#endif
