/* SPDX-License-Identifier: ISC */
/* Sessions that go by themselves: NEW's ephemeral ones. */
#ifndef SPAWNER_TTL_H
#define SPAWNER_TTL_H

#include "session.h"

/* It has been made, or started. */
void	ttl_begin(struct session *);
/* Somebody uses it, or it writes something. */
void	ttl_touch(struct session *);
/* Its tree is gone. */
void	ttl_ended(struct session *);

#endif
