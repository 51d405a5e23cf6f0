/* SPDX-License-Identifier: ISC */
/*
 * Users: those who have or had connections, and what accounts they have.
 */
#ifndef SPAWNER_OWNER_H
#define SPAWNER_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "access.h"
#include "wire/acct.h"
#include "wire/msg.h"
#include "wire/proto.h"
#include "wire/run.h"

/* NSS data about a user, as much as the user's programs need. */
struct account {
	bool		 known;
	bool		 barred;		/* it is there, and is not let in */
	bool		 admin;
	uint32_t	 state;			/* enum acct_state */
	char		 name[USER_NAME_MAX];
	uint64_t	 asked_ms;	/* when it was current, 0 = never */
	struct run_owner rights;
	uint32_t	 nall;		/* groups, as NSS has them */
	uint32_t	 all_groups[GROUPS_MAX];
	char		 home[256];
	char		 shell[256];
	char		 lacks[GROUP_NAMES_MAX]; /* of groups that sessions lack */
};

/* The last that was done to a user's sessions; activity.c fills it. */
struct events {
	STAILQ_HEAD(, event) head;	/* oldest first */
	size_t		 n, bytes;
};

/* A user that has been seen; lives as long as the spawner. */
struct owner {
	LIST_ENTRY(owner) next;
	uint32_t	 uid;
	char		 name[USER_NAME_MAX];
	struct viewer	 viewers[2];	/* as a user, as administrator */
	struct account	 account;
	bool		 watched;	/* by client.c, for a moment */
	uint64_t	 changes_ms;	/* of tokens: counted up to then */
	struct events	 events;
	/* as the launcher was told; 0 = not yet */
	struct {
		uint64_t memory, processes;
	}		 told;
	/* when QUOTA asked last; USAGE_UNKNOWN = nobody counts */
	struct {
		uint64_t memory, processes;
	}		 use;
};

LIST_HEAD(owner_list, owner);
extern struct owner_list owners;
#define OWNER_FOREACH(o)	LIST_FOREACH(o, &owners, next)

/* Calls when an account is not as it was. */
struct owner_hooks {
	/* Not an administrator's (any more). */
	void		 (*no_admin)(struct owner *);
	/* Not let in any more. */
	void		 (*barred)(const struct owner *);
};

/* Borrows the hooks for good. */
void		 owner_init(const struct owner_hooks *);
struct owner	*owner_by_uid(uint32_t uid);
/* The one there is, or a new one; NULL: too many, or no memory. */
struct owner	*owner_make(uint32_t uid, const char *name);

/* Asks for the owner's account, unless it was current a moment ago. */
void		 account_refresh(const struct owner *);
/* acc is NULL when there is no such account or account_unasked(). */
typedef void	(*account_fn)(const struct account *acc, uint64_t token);
/*
 * Why an account was not had, for an answer: otherwise, unless it is one that
 * the configuration does not let in.
 */
const char	*account_fault(const struct owner *, const char *otherwise);
/*
 * True if it is not known whether the account exists or is locked: idproc is
 * being replaced, or acctproc cannot tell.
 */
bool		 account_unasked(void);
/*
 * Calls fn with the owner's account: at once when it is known, else when
 * idproc has answered, with NULL when idproc went away.  -1: no room to wait
 * or no idproc, fn is not called.
 */
int		 account_want(struct owner *, account_fn, uint64_t token);
/*
 * The same by name, for users who need not be owners: fn is called later, and
 * not with accounts that cannot be principals.
 */
int		 account_want_name(const char *name, account_fn,
		    uint64_t token);
/* idproc has gone: everybody who waits is told. */
void		 account_lost(void);

#endif
