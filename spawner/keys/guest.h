/* SPDX-License-Identifier: ISC */
/*
 * Guests: who shows a session's key, or a ticket, is shown that session's
 * terminal, and is nobody otherwise.
 */
#ifndef SPAWNER_GUEST_H
#define SPAWNER_GUEST_H

#include <sys/queue.h>

#include "keys.h"
#include "spawner/client/client.h"
#include "spawner/session/owner.h"
#include "spawner/session/session.h"

/* Guests of one name and right; lives as long as its session. */
struct guest {
	LIST_ENTRY(guest) next;
	struct viewer	 viewer;
	struct owner	 self;		/* a number, no uid; has no account */
};

/* The connection is that key's guest from now on; false without memory. */
bool	 guest_admit(struct client *, uint64_t request, const struct key *);
/* Is the message one that a guest may not send?  It has been answered then. */
bool	 guest_refused(const struct msg *, const struct msg_row *);
/* The session is about to be freed. */
void	 guest_end_session(struct session *);
/* For keys_init(). */
void	 key_ended(const struct key *);

#endif
