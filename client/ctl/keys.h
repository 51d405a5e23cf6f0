/* SPDX-License-Identifier: ISC */
/* Keys that others, or a browser, come in by. */
#ifndef CLIENT_CTL_KEYS_H
#define CLIENT_CTL_KEYS_H

struct client;

int	ctl_keys(struct client *, int, char **);
int	ctl_ticket(struct client *, int, char **);
int	ctl_web(struct client *, int, char **);

#endif
