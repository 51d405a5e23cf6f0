/* SPDX-License-Identifier: ISC */
/* Accounts of the host by uid, from NSS, remembered for a few seconds. */
#ifndef DL_ACCOUNT_H
#define DL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/acct.h"
#include "wire/proto.h"
#include "wire/run.h"

#define ACCOUNT_PATH_MAX	256

struct account {
	uid_t		uid;
	gid_t		gid;
	bool		found;		/* else only uid is set */
	bool		has_more;	/* groups than there is room for */
	enum acct_state	state;		/* locked, expired */
	uint32_t	ngroups;
	gid_t		groups[GROUPS_MAX];
	char		name[USER_NAME_MAX];
	char		home[ACCOUNT_PATH_MAX];
	char		shell[ACCOUNT_PATH_MAX];
	char		lacks[GROUP_NAMES_MAX];	/* of its groups, no session's */
};

/*
 * Loads every NSS module that a later look-up may need, as nothing can be
 * loaded after confinement.
 */
void	 accounts_preload(void);
/* Never NULL; valid until the next call.  May wait for a slow NSS source. */
const struct account *account_of(uid_t);
/* The same by name; when there is none, uid is -1. */
const struct account *account_named(const char *name);
/* Each is looked up anew. */
void	 accounts_forget(void);
/* The group's name, or else its number in buf. */
const char *group_name(gid_t, char buf[16]);
/* Whether a list of the settings, decimal ids and commas, has this one. */
bool	 id_listed(const char *list, uint32_t id);
/* By the configuration; at which doors root is one is not decided here. */
bool	 account_is_admin(const struct account *);

#endif
