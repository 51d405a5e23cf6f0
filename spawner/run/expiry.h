/* SPDX-License-Identifier: ISC */
/* Sessions that go by themselves: NEW's ephemeral ones. */
#ifndef SPAWNER_EXPIRY_H
#define SPAWNER_EXPIRY_H

#include "spawner/session/session.h"

/* It has been made, or started. */
void	expiry_begin(struct session *);
/* Somebody uses it, or it writes something. */
void	expiry_touch(struct session *);
/* Its tree is gone. */
void	expiry_ended(struct session *);

#endif
