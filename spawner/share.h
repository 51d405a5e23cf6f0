/* SPDX-License-Identifier: ISC */
/* Sessions that others may see or use: SHARE and UNSHARE. */
#ifndef SPAWNER_SHARE_H
#define SPAWNER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto.h"
#include "session.h"

/* The access that a user who is not the owner was given. */
enum access	 share_access(const struct session *, uint32_t uid);
/* Whether the session's label names it for that user: share_accept(). */
bool		 share_is_accepted(const struct session *, uint32_t uid);
/* Takes back all; for a session that is about to be freed. */
void		 share_free(struct session *);

#endif
