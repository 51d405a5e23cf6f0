/* SPDX-License-Identifier: ISC */
/*
 * Principals: who a connection is (by idproc's word), what account a user
 * has, and whose sessions netproc holds a replica of.
 */
#ifndef SPAWNER_OWNER_H
#define SPAWNER_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "msg.h"
#include "proto.h"
#include "run.h"

/* What NSS said about a user, as much as a program of his needs. */
struct account {
	bool		 known;
	char		 name[USER_NAME_MAX];
	uint64_t	 asked_ms;	/* when it was current, 0 = never */
	struct run_owner rights;
	char		 home[256];
	char		 shell[256];
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
	unsigned int	 nconns;
	bool		 held;		/* netproc has a replica */
	struct loop_timer linger;
	struct account	 account;
	struct events	 events;
};

LIST_HEAD(owner_list, owner);
extern struct owner_list owners;
#define OWNER_FOREACH(o)	LIST_FOREACH(o, &owners, next)

/*
 * Whose connection the message is about, NULL when idproc has not said.
 * A handler answers NULL with -1: netproc made the connection up.
 */
struct owner	*owner_of(const struct msg *);
struct owner	*owner_by_uid(uint32_t uid);
/* netproc has gone: no connection and no replica is left. */
void		 owner_forget_all(void);

/* acc is NULL when there is no such account or nobody to ask. */
typedef void	(*account_fn)(const struct account *acc, uint64_t token);
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
