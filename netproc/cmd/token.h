/* SPDX-License-Identifier: ISC */
/* TOKEN create, list and revoke. */
#ifndef DL_NET_TOKEN_H
#define DL_NET_TOKEN_H

struct conn;
struct msg;
struct rsession;
struct words;

void	 cmd_token(struct conn *, struct rsession *, const struct words *);

int	 net_on_token(struct msg *);
int	 net_on_token_rows(struct msg *);

#endif
