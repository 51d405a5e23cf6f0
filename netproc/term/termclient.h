/* SPDX-License-Identifier: ISC */
/*
 * A client of a terminal: from its starting point over the replay of earlier
 * output to the end of the run.
 */
#ifndef DL_NET_TERMCLIENT_H
#define DL_NET_TERMCLIENT_H

#include "netproc/conn/conn.h"
#include "term.h"
#include "termmsg.h"
#include "ws.h"

/* The connection is the terminal's from now on; false without memory. */
bool	 termclient_enter(struct conn *, struct rsession *,
    const struct term_ask *);
/* The client that the connection is; NULL = it is none. */
struct term_client *termclient_of(const struct conn *);

/* -- what termio.c reads -- */
void	 client_heard(struct term_client *, const struct term_msg *);
/* It is told what was wrong, and its connection ends. */
void	 client_broken(struct term_client *, enum ws_code, const char *why);

#endif
