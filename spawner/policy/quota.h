/* SPDX-License-Identifier: ISC */
/* Quotas: what the configuration allows a user, and what the user has. */
#ifndef SPAWNER_QUOTA_H
#define SPAWNER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "spawner/session/owner.h"
#include "wire/proto.h"

#define QUOTA_TITLE	300

/* LIMIT_UNLIMITED where nothing is said. */
struct quota {
	/* "quota group lab", empty = the owner has none */
	char		 title[QUOTA_TITLE];
	uint64_t	 most[QUOTA_COUNT];
	/* no quota says how many sessions: they are max-sessions-per-user */
	bool		 usual_sessions;
};

/*
 * Finds the owner's quota: by name, by the first rule for one of the owner's
 * groups, or the default.  The groups are not known before the account is: see
 * quota_is_known().
 */
void		 quota_of(const struct owner *, struct quota *);
bool		 quota_is_known(const struct owner *);
/*
 * Tells the launcher what all sessions of the owner may use, if that has
 * changed and the host can limit it.
 */
void		 quota_tell(struct owner *);
void		 quota_launcher_lost(void);
/* The owner's sessions or bytes, including uploads under way. */
uint64_t	 quota_used(const struct owner *, enum quota_what);
/* How much more of that resource the owner may take. */
uint64_t	 quota_room(const struct owner *, const struct quota *,
		    enum quota_what);

#endif
