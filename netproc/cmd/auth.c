/* SPDX-License-Identifier: ISC */
/* AUTH and WHOAMI: the spawner alone knows tokens. */
#include <string.h>

#include "auth.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/replica.h"

void
identity_json(struct text *t, const struct conn *c)
{
	json_key(t, "user");
	json_text(t, c->owner->name);
	json_key(t, "read_only");
	json_raw(t, c->read_only ? "true" : "false");
	json_key(t, "admin");
	json_raw(t, c->owner->admin ? "true" : "false");
}

static void
auth_done(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	struct text *t;

	(void)a;
	/* the spawner's leave is AUTHED and no RESULT */
	if (err == ERR_OK && !c->by_token)
		err = ERR_INTERNAL;
	if (err != ERR_OK) {
		answer_error(c, err, msg);
		conn_finish(c);
		return;
	}
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "ok");
	json_raw(t, "true");
	identity_json(t, c);
	json_close(t, '}');
	answer_end(c);
}

void
auth_ask(struct conn *c, const char *secret, size_t len, ask_fn done)
{
	struct msg_out *o = ask_new(c, MSG_AUTH, NULL);

	msg_put_blob(o, secret, len);
	ask_send(c, o, (struct ask){ .fn = done, .auth = true });
	msg_out_wipe(o);
}

void
cmd_auth(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct word *token = &ws->w[1];

	(void)s;
	if (c->spoke) {
		conn_wipe(c);
		answer_error(c, ERR_INVALID_ARGUMENT, "AUTH must be the first "
		    "line of a connection");
		return;
	}
	if (token->len > AUTH_MAX) {
		conn_wipe(c);
		answer_error(c, ERR_AUTH_FAILED, NULL);
		conn_finish(c);
		return;
	}
	auth_ask(c, token->p, token->len, auth_done);
	/* the line shall not hold it any longer */
	conn_wipe(c);
}

int
net_on_authed(struct msg *m)
{
	uint32_t uid = msg_get_u32(m), flags = msg_get_u32(m);
	struct conn *c = ask_find(m);
	char name[USER_NAME_MAX];

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	if (!ask_state(c)->auth)
		return -1;
	if (identity_set(c, uid, flags, name))
		ask_done(c, ERR_OK, NULL);
	else {
		c->by_token = false;
		ask_done(c, ERR_MAX_CONNECTIONS, NULL);
	}
	conn_run(c);
	return 0;
}

/* -- WHOAMI ---------------------------------------------------------------- */

static void
whoami_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
cmd_whoami(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	ask_send(c, ask_new(c, MSG_WHOAMI, NULL),
	    (struct ask){ .fn = whoami_failed });
}

int
net_on_identity(struct msg *m)
{
	char door[16], address[ADDRESS_TEXT], token[16];
	struct conn *c = ask_find(m);
	struct text *t;

	msg_get_str(m, door, sizeof(door));
	msg_get_str(m, address, sizeof(address));
	msg_get_str(m, token, sizeof(token));
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	if (ask_state(c)->fn != whoami_failed)
		return -1;
	conn_enter(c, &mode_line);
	t = answer_begin();
	json_open(t, '{');
	identity_json(t, c);
	json_key(t, "uid");
	json_u64(t, c->owner->uid);
	json_key(t, "door");
	json_text(t, door);
	json_key(t, "address");
	json_text(t, address);
	json_key(t, "token");
	if (token[0] == '\0')
		json_raw(t, "null");
	else
		json_text(t, token);
	if (c->port != NULL)
		c->port->whoami(c, t);
	json_close(t, '}');
	answer_end(c);
	conn_run(c);
	return 0;
}
