/* SPDX-License-Identifier: ISC */
/* AUTH: a connection becomes that of its token's or key's user.  WHOAMI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errors.h"
#include "guest.h"
#include "keys.h"
#include "spawner/client/audit.h"
#include "spawner/client/client.h"
#include "spawner/link/peers.h"
#include "spawner/session/access.h"
#include "throttle.h"
#include "tokens.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* No connection by a token that expires lives longer. */
#define EXPIRY_MAX_S	(30 * 24 * 3600)
#define COOKIE_NEWS_MS	1000
/* Flags that a key keeps of the connection that it was made over. */
#define KEPT_FLAGS	(PRINCIPAL_BY_TOKEN | PRINCIPAL_READ_ONLY)

/* The user that a token or a key stands for; rights are looked up each time. */
struct claim {
	uint32_t	 uid, flags;	/* PRINCIPAL_* that it brings with it */
	char		 user[USER_NAME_MAX];
	char		 token[TOKEN_ID + 1];	/* empty = by none */
	char		 key[KEY_ID + 1];	/* the same */
	bool		 root;
};

/* An AUTH whose user's account is being looked up; a connection has one. */
struct pending {
	LIST_ENTRY(pending) next;
	uint64_t	 serial, request;
	uint32_t	 conn, generation;
	struct claim	 claim;
	bool		 as_guest;	/* by this key, of the claim's user */
	struct key	 guest_key;
};

static LIST_HEAD(, pending) pending = LIST_HEAD_INITIALIZER(pending);

static void
result(uint32_t conn, uint64_t request, enum err code, const char *text)
{
	struct msg_out *o = msg_new(MSG_RESULT, NULL, conn, request);

	msg_put_u32(o, code);
	msg_put_str(o, text);
	(void)chan_send(&netproc_chan, o, -1);
}

static void
refuse(const struct client *c, uint64_t request, enum err code,
    const char *text)
{
	audit_refused(c->door, c->address, text == NULL ? err_code(code) :
	    text);
	result(c->number, request, code, text);
}

static void
on_expiry(void *arg)
{
	struct client *c = arg;
	char id[sizeof(c->token)];

	memcpy(id, c->token, sizeof(id));
	client_end_token(id);
}

/* A clock that is set back makes it late; a new AUTH is refused in time. */
static void
watch_expiry(struct client *c)
{
	const struct token *t = tokens_find(c->token);
	int64_t left;

	loop_timer_unset(&c->expiry);
	if (t == NULL || t->expires == 0)
		return;
	left = t->expires - (int64_t)time(NULL);
	if (left > EXPIRY_MAX_S)
		left = EXPIRY_MAX_S;
	loop_timer_set(&c->expiry, left < 0 ? 0 : (uint64_t)left * 1000,
	    on_expiry, c);
}

/*
 * Pushes what the user sees before netproc hears of the user, so that the next
 * command finds it.
 */
static void
auth_admit(struct client *c, const struct pending *p, const struct account *acc)
{
	const struct claim *l = &p->claim;
	bool admin = acc->admin || l->root;
	uint32_t flags = l->flags | (admin ? PRINCIPAL_ADMIN : 0U);
	struct viewer *v = viewer_make(l->uid, l->user, admin);
	struct msg_out *o;

	if (v == NULL) {
		result(p->conn, p->request, ERR_TRY_AGAIN, NULL);
		return;
	}
	memcpy(c->token, l->token, sizeof(c->token));
	memcpy(c->key, l->key, sizeof(c->key));
	c->root = l->root;
	watch_expiry(c);
	client_become(c, v, flags);
	o = msg_new(MSG_AUTHED, NULL, p->conn, p->request);
	msg_put_u32(o, l->uid);
	msg_put_u32(o, flags);
	msg_put_str(o, l->user);
	(void)chan_send(&netproc_chan, o, -1);
	/* a browser shows its cookie again and again, and has logged in once */
	if (c->key[0] == '\0')
		audit_login(c);
}

/* Its maker may have lost the right that it was made by. */
static void
admit_guest(struct client *c, uint64_t request, const struct key *k)
{
	const struct session *s = session_find(&k->session);

	if (s == NULL || access_of(k->maker, s) < k->access)
		refuse(c, request, ERR_AUTH_FAILED, "the user who made the key "
		    "no longer has access");
	else if (!guest_admit(c, request, k))
		result(c->number, request, ERR_TRY_AGAIN, NULL);
}

/* It may have ended while the account was looked up. */
static bool
still_holds(const struct claim *l)
{
	return (l->token[0] == '\0' || tokens_find(l->token) != NULL) &&
	    (l->key[0] == '\0' || keys_find(l->key) != NULL);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *slot, p;
	struct client *c;
	bool holds;

	LIST_FOREACH(slot, &pending, next)
		if (slot->serial == serial)
			break;
	if (slot == NULL)
		return;
	LIST_REMOVE(slot, next);
	p = *slot;
	free(slot);
	c = client_find(p.conn);
	if (c == NULL || p.generation != netproc_chan.generation)
		return;
	holds = still_holds(&p.claim);
	if (holds && acc == NULL && account_unasked())
		result(c->number, p.request, ERR_TRY_AGAIN, NULL);
	/* the uid may have become somebody else's, too */
	else if (!holds || acc == NULL || acc->rights.uid != p.claim.uid ||
	    strcmp(acc->name, p.claim.user) != 0)
		refuse(c, p.request, ERR_AUTH_FAILED, !holds ? NULL :
		    account_fault(owner_by_uid(p.claim.uid),
		    "the token's user has no account here any more"));
	else if (p.as_guest)
		admit_guest(c, p.request, &p.guest_key);
	else
		auth_admit(c, &p, acc);
}

/* guest is the claim's user's key, by which the client becomes a guest, or
 * NULL. */
static void
look_up(struct client *c, const struct msg *m, const struct claim *l,
    const struct key *guest)
{
	struct owner *o = owner_make(l->uid, l->user);
	struct pending *p = o == NULL ? NULL : calloc(1, sizeof(*p));

	if (p == NULL) {
		result(c->number, m->hdr.request, ERR_TRY_AGAIN, NULL);
		return;
	}
	p->serial = next_serial();
	p->request = m->hdr.request;
	p->conn = c->number;
	p->generation = m->hdr.generation;
	p->claim = *l;
	p->as_guest = guest != NULL;
	if (guest != NULL)
		p->guest_key = *guest;
	LIST_INSERT_HEAD(&pending, p, next);
	if (account_want(o, on_account, p->serial) == -1) {
		LIST_REMOVE(p, next);
		free(p);
		result(c->number, m->hdr.request, ERR_TRY_AGAIN, NULL);
	}
}

static void
by_token(struct client *c, const struct msg *m, const struct token *t)
{
	struct claim l = { .uid = t->uid, .flags = PRINCIPAL_BY_TOKEN };

	if (t->read_only)
		l.flags |= PRINCIPAL_READ_ONLY;
	memcpy(l.user, t->user, sizeof(l.user));
	memcpy(l.token, t->id, sizeof(l.token));
	look_up(c, m, &l, NULL);
}

static bool
is_web(const struct client *c)
{
	return c->door == DOOR_WEB || c->door == DOOR_WEB_TLS;
}

/*
 * A browser's keys are good where browsers come in, and what its page may
 * steal is good nowhere else.
 */
static void
by_key(struct client *c, const struct msg *m, const struct key *k)
{
	struct claim l = { .uid = k->uid, .root = k->root,
	    .flags = PRINCIPAL_BY_KEY | (k->flags & KEPT_FLAGS) };

	memcpy(l.user, k->maker->owner->name, sizeof(l.user));
	memcpy(l.token, k->token, sizeof(l.token));
	if (k->kind == KEY_TICKET || k->kind == KEY_SESSION) {
		/* a ticket is used up, the cookie that it came by is not */
		memcpy(l.key, k->kind == KEY_TICKET ? k->parent : k->id,
		    sizeof(l.key));
		l.uid = k->maker->owner->uid;
		look_up(c, m, &l, k);
		return;
	}
	if (!is_web(c)) {
		refuse(c, m->hdr.request, ERR_AUTH_FAILED, "that key is for "
		    "a browser: it is good over HTTP only");
		return;
	}
	/*
	 * Browsers send a cookie to every port of a host: a cookie that another
	 * user's own server there has got is of no use to that user.
	 */
	if (k->kind == KEY_COOKIE && k->peer != c->said_uid) {
		refuse(c, m->hdr.request, ERR_AUTH_FAILED, "that login is "
		    "another user's of this host, or of another host");
		return;
	}
	if (k->kind == KEY_COOKIE)
		memcpy(l.key, k->id, sizeof(l.key));
	look_up(c, m, &l, NULL);
}

/*
 * The source that is slowed down: a host, a network of IPv6, or a local user,
 * as all local users share the loopback address.
 */
static const char *
origin(const struct client *c, char text[ADDRESS_TEXT])
{
	/* idproc tells which user of this host owns the socket */
	if (c->said_uid == UINT32_MAX || (c->flags & PRINCIPAL_BY_RULE))
		return c->address;
	(void)snprintf(text, ADDRESS_TEXT, "uid %u", c->said_uid);
	return text;
}

/* So many refusals of cookies are worth a line in the audit log. */
static bool
is_news(void)
{
	static uint64_t next_ms;

	if (loop_now_ms() < next_ms)
		return false;
	next_ms = loop_now_ms() + COOKIE_NEWS_MS;
	return true;
}

/*
 * Browsers show a cookie that has ended by themselves, until somebody logs in
 * again: that is nobody's wrong try, and makes nobody wait.
 */
static void
cookie_refused(const struct client *c, uint64_t request)
{
	if (is_news())
		refuse(c, request, ERR_AUTH_FAILED, "the login has ended; log "
		    "in again");
	else
		result(c->number, request, ERR_AUTH_FAILED, "the login has "
		    "ended; log in again");
}

/* false: it is nobody's. */
static bool
judge(struct client *c, const struct msg *m, const char *secret, size_t len)
{
	const struct token *t = tokens_check(secret, len);
	const struct key *k = t != NULL ? NULL : keys_check(secret, len);

	if (t != NULL)
		by_token(c, m, t);
	else if (k != NULL)
		by_key(c, m, k);
	return t != NULL || k != NULL;
}

static void
too_many(const struct client *c, uint64_t request, unsigned int wait_s)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "too many wrong tokens came from "
	    "your address; try again in %u s", wait_s);
	refuse(c, request, ERR_TOO_MANY_TRIES, text);
}

int
spawn_on_auth(struct msg *m)
{
	struct client *c = client_find(m->hdr.conn);
	char uid[ADDRESS_TEXT];
	unsigned int wait_s;
	const char *from;
	bool cookie, good;
	size_t len;
	const char *secret = msg_get_blob(m, &len);

	if (msg_end(m) == -1 || c == NULL || c->spoke)
		return -1;
	c->spoke = true;
	from = origin(c, uid);
	cookie = keys_is_kind(secret, len, KEY_COOKIE);
	if (!cookie && !throttle_may(from, &wait_s)) {
		too_many(c, m->hdr.request, wait_s);
		return 0;
	}
	good = judge(c, m, secret, len);
	msg_wipe(m, secret, len);
	if (good)
		return 0;
	if (cookie) {
		cookie_refused(c, m->hdr.request);
		return 0;
	}
	throttle_wrong(from);
	refuse(c, m->hdr.request, ERR_AUTH_FAILED, NULL);
	return 0;
}

int
spawn_on_whoami(struct msg *m)
{
	const struct client *c = client_find(m->hdr.conn);
	struct msg_out *o;

	if (msg_end(m) == -1 || c == NULL || c->viewer == NULL)
		return -1;
	o = msg_new(MSG_IDENTITY, NULL, m->hdr.conn, m->hdr.request);
	msg_put_str(o, door_text(c->door));
	msg_put_str(o, c->address);
	msg_put_str(o, c->token);
	(void)chan_send(&netproc_chan, o, -1);
	return 0;
}
