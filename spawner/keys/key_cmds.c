/* SPDX-License-Identifier: ISC */
/*
 * KEY_MAKE and KEY_END: who may make which key.  A key goes out once, to the
 * connection that asked for it.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keys.h"
#include "spawner/client/activity.h"
#include "spawner/client/client.h"
#include "spawner/link/peers.h"
#include "spawner/session/session.h"
#include "wire/handlers.h"

/* Key that a client asks for. */
struct wish {
	struct session	*session;	/* NULL = none that the asker may see */
	enum access	 access;
	bool		 rotate;
};

/* -- who may: false when it has been answered ----------------------------- */

static bool
may_cookie(struct asker *a, const struct client *c, const struct wish *w)
{
	bool web = c->door == DOOR_WEB || c->door == DOOR_WEB_TLS;
	bool shown = (a->flags & (PRINCIPAL_BY_TOKEN | PRINCIPAL_BY_KEY)) != 0;

	(void)w;
	/* a login that made another would never end */
	if (web && shown && c->key[0] == '\0')
		return true;
	answer(a, NULL, ERR_NOT_PERMITTED, "a browser logs in with a token or "
	    "a one-time key, each time anew");
	return false;
}

static bool
may_login(struct asker *a, const struct client *c, const struct wish *w)
{
	(void)c;
	(void)w;
	if (!(a->flags & (PRINCIPAL_BY_TOKEN | PRINCIPAL_BY_KEY |
	    PRINCIPAL_BY_RULE | PRINCIPAL_READ_ONLY)))
		return true;
	answer(a, NULL, ERR_NOT_PERMITTED, "one-time keys are made on the "
	    "daemon's own host, by a user whom it knows; from here log in with "
	    "a token");
	return false;
}

static bool
may_ticket(struct asker *a, const struct client *c, const struct wish *w)
{
	(void)c;
	if (w->session == NULL) {
		answer(a, NULL, ERR_NOT_FOUND, NULL);
		return false;
	}
	if (w->access <= access_of(a->viewer, w->session) &&
	    (w->access < ACCESS_USE || !(a->flags & PRINCIPAL_READ_ONLY)))
		return true;
	answer(a, &w->session->id, ERR_READ_ONLY, "you may only watch this "
	    "session: ask for a read-only ticket");
	return false;
}

static bool
may_session(struct asker *a, const struct client *c, const struct wish *w)
{
	struct session *s = w->session;

	(void)c;
	if (s == NULL)
		answer(a, NULL, ERR_NOT_FOUND, NULL);
	else if (access_of(a->viewer, s) < ACCESS_OWN)
		answer(a, &s->id, ERR_NOT_PERMITTED, "only its owner, %s, "
		    "gives out a session's keys", s->owner->name);
	else if (a->flags & PRINCIPAL_READ_ONLY)
		answer(a, &s->id, ERR_READ_ONLY, NULL);
	else if (keys_of_session(&s->id) > 0 && !w->rotate)
		answer(a, &s->id, ERR_KEYS_EXIST, NULL);
	else
		return true;
	return false;
}

static const struct maker {
	const char	*command;	/* for the activity list */
	bool		 (*may)(struct asker *, const struct client *,
			    const struct wish *);
	bool		 session;
} makers[KEY_KINDS] = {
	[KEY_COOKIE] = { "web login", may_cookie, false },
	[KEY_LOGIN] = { "LOGIN", may_login, false },
	[KEY_TICKET] = { "TICKET", may_ticket, true },
	[KEY_SESSION] = { "KEYS", may_session, true },
};

/* -- making --------------------------------------------------------------- */

/*
 * No key outlives the token that it was made by; false when that has ended.
 * *most_s is 0 when it never does.
 */
static bool
life_left(const struct asker *a, int64_t *most_s)
{
	const struct token *t;

	*most_s = 0;
	if (a->token[0] == '\0')
		return true;
	t = tokens_find(a->token);
	if (t == NULL)
		return false;
	if (t->expires != 0)
		*most_s = t->expires - (int64_t)time(NULL);
	return t->expires == 0 || *most_s > 0;
}

static struct key
key_of(const struct asker *a, const struct client *c, enum key_kind kind,
    const struct wish *w)
{
	struct key k = { .kind = kind, .maker = a->viewer,
	    .uid = a->owner->uid, .flags = a->flags, .root = c->root,
	    .access = w->access, .peer = c->said_uid };

	memcpy(k.token, a->token, sizeof(k.token));
	if (w->session != NULL)
		k.session = w->session->id;
	/* a logout ends the tickets of the cookie, too */
	if (kind == KEY_TICKET)
		memcpy(k.parent, c->key, sizeof(k.parent));
	return k;
}

static void
note(const struct asker *a, const struct key *k, const struct wish *w)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "key %s%s%s", k->id,
	    k->kind == KEY_TICKET && k->access < ACCESS_USE ? ", read-only" :
	    "", w->rotate ? ", those before ended" : "");
	activity_answer(a, w->session == NULL ? NULL : &w->session->id, ERR_OK,
	    text);
}

/* A session has two: one to use it, one to see it. */
static const struct key *
make_second(struct key k, int64_t most_s, char text[KEY_TEXT + 1])
{
	k.access = ACCESS_SEE;
	return keys_make(&k, most_s, text);
}

static void
make(struct asker *a, struct client *c, enum key_kind kind,
    const struct wish *w)
{
	char text[2][KEY_TEXT + 1] = { "", "" };
	struct key like = key_of(a, c, kind, w);
	const struct key *k;
	struct msg_out *o;
	int64_t most_s;

	if (w->rotate)
		keys_end_shared(&w->session->id);
	k = life_left(a, &most_s) ? keys_make(&like, most_s, text[0]) : NULL;
	if (k == NULL || (kind == KEY_SESSION &&
	    make_second(like, most_s, text[1]) == NULL)) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		return;
	}
	if (kind == KEY_COOKIE)
		memcpy(c->key, k->id, sizeof(c->key));
	o = answer_new(a, MSG_KEY, w->session == NULL ? NULL :
	    &w->session->id);
	msg_put_str(o, text[0]);
	msg_put_str(o, text[1]);
	msg_put_u64(o, (uint64_t)k->expires);
	sodium_memzero(text, sizeof(text));
	(void)answer_with(a, o, -1);
	note(a, k, w);
	a->owner = NULL;
}

static struct session *
session_seen(const struct sid *id, const struct viewer *v)
{
	struct session *s = session_find(id);

	return s != NULL && session_is_shown(s) &&
	    access_of(v, s) != ACCESS_NONE ? s : NULL;
}

int
spawn_on_key_make(struct msg *m)
{
	uint32_t kind = msg_get_u32(m), access = msg_get_u32(m);
	uint32_t rotate = msg_get_u32(m);
	struct client *c = client_find(m->hdr.conn);
	struct wish w = { .access = access, .rotate = rotate };
	struct asker a;

	if (kind != KEY_TICKET)
		w.access = ACCESS_USE;
	if (msg_end(m) == -1 || kind >= KEY_KINDS || rotate > 1 ||
	    w.access < ACCESS_SEE || w.access > ACCESS_USE || c == NULL ||
	    !asker_init(&a, m, makers[kind].command))
		return -1;
	w.rotate = kind == KEY_SESSION && rotate;
	if (makers[kind].session)
		w.session = session_seen(&m->hdr.session, a.viewer);
	if (makers[kind].may(&a, c, &w))
		make(&a, c, kind, &w);
	return 0;
}

int
spawn_on_key_end(struct msg *m)
{
	const struct client *c = client_find(m->hdr.conn);
	char id[KEY_ID + 1];
	struct asker a;

	if (msg_end(m) == -1 || c == NULL || !asker_init(&a, m, "web logout"))
		return -1;
	if (c->key[0] == '\0') {
		answer(&a, NULL, ERR_INVALID_ARGUMENT, "no browser has logged "
		    "in over this connection");
		return 0;
	}
	memcpy(id, c->key, sizeof(id));
	answer(&a, NULL, ERR_OK, NULL);
	keys_end(id);
	return 0;
}
