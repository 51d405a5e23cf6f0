/* SPDX-License-Identifier: ISC */
/* Commands about tokens: making them, and logging in by one. */
#ifndef CLIENT_CTL_TOKENS_H
#define CLIENT_CTL_TOKENS_H

struct client;

int	ctl_login(struct client *, int, char **);
int	ctl_logout(struct client *, int, char **);
int	ctl_token(struct client *, int, char **);

#endif
