/* SPDX-License-Identifier: ISC */
/* Showing recordings. */
#ifndef CLIENT_CTL_PLAY_H
#define CLIENT_CTL_PLAY_H

struct client;

int	ctl_play(struct client *, int, char **);

#endif
