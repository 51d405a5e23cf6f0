/* SPDX-License-Identifier: ISC */
/* Identity that a client claims, and the identity that it is given. */
#ifndef DL_NET_AUTH_H
#define DL_NET_AUTH_H

#include "base/json.h"
#include "netproc/conn/ask.h"
#include "netproc/text/line.h"
#include "wire/msg.h"

struct rsession;

/* Bytes of a token or key; whatever is longer is none. */
#define AUTH_MAX	128

/*
 * Asks whether the secret (at most AUTH_MAX bytes, borrowed) is a user's:
 * done() is called with ERR_OK when the connection is that user's from now on,
 * else with the reason.  Once in a connection's life, before anything else is
 * asked.
 */
void	auth_ask(struct conn *, const char *secret, size_t len, ask_fn done);

/* The members user, read_only and admin. */
void	identity_json(struct text *, const struct conn *);
void	cmd_auth(struct conn *, struct rsession *, const struct words *);
void	cmd_whoami(struct conn *, struct rsession *, const struct words *);

int	net_on_authed(struct msg *);
int	net_on_identity(struct msg *);

#endif
