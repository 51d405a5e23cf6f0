/* SPDX-License-Identifier: ISC */
/* Showing recordings. */
#ifndef CTL_PLAY_H
#define CTL_PLAY_H

struct client;

int	cmd_play(struct client *, int, char **);

#endif
