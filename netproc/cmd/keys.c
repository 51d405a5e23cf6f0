/* SPDX-License-Identifier: ISC */
/* LOGIN, TICKET and KEYS: asked of the spawner. */
#include <string.h>

#include "command.h"
#include "keys.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/replica.h"

#define NS	1000000000LL

static void
key_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	a->key(c, a, &(struct key_answer){ .err = err == ERR_OK ?
	    ERR_INTERNAL : err, .msg = msg, .key = "", .read_only = "" });
}

void
key_ask(struct conn *c, enum key_kind kind, const struct sid *session,
    enum access access, bool rotate, key_fn fn)
{
	struct msg_out *o = ask_new(c, MSG_KEY_MAKE, session);
	struct ask how = { .fn = key_failed, .key = fn };

	if (session != NULL)
		how.session = *session;
	msg_put_u32(o, kind);
	msg_put_u32(o, access);
	msg_put_u32(o, rotate);
	ask_send(c, o, how);
}

void
key_end_ask(struct conn *c, ask_fn done)
{
	ask_send(c, ask_new(c, MSG_KEY_END, NULL),
	    (struct ask){ .fn = done });
}

int
net_on_key(struct msg *m)
{
	char key[KEY_TEXT + 1], read_only[KEY_TEXT + 1];
	struct key_answer a = { .err = ERR_OK, .msg = "", .key = key,
	    .read_only = read_only };
	struct conn *c = ask_find(m);
	struct ask how;

	msg_get_str(m, key, sizeof(key));
	msg_get_str(m, read_only, sizeof(read_only));
	a.expires = msg_get_u64(m);
	if (msg_end(m) == -1)
		return -1;
	if (c != NULL && ask_state(c)->key == NULL)
		return -1;
	if (c != NULL) {
		how = *ask_state(c);
		conn_enter(c, &mode_line);
		how.key(c, &how, &a);
	}
	explicit_bzero(key, sizeof(key));
	explicit_bzero(read_only, sizeof(read_only));
	if (c != NULL)
		conn_run(c);
	return 0;
}

/* -- the commands --------------------------------------------------------- */

/* So that it is in one place, which is wiped. */
static struct text *
begin_secret(void)
{
	struct text *t = answer_begin();

	(void)text_room(t, 1024);
	json_open(t, '{');
	return t;
}

static void
end_secret(struct conn *c, struct text *t)
{
	json_close(t, '}');
	conn_secret(c);
	answer_end(c);
	answer_wipe();
}

static void
expires_json(struct text *t, uint64_t s)
{
	char when[TIME_TEXT];

	json_key(t, "expires");
	if (s > 0 && s <= INT64_MAX / NS)
		json_text(t, time_text((int64_t)s * NS, false, when));
	else
		json_raw(t, "null");
}

static void
one_key(struct conn *c, const char *name, const struct key_answer *k)
{
	struct text *t;

	if (k->err != ERR_OK) {
		answer_error(c, k->err, k->msg);
		return;
	}
	t = begin_secret();
	json_key(t, name);
	json_text(t, k->key);
	expires_json(t, k->expires);
	end_secret(c, t);
}

static void
login_made(struct conn *c, struct ask *a, const struct key_answer *k)
{
	(void)a;
	one_key(c, "key", k);
}

static void
ticket_made(struct conn *c, struct ask *a, const struct key_answer *k)
{
	(void)a;
	one_key(c, "ticket", k);
}

static void
keys_made(struct conn *c, struct ask *a, const struct key_answer *k)
{
	struct text *t;

	(void)a;
	if (k->err != ERR_OK) {
		answer_error(c, k->err, k->msg);
		return;
	}
	t = begin_secret();
	json_key(t, "token");
	json_text(t, k->key);
	json_key(t, "read_only_token");
	json_text(t, k->read_only);
	end_secret(c, t);
}

void
cmd_login(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	if (word_is(&ws->w[1], "link"))
		key_ask(c, KEY_LOGIN, NULL, ACCESS_USE, false, login_made);
	else
		command_misused(c, ws, "it is link");
}

void
cmd_ticket(struct conn *c, struct rsession *s, const struct words *ws)
{
	bool ro = ws->n > 2 && (word_is(&ws->w[2], "ro") ||
	    word_is(&ws->w[2], "role=ro"));
	bool see = ro || !replica_may_use(c, s);

	if (ws->n > 2 && !ro && !word_is(&ws->w[2], "role=rw"))
		command_misused(c, ws, "a ticket's role is ro or rw");
	else
		key_ask(c, KEY_TICKET, &s->sid, see ? ACCESS_SEE : ACCESS_USE,
		    false, ticket_made);
}

void
cmd_keys(struct conn *c, struct rsession *s, const struct words *ws)
{
	if (ws->n > 2 && !word_is(&ws->w[2], "rotate"))
		command_misused(c, ws, "only rotate may follow the id");
	else
		key_ask(c, KEY_SESSION, &s->sid, ACCESS_USE, ws->n > 2,
		    keys_made);
}
