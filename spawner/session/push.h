/* SPDX-License-Identifier: ISC */
/* Messages that make up netproc's replica: sent at every change. */
#ifndef SPAWNER_PUSH_H
#define SPAWNER_PUSH_H

#include "session.h"

/* Each does nothing while nobody who is connected may see the session. */
void	push_session(struct session *);
void	push_ring(struct session *);
/* access_end() and access.c alone decide when. */
void	push_gone(const struct session *);

#endif
