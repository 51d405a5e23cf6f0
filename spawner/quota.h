/* SPDX-License-Identifier: ISC */
/* Quotas: what the configuration allows a user, and what the user has. */
#ifndef SPAWNER_QUOTA_H
#define SPAWNER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "owner.h"
#include "proto.h"

#define QUOTA_TITLE	300

/* LIMIT_UNLIMITED where nothing is said. */
struct quota {
	/* "quota group lab", empty = there is none for him */
	char		 title[QUOTA_TITLE];
	uint64_t	 most[QUOTA_COUNT];
	/* no quota says how many sessions: they are max-sessions-per-user */
	bool		 usual_sessions;
};

/*
 * By his name, the first of his groups, or the default.  As long as his
 * account is not known his groups are not either: see quota_is_known().
 */
void		 quota_of(const struct owner *, struct quota *);
bool		 quota_is_known(const struct owner *);
/*
 * Tells the launcher what all sessions of his may use, if that is news and
 * the host can limit it.
 */
void		 quota_tell(struct owner *);
void		 quota_launcher_lost(void);
/* Sessions and bytes of his, uploads under way included. */
uint64_t	 quota_used(const struct owner *, enum quota_what);
/* How much of it he may still take. */
uint64_t	 quota_room(const struct owner *, const struct quota *,
		    enum quota_what);

#endif
