/* SPDX-License-Identifier: ISC */
/* Requests to what stands beside a session; see the header. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "instrument.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/instjson.h"
#include "netproc/conn/replica.h"
#include "netproc/text/jsonlex.h"
#include "wire/settings.h"

/* Options of a command, beside the request. */
struct wanted {
	bool		 start, list, use;
	struct word	 session, name, image, sandbox, network;
	struct word	 json;
};

/* -- the words ------------------------------------------------------------ */

static const struct {
	const char	*word;
	size_t		 at;
	unsigned int	 of;		/* INSTRUMENT_*; 0 = everybody's */
} flags[] = {
	{ "start", offsetof(struct wanted, start), 0 },
	{ "list", offsetof(struct wanted, list), 0 },
	{ "use", offsetof(struct wanted, use), INSTRUMENT_USE },
}, options[] = {
	{ "session=", offsetof(struct wanted, session), 0 },
	{ "name=", offsetof(struct wanted, name), 0 },
	{ "image=", offsetof(struct wanted, image), INSTRUMENT_IMAGE },
	{ "sandbox=", offsetof(struct wanted, sandbox), 0 },
	{ "network=", offsetof(struct wanted, network), 0 },
};

static bool
is_of(const struct instrument *in, unsigned int of)
{
	return of == 0 || (in->words & of) != 0;
}

static bool
take_flag(const struct instrument *in, struct wanted *want,
    const struct word *w)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (is_of(in, flags[i].of) && word_is(w, flags[i].word)) {
			*(bool *)((char *)want + flags[i].at) = true;
			return true;
		}
	return false;
}

static bool
take_option(const struct instrument *in, struct wanted *want,
    const struct word *w)
{
	struct word *to;
	size_t i, n;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		n = strlen(options[i].word);
		if (!is_of(in, options[i].of) || w->len <= n ||
		    memcmp(w->p, options[i].word, n) != 0)
			continue;
		to = (struct word *)((char *)want + options[i].at);
		*to = (struct word){ w->p + n, w->len - n };
		return true;
	}
	return false;
}

/* NULL, or what is wrong. */
static const char *
take_words(const struct instrument *in, struct wanted *want,
    const struct words *ws)
{
	size_t i;

	for (i = 1; i < ws->n && i < WORDS_MAX; i++) {
		if (ws->w[i].p[0] == '{') {
			want->json = line_rest(ws, i);
			return NULL;
		}
		if (take_flag(in, want, &ws->w[i]) ||
		    take_option(in, want, &ws->w[i]))
			continue;
		if (want->session.len > 0)
			return "unexpected word; name one session at most";
		want->session = ws->w[i];
	}
	return want->list ? NULL : "missing request (a JSON object)";
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
ask_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

/* Passes the answer as it came to the client that sent the command. */
static void
answer_plain(struct conn *c, const struct instrument *in, bool failed,
    const char *why, const struct word *json)
{
	if (why != NULL)
		answer_error(c, in->refused, why);
	else if (failed)
		answer_error_object(c, in->refused, json->p, json->len);
	else {
		answer_open(c);
		conn_write(c, json->p, json->len);
		answer_close(c);
	}
}

static void
answer_whole(struct conn *c, bool failed, const char *p, size_t len)
{
	const struct instrument *in = ask_state(c)->of;
	instrument_fn passed = ask_state(c)->passed;
	const struct word json = { p, len };

	conn_enter(c, &mode_line);
	passed(c, in, failed, jsonlex_answer(p, len) == NULL ? NULL :
	    "its answer is not a JSON object", &json);
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
	a->pieces->max = a->of->answer_max;
	text_put(a->pieces, p, len);
	return !a->pieces->bad;
}

int
net_on_inst_answer(struct msg *m)
{
	struct conn *c = ask_find(m);
	uint32_t type = msg_get_u32(m), how = msg_get_u32(m);
	const struct instrument *in;
	struct text *pieces;
	const char *p;
	size_t len;

	p = msg_get_rest(m, &len);
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	in = ask_state(c)->of;
	if (in == NULL || (uint32_t)in->type != type)
		return -1;
	pieces = ask_state(c)->pieces;
	if ((how & INST_MORE) == 0 && pieces == NULL) {
		answer_whole(c, (how & INST_FAILED) != 0, p, len);
		return 0;
	}
	if (!keep_piece(ask_state(c), p, len)) {
		c->dead = true;
		conn_run(c);
		return 0;
	}
	if (how & INST_MORE)
		return 0;
	/* leaving the mode would free it */
	pieces = ask_state(c)->pieces;
	ask_state(c)->pieces = NULL;
	answer_whole(c, (how & INST_FAILED) != 0, pieces->p, pieces->len);
	text_free(pieces);
	free(pieces);
	return 0;
}

/* -- list ----------------------------------------------------------------- */

static void
row_json(struct text *t, const struct instrument *in,
    const struct rsession *s)
{
	const struct session_view *v = &s->view;

	json_open(t, '{');
	json_key(t, "session");
	json_text(t, s->id);
	text_or_null(t, "name", v->name);
	in->state(t, v);
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

void
instrument_list(struct conn *c, const struct instrument *in)
{
	struct text *t = answer_begin();
	const struct visible_session *si;

	json_open(t, '[');
	TAILQ_FOREACH(si, &c->owner->visible, by_owner)
		if (in->has(&si->session->view))
			row_json(t, in, si->session);
	json_close(t, ']');
	answer_end(c);
}

/* -- requests ------------------------------------------------------------- */

void
instrument_start(struct conn *c, const struct instrument *in,
    const struct sid *sid, const struct instrument_start *how,
    const struct word *request, instrument_fn passed, ask_fn failed)
{
	struct msg_out *o = ask_new(c, MSG_INST_START, sid);

	msg_put_u32(o, in->type);
	msg_put_u32(o, how->sandbox);
	msg_put_u32(o, how->network);
	msg_put_str(o, how->name);
	msg_put_bytes(o, request->p, request->len);
	ask_send(c, o, (struct ask){ .fn = failed, .of = in,
	    .passed = passed });
}

void
instrument_ask(struct conn *c, const struct instrument *in,
    const struct sid *sid, bool use, const struct word *request,
    instrument_fn passed, ask_fn failed)
{
	struct msg_out *o = ask_new(c, MSG_INST_ASK, sid);

	msg_put_u32(o, in->type);
	msg_put_u32(o, use);
	msg_put_bytes(o, request->p, request->len);
	ask_send(c, o, (struct ask){ .fn = failed, .of = in,
	    .passed = passed });
}

/* NULL, and *failed, when it is answered: there is no such session. */
static const struct sid *
find(struct conn *c, const struct word *w, bool *failed)
{
	struct rsession *s;
	uint32_t err;

	*failed = false;
	if (w->len == 0 || word_is(w, "-"))
		return NULL;
	s = replica_resolve(c, w, &err);
	if (s != NULL)
		return &s->sid;
	*failed = true;
	answer_error(c, err, replica_why(c, w, err));
	return NULL;
}

static void
send_start(struct conn *c, const struct instrument *in,
    const struct words *ws, const struct wanted *want)
{
	char label[LABEL_MAX + 1] = "";
	struct instrument_start how = { .name = label };
	const struct sid *sid;
	bool failed;

	if (!choose(sandboxes, &want->sandbox, &how.sandbox) ||
	    !choose(networks, &want->network, &how.network) ||
	    want->name.len > LABEL_MAX) {
		command_misused(c, ws, "sandbox is none, namespaces or tmpfs, "
		    "network shared or none, a name at most 64 bytes");
		return;
	}
	if (want->name.len > 0)
		memcpy(label, want->name.p, want->name.len);
	sid = find(c, want->image.len > 0 ? &want->image : &want->session,
	    &failed);
	if (!failed)
		instrument_start(c, in, sid, &how, &want->json, answer_plain,
		    ask_failed);
}

static void
send_ask(struct conn *c, const struct instrument *in,
    const struct wanted *want)
{
	const struct sid *sid;
	bool failed;

	sid = find(c, &want->session, &failed);
	if (!failed)
		instrument_ask(c, in, sid, want->use, &want->json,
		    answer_plain, ask_failed);
}

void
instrument_command(struct conn *c, const struct words *ws,
    const struct instrument *in)
{
	struct wanted want;
	const char *why;
	bool failed;

	memset(&want, 0, sizeof(want));
	why = take_words(in, &want, ws);
	/* whatever else is wrong: of others' sessions nothing is told */
	(void)find(c, &want.session, &failed);
	if (failed)
		return;
	if (why != NULL)
		command_misused(c, ws, why);
	else if (want.list)
		instrument_list(c, in);
	else if (want.json.len > INST_REQUEST_MAX)
		answer_errorf(c, ERR_INVALID_ARGUMENT, "a request has at most "
		    "%d bytes", INST_REQUEST_MAX);
	else if (jsonlex_passed(want.json.p, want.json.len) != NULL)
		answer_errorf(c, ERR_INVALID_JSON, "%s must be followed by one "
		    "JSON object", in->verb);
	else if (want.start)
		send_start(c, in, ws, &want);
	else
		send_ask(c, in, &want);
}
