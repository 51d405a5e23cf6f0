/* SPDX-License-Identifier: ISC */
/* The channel to the spawner. */
#ifndef TRACER_LINKCHAN_H
#define TRACER_LINKCHAN_H

struct link_handlers;

/* Takes fd, borrows the handlers; dies when it is no channel. */
void	link_open(int fd, const struct link_handlers *);

#endif
