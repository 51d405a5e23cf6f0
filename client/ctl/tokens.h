/* SPDX-License-Identifier: ISC */
/* Commands about tokens: making them, and logging in by one. */
#ifndef CLIENT_CTL_TOKENS_H
#define CLIENT_CTL_TOKENS_H

struct client;

int	cmd_login(struct client *, int, char **);
int	cmd_logout(struct client *, int, char **);
int	cmd_token(struct client *, int, char **);

#endif
