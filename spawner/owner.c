/* SPDX-License-Identifier: ISC */
/* Principals, their accounts, and which replicas netproc holds. */
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "handlers.h"
#include "job.h"
#include "log.h"
#include "owner.h"
#include "peers.h"
#include "push.h"
#include "role.h"
#include "session.h"
#include "upload.h"

#define BUCKETS		1024	/* power of two */
#define OWNERS_MAX	4096
#define ACCOUNT_MS	10000
#define WAITS_MAX	256
/* Closed connections whose PRINCIPAL may still be under way. */
#define EARLY_MAX	256
/*
 * Clients of one command come back soon: the replica stays so long after a
 * user's last connection.
 */
#define LINGER_MS	30000

struct conn {
	LIST_ENTRY(conn) next;
	uint32_t	 number;
	struct owner	*owner;
};

struct wait {
	struct owner	*owner;		/* NULL = asked by name */
	uint64_t	 serial;	/* of the question by name, else 0 */
	account_fn	 fn;		/* NULL = free */
	uint64_t	 token;
};

struct owner_list owners = LIST_HEAD_INITIALIZER(owners);

static LIST_HEAD(conn_head, conn) conns[BUCKETS];
static size_t		 nconns;
static size_t		 nowners;
static struct wait	 waits[WAITS_MAX];
static uint32_t		 early[EARLY_MAX];
static size_t		 nearly;
static bool		 in_lookup;

static struct conn_head *
conn_bucket(uint32_t number)
{
	return &conns[number & (BUCKETS - 1)];
}

static struct conn *
conn_find(uint32_t number)
{
	struct conn *c;

	LIST_FOREACH(c, conn_bucket(number), next)
		if (c->number == number)
			return c;
	return NULL;
}

struct owner *
owner_of(const struct msg *m)
{
	struct conn *c = conn_find(m->hdr.conn);

	/* idproc spoke before netproc could: its word may still be queued */
	if (c == NULL && chan_is_open(&idproc_chan)) {
		in_lookup = true;
		chan_drain(&idproc_chan, BUCKETS);
		in_lookup = false;
		c = conn_find(m->hdr.conn);
	}
	return c == NULL ? NULL : c->owner;
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

static struct owner *
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
		STAILQ_INIT(&o->events.head);
		LIST_INSERT_HEAD(&owners, o, next);
		nowners++;
	}
	memcpy(o->name, name, strlen(name) + 1);
	return o;
}

static void
on_linger(void *arg)
{
	struct owner *o = arg;
	struct session *s;

	/* the debug port of a session belongs to its replica */
	SESSION_FOREACH(s)
		if (s->owner == o && s->debug.phase != DEBUG_NONE) {
			loop_timer_set(&o->linger, LINGER_MS, on_linger, o);
			return;
		}
	push_owner_gone(o);
	o->held = false;
}

static void
conn_free(struct conn *c)
{
	struct owner *o = c->owner;

	LIST_REMOVE(c, next);
	nconns--;
	free(c);
	if (--o->nconns == 0 && o->held)
		loop_timer_set(&o->linger, LINGER_MS, on_linger, o);
}

void
owner_forget_all(void)
{
	struct owner *o;
	struct conn *c;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		while ((c = LIST_FIRST(&conns[i])) != NULL)
			conn_free(c);
	OWNER_FOREACH(o) {
		loop_timer_unset(&o->linger);
		o->held = false;
	}
	memset(early, 0, sizeof(early));
}

static bool
closed_early(uint32_t number)
{
	size_t i;

	for (i = 0; i < EARLY_MAX; i++)
		if (early[i] == number) {
			early[i] = 0;
			return true;
		}
	return false;
}

static int
conn_new(uint32_t number, struct owner *o)
{
	struct conn *c = conn_find(number);

	if (c != NULL)
		conn_free(c);
	/* netproc keeps to the limit itself unless it was taken over */
	if (nconns > settings.max_connections * 2 + BUCKETS) {
		netproc_cut("more connections than max-connections");
		return -1;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return -1;
	c->number = number;
	c->owner = o;
	LIST_INSERT_HEAD(conn_bucket(number), c, next);
	nconns++;
	o->nconns++;
	loop_timer_unset(&o->linger);
	return 0;
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

/* Nobody is root here, and in user mode there is only one user. */
static bool
may_be_principal(uint32_t uid)
{
	if (role_mode == MODE_USER)
		return uid == settings.daemon_uid;
	return uid != 0;
}

int
spawn_on_principal(struct msg *m)
{
	char name[USER_NAME_MAX];
	uint32_t uid = msg_get_u32(m), number = m->hdr.conn;
	struct owner *o;

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1 || number == 0 || !may_be_principal(uid))
		return -1;
	/* the connection may be of a netproc that is announced just now */
	if (!in_lookup)
		chan_drain(&parent_chan, BUCKETS);
	if (closed_early(number))
		return 0;
	o = owner_make(uid, name);
	if (o == NULL || conn_new(number, o) == -1)
		return 0;
	/* a start that follows needs the account at once */
	if (!account_is_fresh(&o->account))
		(void)ask_account(o->uid, NULL, 0);
	if (!o->held) {
		o->held = true;
		push_owner(o);
	}
	(void)chan_send(&netproc_chan, msg_new(MSG_SYNCED, NULL, number, 0),
	    -1);
	return 0;
}

int
spawn_on_conn_closed(struct msg *m)
{
	struct conn *c;

	/* its PRINCIPAL may wait in the other channel */
	if (owner_of(m) == NULL) {
		early[nearly++ % EARLY_MAX] = m->hdr.conn;
		return msg_end(m);
	}
	upload_drop_conn(m->hdr.conn);
	job_drop_packs(m->hdr.conn);
	c = conn_find(m->hdr.conn);
	if (c != NULL)
		conn_free(c);
	return msg_end(m);
}

/* -- accounts -- */

static struct wait *
free_wait(void)
{
	size_t i;

	for (i = 0; i < WAITS_MAX; i++)
		if (waits[i].fn == NULL)
			return &waits[i];
	return NULL;
}

int
account_want(struct owner *o, account_fn fn, uint64_t token)
{
	struct wait *w;

	if (account_is_fresh(&o->account)) {
		fn(o->account.known ? &o->account : NULL, token);
		return 0;
	}
	w = free_wait();
	if (w == NULL || ask_account(o->uid, NULL, 0) == -1)
		return -1;
	*w = (struct wait){ o, 0, fn, token };
	return 0;
}

int
account_want_name(const char *name, account_fn fn, uint64_t token)
{
	struct wait *w = free_wait();
	uint64_t serial = next_serial();

	if (w == NULL || ask_account((uint32_t)-1, name, serial) == -1)
		return -1;
	*w = (struct wait){ NULL, serial, fn, token };
	return 0;
}

/* Each is forgotten before it is told: it may ask again. */
static void
tell(struct wait *slot, const struct account *a)
{
	struct wait w = *slot;

	slot->fn = NULL;
	w.fn(a != NULL && a->known ? a : NULL, w.token);
}

static void
tell_owner(const struct owner *o)
{
	size_t i;

	for (i = 0; i < WAITS_MAX; i++)
		if (waits[i].fn != NULL && waits[i].owner == o)
			tell(&waits[i], &o->account);
}

static void
tell_serial(uint64_t serial, const struct account *a)
{
	size_t i;

	for (i = 0; i < WAITS_MAX; i++)
		if (waits[i].fn != NULL && waits[i].serial == serial) {
			tell(&waits[i], a);
			return;
		}
}

void
account_lost(void)
{
	size_t i;

	for (i = 0; i < WAITS_MAX; i++)
		if (waits[i].fn != NULL)
			tell(&waits[i], NULL);
}

/* allow_groups is "27,44": decimal gids */
static bool
group_allowed(uint32_t gid)
{
	const char *p = settings.allow_groups;
	char *end;

	if (gid >= settings.min_uid)
		return true;
	while (*p != '\0') {
		if (strtoul(p, &end, 10) == gid && end != p)
			return true;
		p = end + strcspn(end, ",");
		p += *p == ',';
	}
	return false;
}

/* The list from NSS, cut down to what the fence maps. */
static void
get_groups(struct msg *m, struct run_owner *w)
{
	uint32_t n = msg_get_u32(m), i, gid;

	w->ngroups = 0;
	for (i = 0; i < n && !m->bad; i++) {
		gid = msg_get_u32(m);
		if (gid != 0 && w->ngroups < GROUPS_MAX && group_allowed(gid))
			w->groups[w->ngroups++] = gid;
	}
	if (role_mode == MODE_USER)
		w->ngroups = 0;
}

int
spawn_on_account(struct msg *m)
{
	struct account a;
	struct owner *o;

	memset(&a, 0, sizeof(a));
	a.rights.uid = msg_get_u32(m);
	a.known = msg_get_u32(m) == 1;
	a.rights.gid = msg_get_u32(m);
	get_groups(m, &a.rights);
	msg_get_str(m, a.name, sizeof(a.name));
	msg_get_str(m, a.home, sizeof(a.home));
	msg_get_str(m, a.shell, sizeof(a.shell));
	if (msg_end(m) == -1)
		return -1;
	if (role_mode == MODE_SYSTEM && a.known && a.rights.gid == 0) {
		log_warnx("the account of %s has group 0, which no session "
		    "gets", a.name);
		a.known = false;
	}
	if (m->hdr.request != 0) {
		tell_serial(m->hdr.request, &a);
		return 0;
	}
	o = owner_by_uid(a.rights.uid);
	if (o == NULL)
		return 0;
	a.asked_ms = loop_now_ms();
	o->account = a;
	tell_owner(o);
	return 0;
}
