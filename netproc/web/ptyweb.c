/* SPDX-License-Identifier: ISC */
/* Terminals as small clients want them; see the header. */
#include "netproc/cmd/keys.h"
#include "netproc/cmd/session_cmds.h"
#include "netproc/cmd/terminal.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "ptyweb.h"

/* A session as it is shown here; the object stays open. */
static void
begin_json(struct text *t, const struct rsession *s)
{
	const struct session_view *v = &s->view;
	char when[TIME_TEXT];

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, s->id);
	json_key(t, "pid");
	if (v->pid > 0)
		json_u64(t, (uint64_t)v->pid);
	else
		json_raw(t, "null");
	json_key(t, "cols");
	json_u64(t, v->cols);
	json_key(t, "rows");
	json_u64(t, v->rows);
	if (v->name[0] != '\0') {
		json_key(t, "name");
		json_text(t, v->name);
	}
	json_key(t, "createdAt");
	json_text(t, time_text(v->created_ns, false, when));
	json_key(t, "state");
	json_text(t, state_text(v->state));
}

/* -- POST ----------------------------------------------------------------- */

/* It shall not stay behind when its maker is told that it failed. */
static void
take_back(struct conn *c, const struct sid *sid)
{
	(void)chan_send(&spawner_chan, ask_new(c, MSG_DELETE, sid), -1);
}

static void
keyed(struct conn *c, struct ask *a, const struct key_answer *k)
{
	const struct rsession *s = replica_find(&a->session);
	struct text *t;

	if (k->err != ERR_OK || s == NULL) {
		answer_error(c, s == NULL ? ERR_NOT_FOUND : k->err, k->msg);
		return;
	}
	t = answer_begin();
	/* a text that grew would leave a key where it was */
	(void)text_room(t, 4096);
	begin_json(t, s);
	json_key(t, "token");
	json_text(t, k->key);
	json_key(t, "readOnlyToken");
	json_text(t, k->read_only);
	json_close(t, '}');
	conn_secret(c);
	answer_end(c);
	answer_wipe();
}

static void
started(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err != ERR_OK) {
		take_back(c, &a->session);
		answer_error(c, err, msg);
		return;
	}
	key_ask(c, KEY_SESSION, &a->session, ACCESS_USE, false, keyed);
}

static void
created(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err != ERR_OK)
		answer_error(c, err, msg);
	else if (a->start == NEW_AT_ATTACH)
		started(c, a, ERR_OK, "");
	else
		terminal_start(c, &a->session, started);
}

void
pty_create(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	terminal_new(c, ws, NEW_TTY | NEW_EPHEMERAL, created);
}

/* -- GET ------------------------------------------------------------------ */

void
pty_list(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct text *t = answer_begin();
	const struct visible_session *g;

	(void)s;
	(void)ws;
	json_open(t, '[');
	TAILQ_FOREACH(g, &c->owner->visible, by_owner) {
		if (!g->session->view.tty)
			continue;
		begin_json(t, g->session);
		json_close(t, '}');
	}
	json_close(t, ']');
	answer_end(c);
}

/* -- DELETE --------------------------------------------------------------- */

static void
killed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	struct sid sid = a->session;

	/* it may have ended by itself meanwhile */
	if (err == ERR_OK || err == ERR_NOT_RUNNING)
		ask_send(c, ask_new(c, MSG_DELETE, &sid),
		    (struct ask){ .fn = delete_done, .session = sid });
	else
		answer_error(c, err, msg);
}

void
pty_delete(struct conn *c, struct rsession *s, const struct words *ws)
{
	bool alive = (s->view.state & STATE_ALIVE) != 0;
	struct sid sid = s->sid;

	(void)ws;
	/* what GET does not show here is not ended from here either */
	if (!s->view.tty) {
		answer_error(c, ERR_NOT_FOUND, "the session has no terminal; "
		    "it is in /api/v1/sessions");
		return;
	}
	ask_send(c, ask_new(c, alive ? MSG_KILL : MSG_DELETE, &sid),
	    (struct ask){ .fn = alive ? killed : delete_done, .session = sid });
}
