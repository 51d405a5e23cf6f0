/* SPDX-License-Identifier: ISC */
/* What netproc's replica is made of: sent at every change. */
#ifndef SPAWNER_PUSH_H
#define SPAWNER_PUSH_H

#include "session.h"

/* Each does nothing when netproc holds no replica of that owner. */
void	push_session(struct session *);
void	push_ring(struct session *);
void	push_gone(const struct session *);
/* All sessions of a user with their rings; all out of the replica. */
void	push_owner(const struct owner *);
void	push_owner_gone(const struct owner *);

#endif
