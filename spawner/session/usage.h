/* SPDX-License-Identifier: ISC */
/* Resources that sessions use, told to netproc while a client there looks. */
#ifndef SPAWNER_USAGE_H
#define SPAWNER_USAGE_H

struct session;

/* Netproc, or the replica of that session, is new: what was told is not. */
void	usage_forget(struct session *);
/* Netproc has gone, and who looked. */
void	usage_stop(void);
/* The launcher has gone, and what it was asked. */
void	usage_launcher_lost(void);

#endif
