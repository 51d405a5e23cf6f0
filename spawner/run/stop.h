/* SPDX-License-Identifier: ISC */
/* STOP, KILL and SIGNAL. */
#ifndef SPAWNER_STOP_H
#define SPAWNER_STOP_H

#include "spawner/session/session.h"

/* Ends the tree by SIGKILL; nobody waits for it. */
void	stop_kill(struct session *);
/* A terminal has ended: SIGHUP to those who stayed, then as STOP does. */
void	stop_hang_up(struct session *);
/* The tree is gone: who waited is answered. */
void	stop_tree_gone(struct session *);
void	stop_launcher_lost(void);
/* Begins to stop every session that runs and is not being stopped. */
void	stop_all(void);

#endif
