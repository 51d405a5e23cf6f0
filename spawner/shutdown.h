/* SPDX-License-Identifier: ISC */
/* The end of the daemon. */
#ifndef SPAWNER_SHUTDOWN_H
#define SPAWNER_SHUTDOWN_H

/* Every session is stopped, then the parent is told. */
void	shutdown_begin(void);

#endif
