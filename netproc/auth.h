/* SPDX-License-Identifier: ISC */
/* Who the client says he is, and who he is known as. */
#ifndef DL_NET_AUTH_H
#define DL_NET_AUTH_H

#include "line.h"
#include "msg.h"

struct conn;
struct rsession;

void	cmd_auth(struct conn *, struct rsession *, const struct words *);
void	cmd_whoami(struct conn *, struct rsession *, const struct words *);

int	net_on_authed(struct msg *);
int	net_on_identity(struct msg *);

#endif
