/* SPDX-License-Identifier: ISC */
/*
 * DEBUGGER.  Requests and answers are passed on unread: what a debugger says
 * is looked at only so far that it cannot be taken for anything but one JSON
 * object.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "commands.h"
#include "conn.h"
#include "debugger.h"
#include "jsonlex.h"
#include "replica.h"
#include "settings.h"

/* What was asked for, beside the request. */
struct wanted {
	bool		 start, list, use;
	struct word	 session, name, image, sandbox, network;
	struct word	 json;
};

/* -- the words ------------------------------------------------------------ */

static const struct {
	const char	*word;
	size_t		 at;
} flags[] = {
	{ "start", offsetof(struct wanted, start) },
	{ "list", offsetof(struct wanted, list) },
	{ "use", offsetof(struct wanted, use) },
}, options[] = {
	{ "session=", offsetof(struct wanted, session) },
	{ "name=", offsetof(struct wanted, name) },
	{ "image=", offsetof(struct wanted, image) },
	{ "sandbox=", offsetof(struct wanted, sandbox) },
	{ "network=", offsetof(struct wanted, network) },
};

static bool
take_flag(struct wanted *want, const struct word *w)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (word_is(w, flags[i].word)) {
			*(bool *)((char *)want + flags[i].at) = true;
			return true;
		}
	return false;
}

static bool
take_option(struct wanted *want, const struct word *w)
{
	struct word *to;
	size_t i, n;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		n = strlen(options[i].word);
		if (w->len <= n || memcmp(w->p, options[i].word, n) != 0)
			continue;
		to = (struct word *)((char *)want + options[i].at);
		*to = (struct word){ w->p + n, w->len - n };
		return true;
	}
	return false;
}

/* NULL, or what is wrong. */
static const char *
take_words(struct wanted *want, const struct words *ws)
{
	size_t i;

	for (i = 1; i < ws->n && i < WORDS_MAX; i++) {
		if (ws->w[i].p[0] == '{') {
			want->json = line_rest(ws, i);
			return NULL;
		}
		if (take_flag(want, &ws->w[i]) ||
		    take_option(want, &ws->w[i]))
			continue;
		if (want->session.len > 0)
			return "only one session can be named, and no such "
			    "word is known";
		want->session = ws->w[i];
	}
	return want->list ? NULL : "the request is missing: a JSON object";
}

struct choice {
	const char	*word;
	uint32_t	 value;
};
static const struct choice sandboxes[] = {
	{ "none", SANDBOX_NONE }, { "namespaces", SANDBOX_NAMESPACES },
	{ "tmpfs", SANDBOX_TMPFS }, { NULL, SANDBOX_DEFAULT }
};
static const struct choice networks[] = {
	{ "shared", NETWORK_SHARED }, { "none", NETWORK_NONE },
	{ NULL, NETWORK_DEFAULT }
};

/* False: a word that is none of them. */
static bool
choose(const struct choice *ch, const struct word *w, uint32_t *v)
{
	while (ch->word != NULL && !(w->len > 0 && word_is(w, ch->word)))
		ch++;
	*v = ch->value;
	return ch->word != NULL || w->len == 0;
}

/* -- answers -------------------------------------------------------------- */

static void
dbg_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

static void
answer_dbg(struct conn *c, bool failed, const char *p, size_t len)
{
	conn_enter(c, &mode_line);
	if (jsonlex_answer(p, len) != NULL)
		answer_error(c, ERR_DEBUGGER_REFUSED, "the debugger's answer "
		    "is no JSON object");
	else if (failed)
		answer_error_object(c, ERR_DEBUGGER_REFUSED, p, len);
	else {
		answer_open(c);
		conn_write(c, p, len);
		answer_close(c);
	}
	conn_run(c);
}

/* False without memory: the connection ends. */
static bool
keep_piece(struct ask *a, const char *p, size_t len)
{
	if (a->pieces == NULL)
		a->pieces = calloc(1, sizeof(*a->pieces));
	if (a->pieces == NULL)
		return false;
	a->pieces->max = DBG_ANSWER_MAX;
	text_put(a->pieces, p, len);
	return !a->pieces->bad;
}

int
net_on_dbg_answer(struct msg *m)
{
	struct conn *c = ask_find(m);
	uint32_t how = msg_get_u32(m);
	struct text *pieces;
	const char *p;
	size_t len;

	p = msg_get_rest(m, &len);
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	if (c->u.ask.fn != dbg_failed)
		return -1;
	pieces = c->u.ask.pieces;
	if ((how & DBG_MORE) == 0 && pieces == NULL) {
		answer_dbg(c, (how & DBG_FAILED) != 0, p, len);
		return 0;
	}
	if (!keep_piece(&c->u.ask, p, len)) {
		c->dead = true;
		conn_run(c);
		return 0;
	}
	if (how & DBG_MORE)
		return 0;
	/* leaving the mode would free it */
	pieces = c->u.ask.pieces;
	c->u.ask.pieces = NULL;
	answer_dbg(c, (how & DBG_FAILED) != 0, pieces->p, pieces->len);
	text_free(pieces);
	free(pieces);
	return 0;
}

/* The same shape, asked for in the same way. */
int
net_on_trc_answer(struct msg *m)
{
	return net_on_dbg_answer(m);
}

/* -- list ----------------------------------------------------------------- */

static const char *
phase_text(uint32_t phase)
{
	static const char *const names[DBG_PHASES] = {
		[DBG_IDLE] = "idle",
		[DBG_INITIALIZING] = "initializing",
		[DBG_CONFIGURING] = "configuring",
		[DBG_RUNNING] = "running",
		[DBG_STOPPED] = "stopped",
		[DBG_TERMINATED] = "terminated",
	};

	return phase < DBG_PHASES ? names[phase] : "unknown";
}

static void
text_or_null(struct text *t, const char *key, const char *s)
{
	json_key(t, key);
	if (s[0] != '\0')
		json_text(t, s);
	else
		json_raw(t, "null");
}

static void
state_json(struct text *t, const struct session_view *v)
{
	json_key(t, "state");
	json_text(t, phase_text(v->debugger_phase));
	text_or_null(t, "adapter", v->debugger_adapter);
	json_key(t, "current");
	json_raw(t, v->debugger_current ? "true" : "false");
}

void
debugger_json(struct text *t, const struct session_view *v)
{
	if (!v->debugger) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	state_json(t, v);
	json_close(t, '}');
}

static void
row_json(struct text *t, const struct rsession *s)
{
	const struct session_view *v = &s->view;

	json_open(t, '{');
	json_key(t, "session");
	json_text(t, s->id);
	text_or_null(t, "name", v->name);
	state_json(t, v);
	text_or_null(t, "program", v->cmd_len > 0 ? v->cmd : v->exec_path);
	json_key(t, "pid");
	if (v->pid > 0)
		json_u64(t, (uint64_t)v->pid);
	else
		json_raw(t, "null");
	json_key(t, "owner");
	json_text(t, v->owner_name);
	json_close(t, '}');
}

static void
list(struct conn *c)
{
	struct text *t = answer_begin();
	const struct sight *si;

	json_open(t, '[');
	TAILQ_FOREACH(si, &c->owner->sights, by_owner)
		if (si->session->view.debugger)
			row_json(t, si->session);
	json_close(t, ']');
	answer_end(c);
}

/* -- requests ------------------------------------------------------------- */

/* NULL, and *failed, when it is answered: there is no such session. */
static const struct sid *
find(struct conn *c, const struct word *w, bool *failed)
{
	struct rsession *s;
	uint32_t err;

	*failed = false;
	if (w->len == 0 || word_is(w, "-"))
		return NULL;
	s = replica_resolve(c->owner, w, &err);
	if (s != NULL)
		return &s->sid;
	*failed = true;
	answer_error(c, err, NULL);
	return NULL;
}

static void
send_start(struct conn *c, const struct words *ws, const struct wanted *want)
{
	char label[LABEL_MAX + 1] = "";
	uint32_t sandbox, network;
	const struct sid *sid;
	struct msg_out *o;
	bool failed;

	if (!choose(sandboxes, &want->sandbox, &sandbox) ||
	    !choose(networks, &want->network, &network) ||
	    want->name.len > LABEL_MAX) {
		command_misused(c, ws, "sandbox is none, namespaces or tmpfs, "
		    "network shared or none, a name at most 64 bytes");
		return;
	}
	if (want->name.len > 0)
		memcpy(label, want->name.p, want->name.len);
	sid = find(c, want->image.len > 0 ? &want->image : &want->session,
	    &failed);
	if (failed)
		return;
	o = ask_new(c, MSG_DBG_START, sid);
	msg_put_u32(o, sandbox);
	msg_put_u32(o, network);
	msg_put_str(o, label);
	msg_put_bytes(o, want->json.p, want->json.len);
	ask_send(c, o, (struct ask){ .fn = dbg_failed });
}

static void
send_ask(struct conn *c, const struct wanted *want)
{
	const struct sid *sid;
	struct msg_out *o;
	bool failed;

	sid = find(c, &want->session, &failed);
	if (failed)
		return;
	o = ask_new(c, MSG_DBG_ASK, sid);
	msg_put_u32(o, want->use);
	msg_put_bytes(o, want->json.p, want->json.len);
	ask_send(c, o, (struct ask){ .fn = dbg_failed });
}

void
cmd_debugger(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct wanted want;
	const char *why;
	bool failed;

	(void)s;
	memset(&want, 0, sizeof(want));
	why = take_words(&want, ws);
	/* whatever else is wrong: of others' sessions nothing is told */
	(void)find(c, &want.session, &failed);
	if (failed)
		return;
	if (why != NULL)
		command_misused(c, ws, why);
	else if (want.list)
		list(c);
	else if (want.json.len > DBG_REQUEST_MAX)
		answer_errorf(c, ERR_INVALID_ARGUMENT, "a request has at most "
		    "%d bytes", DBG_REQUEST_MAX);
	else if (jsonlex_answer(want.json.p, want.json.len) != NULL)
		answer_error(c, ERR_INVALID_JSON, "what follows DEBUGGER must "
		    "be one JSON object");
	else if (want.start)
		send_start(c, ws, &want);
	else
		send_ask(c, &want);
}
