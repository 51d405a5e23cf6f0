/* SPDX-License-Identifier: ISC */
/* Users that have been seen, and their accounts. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "owner.h"
#include "spawner/link/peers.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define OWNERS_MAX	4096
#define ACCOUNT_MS	10000

/*
 * A request that goes on once an account is known.  There is no table of them,
 * which a user could fill for all: requests are counted where they come from.
 */
struct wait {
	LIST_ENTRY(wait) next;
	const struct owner *owner;	/* NULL = asked by name */
	uint64_t	 serial;	/* of the question by name, else 0 */
	account_fn	 fn;
	uint64_t	 token;
};

struct owner_list owners = LIST_HEAD_INITIALIZER(owners);

static size_t		 nowners;
static const struct owner_hooks *hooks;
static bool		 unread;	/* while those who wait are told so */
static LIST_HEAD(wait_list, wait) waits = LIST_HEAD_INITIALIZER(waits);

void
owner_init(const struct owner_hooks *h)
{
	hooks = h;
}

struct owner *
owner_by_uid(uint32_t uid)
{
	struct owner *o;

	OWNER_FOREACH(o)
		if (o->uid == uid)
			return o;
	return NULL;
}

struct owner *
owner_make(uint32_t uid, const char *name)
{
	struct owner *o = owner_by_uid(uid);

	if (o == NULL) {
		if (nowners == OWNERS_MAX)
			return NULL;
		o = calloc(1, sizeof(*o));
		if (o == NULL)
			return NULL;
		o->uid = uid;
		o->viewers[false].owner = o->viewers[true].owner = o;
		o->viewers[true].admin = true;
		STAILQ_INIT(&o->events.head);
		LIST_INSERT_HEAD(&owners, o, next);
		nowners++;
	}
	memcpy(o->name, name, strlen(name) + 1);
	return o;
}

static bool
account_is_fresh(const struct account *a)
{
	return a->asked_ms != 0 && loop_now_ms() - a->asked_ms < ACCOUNT_MS;
}

/* name NULL = by uid; serial is 0 then. */
static int
ask_account(uint32_t uid, const char *name, uint64_t serial)
{
	struct msg_out *m = msg_new(MSG_LOOKUP, NULL, 0, serial);

	msg_put_u32(m, uid);
	msg_put_str(m, name);
	return chan_send(&idproc_chan, m, -1);
}

void
account_refresh(const struct owner *o)
{
	if (!account_is_fresh(&o->account))
		(void)ask_account(o->uid, NULL, 0);
}

/* -- who waits for one -- */

static int
wait_for(const struct owner *o, uint64_t serial, account_fn fn,
    uint64_t token)
{
	struct wait *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return -1;
	w->owner = o;
	w->serial = serial;
	w->fn = fn;
	w->token = token;
	LIST_INSERT_HEAD(&waits, w, next);
	return 0;
}

int
account_want(struct owner *o, account_fn fn, uint64_t token)
{
	if (account_is_fresh(&o->account)) {
		fn(o->account.known ? &o->account : NULL, token);
		return 0;
	}
	if (ask_account(o->uid, NULL, 0) == -1)
		return -1;
	return wait_for(o, 0, fn, token);
}

int
account_want_name(const char *name, account_fn fn, uint64_t token)
{
	uint64_t serial = next_serial();

	if (ask_account((uint32_t)-1, name, serial) == -1)
		return -1;
	return wait_for(NULL, serial, fn, token);
}

/*
 * Tells the requests that wait for this owner (NULL = for any), or for the
 * answer with that number.  They leave the list before they are told, as they
 * may ask again.
 */
static void
tell(const struct owner *o, uint64_t serial, const struct account *a)
{
	struct wait_list told = LIST_HEAD_INITIALIZER(told);
	struct wait *w, *next;

	for (w = LIST_FIRST(&waits); w != NULL; w = next) {
		next = LIST_NEXT(w, next);
		if (serial != 0 ? w->serial != serial :
		    o != NULL && w->owner != o)
			continue;
		LIST_REMOVE(w, next);
		LIST_INSERT_HEAD(&told, w, next);
	}
	while ((w = LIST_FIRST(&told)) != NULL) {
		LIST_REMOVE(w, next);
		w->fn(a != NULL && a->known ? a : NULL, w->token);
		free(w);
	}
}

const char *
account_fault(const struct owner *o, const char *otherwise)
{
	return o == NULL || !o->account.barred ? otherwise :
	    acct_is_shut(o->account.state) ? acct_fault(o->account.state) :
	    "this account may not have sessions here, by its shell or by "
	    "allow and deny in debuglantern.conf: the daemon's log says which";
}

bool
account_unasked(void)
{
	return unread || !chan_is_open(&idproc_chan);
}

void
account_lost(void)
{
	tell(NULL, 0, NULL);
}

/* Reads the groups of NSS; the user's programs get those the fence maps. */
static void
get_groups(struct msg *m, struct account *a)
{
	uint32_t n = msg_get_u32(m), i, gid;
	struct run_owner *w = &a->rights;

	for (i = 0; i < n && !m->bad; i++) {
		gid = msg_get_u32(m);
		if (a->nall < GROUPS_MAX)
			a->all_groups[a->nall++] = gid;
		/* with one that the fence does not map no program starts */
		if (w->ngroups < GROUPS_MAX &&
		    settings_have_group(&settings, gid))
			w->groups[w->ngroups++] = gid;
	}
	if (role_mode == MODE_USER)
		w->ngroups = 0;
}

/* An unread account is not remembered: the next request asks again. */
static void
renew(struct owner *o, const struct account *a)
{
	o->account = *a;
	o->account.asked_ms = unread ? 0 : loop_now_ms();
	if (a->known && !a->admin)
		hooks->no_admin(o);
	else if (a->barred)
		hooks->barred(o);
	tell(o, 0, &o->account);
}

int
spawn_on_account(struct msg *m)
{
	struct account a;
	struct owner *o;
	uint32_t flags;

	memset(&a, 0, sizeof(a));
	a.rights.uid = msg_get_u32(m);
	flags = msg_get_u32(m);
	a.known = (flags & ACCOUNT_FOUND) != 0;
	a.admin = (flags & ACCOUNT_ADMIN) != 0;
	a.barred = (flags & ACCOUNT_BARRED) != 0;
	a.state = acct_of_flags(flags);
	a.rights.gid = msg_get_u32(m);
	get_groups(m, &a);
	msg_get_str(m, a.name, sizeof(a.name));
	msg_get_str(m, a.home, sizeof(a.home));
	msg_get_str(m, a.shell, sizeof(a.shell));
	msg_get_str(m, a.lacks, sizeof(a.lacks));
	if (msg_end(m) == -1)
		return -1;
	if (role_mode == MODE_SYSTEM && a.known &&
	    a.rights.uid != settings.run_uid &&
	    !settings_have_group(&settings, a.rights.gid)) {
		log_warnx("the account of %s has the primary group %u, which "
		    "no session gets (allow-group)", a.name, a.rights.gid);
		a.known = false;
	}
	unread = a.state == ACCT_UNREAD;
	o = m->hdr.request != 0 ? NULL : owner_by_uid(a.rights.uid);
	if (m->hdr.request != 0)
		tell(NULL, m->hdr.request, &a);
	else if (o != NULL)
		renew(o, &a);
	unread = false;
	return 0;
}
