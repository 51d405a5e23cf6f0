/* SPDX-License-Identifier: ISC */
/* AUTH: a connection becomes that of its token's user.  WHOAMI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit.h"
#include "client.h"
#include "errors.h"
#include "handlers.h"
#include "peers.h"
#include "role.h"
#include "sight.h"
#include "throttle.h"
#include "tokens.h"

/* No connection by a token that expires lives longer. */
#define EXPIRY_MAX_S	(30 * 24 * 3600)

/* An AUTH whose user's account is being looked up; a connection has one. */
struct pending {
	LIST_ENTRY(pending) next;
	uint64_t	 serial, request;
	uint32_t	 conn, generation;
	uint32_t	 uid;
	char		 token[TOKEN_ID + 1];
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
watch_expiry(struct client *c, const struct token *t)
{
	int64_t left = t->expires - (int64_t)time(NULL);

	if (t->expires == 0)
		return;
	if (left > EXPIRY_MAX_S)
		left = EXPIRY_MAX_S;
	loop_timer_set(&c->expiry, left < 0 ? 0 : (uint64_t)left * 1000,
	    on_expiry, c);
}

/* netproc is told before its connection is shown anything. */
static void
admit(struct client *c, const struct pending *p, const struct token *t,
    const struct account *acc)
{
	uint32_t flags = PRINCIPAL_BY_TOKEN;
	struct viewer *v;
	struct msg_out *o;

	if (t->read_only)
		flags |= PRINCIPAL_READ_ONLY;
	if (acc->admin)
		flags |= PRINCIPAL_ADMIN;
	v = viewer_make(t->uid, t->user, acc->admin);
	if (v == NULL) {
		result(p->conn, p->request, ERR_TRY_AGAIN, NULL);
		return;
	}
	o = msg_new(MSG_AUTHED, NULL, p->conn, p->request);
	msg_put_u32(o, t->uid);
	msg_put_u32(o, flags);
	msg_put_str(o, t->user);
	(void)chan_send(&netproc_chan, o, -1);
	memcpy(c->token, t->id, sizeof(c->token));
	watch_expiry(c, t);
	client_become(c, v, flags);
	result(p->conn, p->request, ERR_OK, NULL);
	/* not in between, where netproc would be woken once more */
	audit_login(c);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *slot, p;
	const struct token *t;
	struct client *c;

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
	/* it may have been revoked meanwhile */
	t = tokens_find(p.token);
	/* the uid may have become somebody else's, too */
	if (t == NULL || acc == NULL || acc->rights.uid != t->uid ||
	    strcmp(acc->name, t->user) != 0)
		refuse(c, p.request, ERR_AUTH_FAILED, t == NULL ? NULL :
		    "the token's user has no account here any more");
	else
		admit(c, &p, t, acc);
}

static void
look_up(struct client *c, const struct msg *m, const struct token *t)
{
	struct owner *o = owner_make(t->uid, t->user);
	struct pending *p = o == NULL ? NULL : calloc(1, sizeof(*p));

	if (p == NULL) {
		result(c->number, m->hdr.request, ERR_TRY_AGAIN, NULL);
		return;
	}
	p->serial = next_serial();
	p->request = m->hdr.request;
	p->conn = c->number;
	p->generation = m->hdr.generation;
	p->uid = t->uid;
	memcpy(p->token, t->id, sizeof(p->token));
	LIST_INSERT_HEAD(&pending, p, next);
	if (account_want(o, on_account, p->serial) == -1) {
		LIST_REMOVE(p, next);
		free(p);
		result(c->number, m->hdr.request, ERR_TRY_AGAIN, NULL);
	}
}

/*
 * Who is slowed down: a host, a network of IPv6, or a local user, who shares
 * the loopback address with all others.
 */
static const char *
origin(const struct client *c, char text[ADDRESS_TEXT])
{
	if (c->viewer == NULL || (c->flags & PRINCIPAL_BY_RULE))
		return c->address;
	(void)snprintf(text, ADDRESS_TEXT, "uid %u", c->viewer->owner->uid);
	return text;
}

int
spawn_on_auth(struct msg *m)
{
	struct client *c = client_of(m);
	const struct token *t;
	unsigned int wait;
	char text[96], uid[ADDRESS_TEXT];
	const char *from;
	size_t len;
	const char *secret = msg_get_blob(m, &len);

	if (msg_end(m) == -1 || c == NULL || c->spoke)
		return -1;
	c->spoke = true;
	from = origin(c, uid);
	if (!throttle_may(from, &wait)) {
		(void)snprintf(text, sizeof(text), "too many wrong tokens "
		    "came from your address; try again in %u s", wait);
		refuse(c, m->hdr.request, ERR_TOO_MANY_TRIES, text);
		return 0;
	}
	t = tokens_check(secret, len);
	msg_wipe(m, secret, len);
	if (t != NULL) {
		look_up(c, m, t);
		return 0;
	}
	throttle_wrong(from);
	refuse(c, m->hdr.request, ERR_AUTH_FAILED, NULL);
	return 0;
}

int
spawn_on_whoami(struct msg *m)
{
	const struct client *c = client_of(m);
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
