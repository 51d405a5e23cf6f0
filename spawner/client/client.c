/* SPDX-License-Identifier: ISC */
/* Connections of netproc, by number. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "client.h"
#include "spawner/link/peers.h"
#include "spawner/session/access.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define BUCKETS		1024	/* power of two */
/* Closed connections whose PRINCIPAL may still be under way. */
#define EARLY_MAX	256
#define JUDGE_MS	500
/* An account may be locked while its connections stay. */
#define WATCH_MS	30000

static LIST_HEAD(client_head, client) clients[BUCKETS];
static size_t		 nclients;
static uint32_t		 early[EARLY_MAX];
static size_t		 nearly;
static bool		 in_lookup;
static const struct client_hooks *hooks;

void
client_init(const struct client_hooks *h)
{
	hooks = h;
}

static struct client_head *
bucket(uint32_t number)
{
	return &clients[number & (BUCKETS - 1)];
}

struct client *
client_find(uint32_t number)
{
	struct client *c;

	LIST_FOREACH(c, bucket(number), next)
		if (c->number == number)
			return c;
	return NULL;
}

void
client_learn(uint32_t conn)
{
	if (conn == 0 || client_find(conn) != NULL ||
	    !chan_is_open(&idproc_chan))
		return;
	in_lookup = true;
	chan_drain(&idproc_chan, BUCKETS);
	in_lookup = false;
}

void
client_become(struct client *c, struct viewer *v, uint32_t flags)
{
	struct viewer *old = c->viewer;

	c->viewer = v;
	c->flags = flags;
	if (v != NULL)
		viewer_join(v);
	if (old != NULL)
		viewer_leave(old);
}

static void
client_free(struct client *c)
{
	hooks->freed(c);
	client_become(c, NULL, 0);
	loop_timer_unset(&c->expiry);
	LIST_REMOVE(c, next);
	nclients--;
	free(c);
}

void
client_forget_all(void)
{
	struct client *c;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		while ((c = LIST_FIRST(&clients[i])) != NULL)
			client_free(c);
	viewer_forget_all();
	memset(early, 0, sizeof(early));
}

/*
 * Requests may be under way: until netproc has heard of it they find nothing,
 * and where there is no memory for that, break the rules.
 */
static void
end(struct client *c)
{
	struct viewer *nobody = viewer_make(UINT32_MAX, "nobody", false);

	client_become(c, nobody, PRINCIPAL_READ_ONLY | PRINCIPAL_BY_TOKEN);
	hooks->ended(c);
	loop_timer_unset(&c->expiry);
	c->token[0] = c->key[0] = '\0';
	c->maker = NULL;
	c->root = false;
	(void)chan_send(&netproc_chan, msg_new(MSG_CONN_END, NULL, c->number,
	    0), -1);
}

typedef bool	(*match_fn)(const struct client *, const void *);

static void
end_those(match_fn match, const void *arg)
{
	struct client *c;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		LIST_FOREACH(c, &clients[i], next)
			if (c->viewer != NULL && match(c, arg))
				end(c);
}

static bool
is_by_token(const struct client *c, const void *id)
{
	return strcmp(c->token, id) == 0;
}

static bool
is_by_key(const struct client *c, const void *id)
{
	return strcmp(c->key, id) == 0;
}

static bool
is_viewer(const struct client *c, const void *viewer)
{
	return c->viewer == viewer;
}

static bool
is_by_admin(const struct client *c, const void *arg)
{
	(void)arg;
	return c->viewer->admin || (c->maker != NULL && c->maker->admin);
}

/* A guest may do no more than the user who made its key. */
static bool
is_above_maker(const struct client *c, const void *arg)
{
	const struct session *s = arg;

	return c->viewer->only == s && c->maker != NULL &&
	    access_of(c->maker, s) < c->viewer->most;
}

void
client_end_token(const char *id)
{
	hooks->token_ended(id);
	end_those(is_by_token, id);
}

void
client_end_key(const char *id)
{
	end_those(is_by_key, id);
}

void
client_end_viewer(const struct viewer *v)
{
	end_those(is_viewer, v);
}

void
client_access_changed(const struct session *s)
{
	end_those(is_above_maker, s);
}

static void
end_admins(void)
{
	hooks->admins_ended(NULL);
	end_those(is_by_admin, NULL);
}

/* Root is an administrator by being root, whatever its groups. */
static bool
is_as_admin(const struct client *c, const void *viewer)
{
	return !c->root && (c->viewer == viewer || c->maker == viewer);
}

void
client_no_admin(struct owner *o)
{
	const struct viewer *v = &o->viewers[true];

	/* root's sessions run as this user in system mode; it has no clients */
	if (role_mode == MODE_SYSTEM && o->uid == settings.run_uid)
		return;
	hooks->admins_ended(v);
	end_those(is_as_admin, v);
}

static bool
is_of_owner(const struct client *c, const void *owner)
{
	return !c->root && (c->viewer->owner == owner ||
	    (c->maker != NULL && c->maker->owner == owner));
}

void
client_bar(const struct owner *o)
{
	hooks->owner_barred(o);
	end_those(is_of_owner, o);
}

static struct loop_timer watching;

static void
mark(const struct viewer *v)
{
	if (v != NULL && v->owner != NULL)
		v->owner->watched = true;
}

/* Accounts that have connections, or whose guests have, are asked for again. */
static void
watch_accounts(void *arg)
{
	struct client *c;
	struct owner *o;
	size_t i;

	(void)arg;
	for (i = 0; i < BUCKETS; i++)
		LIST_FOREACH(c, &clients[i], next) {
			mark(c->viewer);
			mark(c->maker);
		}
	OWNER_FOREACH(o) {
		if (o->watched)
			account_refresh(o);
		o->watched = false;
	}
	if (nclients > 0)
		loop_timer_set(&watching, WATCH_MS, watch_accounts, NULL);
}

/* When idproc has the new settings as well. */
static void
judge_again(void *arg)
{
	struct owner *o;

	(void)arg;
	OWNER_FOREACH(o) {
		o->account.asked_ms = 0;
		if (o->viewers[false].nconns + o->viewers[true].nconns > 0)
			account_refresh(o);
	}
}

void
client_settings(void)
{
	static char users[sizeof(settings.admin_users)];
	static char groups[sizeof(settings.admin_groups)];
	static struct loop_timer timer;

	/* as the accounts may be others, too */
	if (!LIST_EMPTY(&owners))
		loop_timer_set(&timer, JUDGE_MS, judge_again, NULL);
	if (strcmp(users, settings.admin_users) == 0 &&
	    strcmp(groups, settings.admin_groups) == 0)
		return;
	memcpy(users, settings.admin_users, sizeof(users));
	memcpy(groups, settings.admin_groups, sizeof(groups));
	end_admins();
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

/* NULL: there are too many, or there is no memory. */
static struct client *
client_new(uint32_t number)
{
	struct client *c = client_find(number);

	if (c != NULL)
		client_free(c);
	/* netproc keeps to the limit itself unless it was taken over */
	if (nclients > settings.max_connections * 2 + BUCKETS) {
		netproc_cut("more connections than max-connections");
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return NULL;
	c->number = number;
	LIST_INSERT_HEAD(bucket(number), c, next);
	nclients++;
	return c;
}

/* In system mode no user is uid 0; in user mode there is only one user. */
static bool
may_be_principal(uint32_t uid)
{
	if (role_mode == MODE_USER)
		return uid == settings.daemon_uid;
	return uid != 0;
}

/* Report of idproc about a connection. */
struct word_of_idproc {
	uint32_t	 uid, flags, door;
	char		 name[USER_NAME_MAX], address[ADDRESS_TEXT];
	char		 why[256];
};

static int
get_principal(struct msg *m, struct word_of_idproc *w)
{
	w->uid = msg_get_u32(m);
	w->flags = msg_get_u32(m);
	w->door = msg_get_u32(m);
	msg_get_str(m, w->name, sizeof(w->name));
	msg_get_str(m, w->address, sizeof(w->address));
	msg_get_str(m, w->why, sizeof(w->why));
	if (msg_end(m) == -1 || m->hdr.conn == 0 || w->door >= DOOR_COUNT)
		return -1;
	if (w->flags & (PRINCIPAL_UNAUTHENTICATED | PRINCIPAL_REFUSED))
		return 0;
	return may_be_principal(w->uid) ? 0 : -1;
}

/*
 * Netproc asks again when an answer is late, and gets all of the answers: the
 * later ones are not to undo an AUTH that came between them.
 */
static bool
is_known(const struct client *c, const struct word_of_idproc *w)
{
	return c != NULL && c->said_uid == w->uid &&
	    c->said_flags == w->flags && c->door == w->door &&
	    strcmp(c->address, w->address) == 0;
}

static void
tell_synced(uint32_t number)
{
	(void)chan_send(&netproc_chan, msg_new(MSG_SYNCED, NULL, number, 0),
	    -1);
}

int
spawn_on_principal(struct msg *m)
{
	struct word_of_idproc w;
	struct viewer *v = NULL;
	struct client *c;

	if (get_principal(m, &w) == -1)
		return -1;
	/* the connection may be of a netproc that is announced just now */
	if (!in_lookup)
		chan_drain(&parent_chan, BUCKETS);
	if (w.flags & PRINCIPAL_REFUSED) {
		audit_refused(w.door, w.address, w.why);
		return 0;
	}
	if (closed_early(m->hdr.conn))
		return 0;
	if (is_known(client_find(m->hdr.conn), &w)) {
		tell_synced(m->hdr.conn);
		return 0;
	}
	if (!(w.flags & PRINCIPAL_UNAUTHENTICATED)) {
		v = viewer_make(w.uid, w.name, w.flags & PRINCIPAL_ADMIN);
		if (v == NULL)
			return 0;
	}
	c = client_new(m->hdr.conn);
	if (c == NULL)
		return 0;
	c->door = w.door;
	c->said_uid = w.uid;
	c->said_flags = w.flags;
	memcpy(c->address, w.address, sizeof(c->address));
	client_become(c, v, w.flags);
	if (role_mode == MODE_SYSTEM && watching.slot == 0)
		loop_timer_set(&watching, WATCH_MS, watch_accounts, NULL);
	c->root = w.door == DOOR_LOCAL && (w.flags & PRINCIPAL_ADMIN) &&
	    w.uid == settings.run_uid;
	if (v != NULL)
		audit_login(c);
	tell_synced(c->number);
	return 0;
}

int
spawn_on_conn_closed(struct msg *m)
{
	struct client *c = client_find(m->hdr.conn);

	/* its PRINCIPAL may wait in the other channel */
	if (c == NULL) {
		early[nearly++ % EARLY_MAX] = m->hdr.conn;
		return msg_end(m);
	}
	hooks->closed(m->hdr.conn);
	audit_drop_waiting(m->hdr.conn);
	client_free(c);
	return msg_end(m);
}

const char *
door_text(enum door d)
{
	static const char *const names[DOOR_COUNT] = {
		[DOOR_LOCAL] = "local",
		[DOOR_TCP] = "tcp",
		[DOOR_TLS] = "tls",
		[DOOR_WEB] = "web",
		[DOOR_WEB_TLS] = "web-tls",
	};

	return d < DOOR_COUNT ? names[d] : "unknown";
}
