/* SPDX-License-Identifier: ISC */
/* The channel to the spawner. */
#ifndef TRACER_LINKCHAN_H
#define TRACER_LINKCHAN_H

/* Takes fd; dies when it is no channel. */
void	link_open(int fd);

#endif
