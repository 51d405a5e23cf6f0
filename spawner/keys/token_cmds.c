/* SPDX-License-Identifier: ISC */
/*
 * TOKEN: access checks for making, listing and revoking tokens.  The token
 * itself is sent once, to the client that made it, and stays in no memory of
 * ours.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "spawner/client/activity.h"
#include "spawner/client/client.h"
#include "spawner/link/peers.h"
#include "tokens.h"
#include "wire/handlers.h"

/* TOKEN creates whose user is being looked up. */
#define PENDING_MAX	64
/* Payload of one TOKEN_ROWS; a row is below 256 bytes. */
#define PART_ROWS	400
/* A hundred years; who wants more wants a token that does not expire. */
#define LIFE_MAX_S	(UINT64_C(100) * 366 * 86400)
/*
 * Each change waits for the disk, and everybody with it: so many at once are
 * a user's, then one of each period.
 */
#define CHANGES		(2 * TOKENS_PER_USER)
#define CHANGE_MS	250

struct pending {
	struct asker	 asker;		/* owner NULL = free */
	struct token	 token;		/* as far as it is known */
	uint64_t	 serial;
};

static struct pending	 pending[PENDING_MAX];

/* -- who may -------------------------------------------------------------- */

/* false: it has been answered. */
static bool
permitted(struct asker *a)
{
	const char *why = NULL;

	if (a->flags & (PRINCIPAL_BY_TOKEN | PRINCIPAL_READ_ONLY))
		why = "a connection that used a token";
	else if (a->flags & PRINCIPAL_BY_RULE)
		why = "a listener with auth none";
	if (why == NULL)
		return true;
	answer(a, NULL, ERR_NOT_PERMITTED, "tokens cannot be managed over %s; "
	    "connect on the daemon's own host", why);
	return false;
}

/* A thief of a browser's cookie must get nothing that lasts. */
static bool
may_create(struct asker *a)
{
	if (!permitted(a))
		return false;
	if (a->key[0] == '\0' || keys_is_new(a->key))
		return true;
	answer(a, NULL, ERR_NOT_PERMITTED, "a browser makes tokens within ten "
	    "minutes of its login; log in again with a new one-time key");
	return false;
}

static bool
is_his(const struct asker *a, const struct token *t)
{
	return t->uid == a->owner->uid || asker_is_admin(a);
}

static bool
in_time(struct asker *a)
{
	uint64_t *busy = &a->owner->changes_ms, now = loop_now_ms();

	if (*busy < now)
		*busy = now;
	if (*busy > now + CHANGES * CHANGE_MS) {
		answer(a, NULL, ERR_TRY_AGAIN, "you have made or revoked very "
		    "many tokens just now; try again in a second");
		return false;
	}
	*busy += CHANGE_MS;
	return true;
}

/* -- create --------------------------------------------------------------- */

static void
put_row(struct msg_out *o, const struct token *t)
{
	msg_put_str(o, t->id);
	msg_put_str(o, t->user);
	msg_put_u32(o, t->read_only);
	msg_put_u64(o, (uint64_t)t->created);
	msg_put_u64(o, (uint64_t)t->expires);
	msg_put_str(o, t->label);
}

static void
note(const struct asker *a, const struct token *t, const char *how)
{
	char text[160];

	(void)snprintf(text, sizeof(text), "token %s of %s%s%s", t->id,
	    t->user, t->read_only ? ", read-only" : "", how);
	activity_answer(a, NULL, ERR_OK, text);
}

static void
refuse(struct asker *a, enum err code)
{
	if (code == ERR_INVALID_ARGUMENT)
		answer(a, NULL, code, "a label is 1 to %d letters, digits, "
		    "'.', '_' or '-'", TOKEN_LABEL_MAX);
	else if (code == ERR_INTERNAL)
		answer(a, NULL, code, "the token could not be stored: %s",
		    strerrordesc_np(errno));
	else
		answer(a, NULL, code, NULL);
}

static void
create(struct asker *a, struct token *t)
{
	char secret[TOKEN_TEXT + 1];
	struct msg_out *o;
	enum err code;

	if (!in_time(a))
		return;
	code = tokens_create(t, secret);
	if (code != ERR_OK) {
		refuse(a, code);
		return;
	}
	note(a, t, t->expires == 0 ? ", does not expire" : "");
	o = answer_new(a, MSG_TOKEN, NULL);
	msg_put_str(o, secret);
	put_row(o, t);
	sodium_memzero(secret, sizeof(secret));
	(void)answer_with(a, o, -1);
	a->owner = NULL;
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *p = pending;
	struct asker a;

	while (p < pending + PENDING_MAX &&
	    (p->asker.owner == NULL || p->serial != serial))
		p++;
	if (p == pending + PENDING_MAX)
		return;
	a = p->asker;
	p->asker.owner = NULL;
	/* nobody would be told the token, or nobody who may make it */
	if (!asker_stands(&a))
		return;
	if (acc == NULL && account_unasked())
		answer(&a, NULL, ERR_TRY_AGAIN, NULL);
	else if (acc == NULL)
		answer(&a, NULL, ERR_INVALID_ARGUMENT, "no user %s who could "
		    "have sessions here", p->token.user);
	else {
		p->token.uid = acc->rights.uid;
		memcpy(p->token.user, acc->name, sizeof(p->token.user));
		create(&a, &p->token);
	}
}

static void
create_for(struct asker *a, const struct token *t)
{
	struct pending *p = pending;

	while (p < pending + PENDING_MAX && p->asker.owner != NULL)
		p++;
	if (p == pending + PENDING_MAX) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		return;
	}
	*p = (struct pending){ .asker = *a, .token = *t,
	    .serial = next_serial() };
	if (account_want_name(t->user, on_account, p->serial) == 0)
		return;
	p->asker.owner = NULL;
	answer(a, NULL, ERR_TRY_AGAIN, NULL);
}

int
spawn_on_token_create(struct msg *m)
{
	uint32_t flags = msg_get_u32(m);
	uint64_t life_s = msg_get_u64(m);
	struct token t = { .read_only = (flags & TOKEN_READ_ONLY) != 0 };
	struct asker a;

	msg_get_str(m, t.user, sizeof(t.user));
	msg_get_str(m, t.label, sizeof(t.label));
	if (msg_end(m) == -1 || life_s > LIFE_MAX_S ||
	    !asker_init(&a, m, "TOKEN create"))
		return -1;
	if (life_s > 0)
		t.expires = time(NULL) + (int64_t)life_s;
	if (!may_create(&a))
		return 0;
	if (t.user[0] == '\0' || strcmp(t.user, a.owner->name) == 0) {
		t.uid = a.owner->uid;
		memcpy(t.user, a.owner->name, sizeof(t.user));
		create(&a, &t);
	} else if (!asker_is_admin(&a))
		answer(&a, NULL, ERR_NOT_PERMITTED, "only administrators make "
		    "tokens for others (admin user NAME in the configuration)");
	else
		create_for(&a, &t);
	return 0;
}

/* -- list ----------------------------------------------------------------- */

static int
by_age(const void *a, const void *b)
{
	const struct token *s = *(const struct token *const *)a;
	const struct token *t = *(const struct token *const *)b;

	if (s->created != t->created)
		return s->created < t->created ? -1 : 1;
	return strcmp(s->id, t->id);
}

static void
send_rows(struct asker *a, const struct token *const *rows, size_t n)
{
	struct msg_out *o;
	size_t part, i;

	do {
		part = n < PART_ROWS ? n : PART_ROWS;
		o = answer_new(a, MSG_TOKEN_ROWS, NULL);
		msg_put_u32(o, (uint32_t)part);
		for (i = 0; i < part; i++)
			put_row(o, *rows++);
		n -= part;
		msg_put_u32(o, n > 0);
	} while (answer_with(a, o, -1) == 0 && n > 0);
}

int
spawn_on_token_list(struct msg *m)
{
	static const struct token *rows[TOKENS_MAX];
	const struct token *t;
	struct asker a;
	size_t n = 0;

	if (msg_end(m) == -1 || !asker_init(&a, m, "TOKEN list"))
		return -1;
	if (!permitted(&a))
		return 0;
	for (t = tokens_next(NULL); t != NULL; t = tokens_next(t))
		if (is_his(&a, t))
			rows[n++] = t;
	qsort(rows, n, sizeof(rows[0]), by_age);
	send_rows(&a, rows, n);
	return 0;
}

/* -- revoke --------------------------------------------------------------- */

int
spawn_on_token_revoke(struct msg *m)
{
	const struct token *found;
	char id[TOKEN_ID + 1];
	struct token t;
	struct asker a;

	msg_get_str(m, id, sizeof(id));
	if (msg_end(m) == -1 || !asker_init(&a, m, "TOKEN revoke"))
		return -1;
	if (!permitted(&a))
		return 0;
	found = tokens_find(id);
	if (found == NULL || !is_his(&a, found)) {
		answer(&a, NULL, ERR_NOT_FOUND, "no such token; TOKEN list "
		    "shows those that there are");
		return 0;
	}
	if (!in_time(&a))
		return 0;
	t = *found;
	client_end_token(t.id);
	if (tokens_revoke(id) == -1)
		answer(&a, NULL, ERR_INTERNAL, "token %s of %s is refused from "
		    "now on, but not after a restart of the daemon: its file "
		    "cannot be changed: %s", t.id, t.user,
		    strerrordesc_np(errno));
	else
		answer(&a, NULL, ERR_OK, "token %s of %s", t.id, t.user);
	return 0;
}
