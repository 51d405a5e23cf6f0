/* SPDX-License-Identifier: ISC */
/* Keys that others, or a browser, come in by. */
#ifndef CLIENT_CTL_KEYS_H
#define CLIENT_CTL_KEYS_H

struct client;

int	cmd_keys(struct client *, int, char **);
int	cmd_ticket(struct client *, int, char **);
int	cmd_web(struct client *, int, char **);

#endif
