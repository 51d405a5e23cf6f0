/* SPDX-License-Identifier: ISC */
/* STOP, KILL and SIGNAL. */
#ifndef SPAWNER_STOP_H
#define SPAWNER_STOP_H

#include "session.h"

/* Ends the tree by SIGKILL; nobody waits for it. */
void	stop_kill(struct session *);
/* A terminal has ended: SIGHUP to those who stayed, then as STOP does. */
void	stop_hang_up(struct session *);
/* The tree is gone: who waited is answered. */
void	stop_tree_gone(struct session *);
void	stop_launcher_lost(void);
/*
 * Sends a signal through the launcher, for a session or NULL; pidfd is
 * borrowed.  -1: the launcher has gone.
 */
int	send_signal(const struct session *, uint64_t serial, int pidfd,
	    int signal, uint32_t whom);

/* The daemon ends: every session is stopped, then the parent is told. */
void	stop_everything(void);

#endif
