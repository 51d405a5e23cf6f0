/* SPDX-License-Identifier: ISC */
/* The parts of the spawner, put together. */
#ifndef SPAWNER_HOOKS_H
#define SPAWNER_HOOKS_H

/* Before any message, session or client. */
void	hooks_init(void);

#endif
