/* SPDX-License-Identifier: ISC */
/*
 * NEW, RESIZE, and INPUT where the program has a terminal: its master stays
 * with the spawner, which is given what is typed piece by piece.
 */
#include <string.h>

#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "payload.h"
#include "terminal.h"
#include "wire/settings.h"

/* Others' input goes first: so soon it is worth another try. */
#define BUSY_MS		20

/* -- NEW ------------------------------------------------------------------ */

struct new {
	uint32_t	 flags, cols, rows;
	enum new_start	 start;
	struct word	 label, cwd;
	char		 env[ENV_MAX_BYTES];	/* KEY=VALUE, each with a NUL */
	size_t		 env_len;
};

static bool
begins(const struct word *w, const char *with, struct word *rest)
{
	size_t n = strlen(with);

	if (w->len < n || memcmp(w->p, with, n) != 0)
		return false;
	*rest = (struct word){ w->p + n, w->len - n };
	return true;
}

const char *
terminal_size_option(const struct word *w, uint32_t *cols, uint32_t *rows)
{
	struct word value;
	uint64_t n;
	bool is_cols = begins(w, "cols=", &value);

	if (!is_cols && !begins(w, "rows=", &value))
		return "there is no such option";
	if (number_parse(&value, UINT32_MAX, &n) != NULL)
		return "columns and rows are plain decimal numbers";
	*(is_cols ? cols : rows) = (uint32_t)n;
	return NULL;
}

/* Adds a variable, or those of a JSON request, each with its NUL. */
static const char *
add_env(struct new *n, struct word w)
{
	const char *why, *nul;
	struct word one;
	size_t eq;

	for (; w.len > 0; w.p += one.len + 1, w.len -= one.len + 1) {
		nul = memchr(w.p, '\0', w.len);
		one = (struct word){ w.p, nul == NULL ? w.len :
		    (size_t)(nul - w.p) };
		why = env_check(&one, &eq);
		if (why != NULL)
			return why;
		if (one.len + 1 > sizeof(n->env) - n->env_len)
			return "the variables are too long";
		memcpy(n->env + n->env_len, one.p, one.len);
		n->env[n->env_len + one.len] = '\0';
		n->env_len += one.len + 1;
		if (nul == NULL)
			break;
	}
	return NULL;
}

static const char *
start_option(struct new *n, const struct word *w)
{
	n->start = word_is(w, "now") ? NEW_NOW : NEW_AT_ATTACH;
	return n->start == NEW_NOW || word_is(w, "attach") ? NULL :
	    "start= is now or attach";
}

static const char *
new_option(struct new *n, const struct word *w)
{
	struct word value;

	if (word_is(w, "tty"))
		n->flags |= NEW_TTY;
	else if (word_is(w, "ephemeral"))
		n->flags |= NEW_EPHEMERAL;
	else if (begins(w, "name=", &value))
		n->label = value;
	else if (begins(w, "cwd=", &value))
		n->cwd = value;
	else if (begins(w, "env=", &value))
		return add_env(n, value);
	else if (begins(w, "start=", &value))
		return start_option(n, &value);
	else
		return terminal_size_option(w, &n->cols, &n->rows);
	return NULL;
}

static const char *
new_options(struct new *n, const struct words *ws, size_t *i)
{
	const char *why = NULL;

	for (*i = 1; why == NULL && *i < ws->n; (*i)++) {
		if (*i == WORDS_MAX)
			return "there are too many options";
		if (word_is(&ws->w[*i], "--"))
			break;
		why = new_option(n, &ws->w[*i]);
	}
	(*i)++;
	if (n->cwd.len >= EXEC_PATH_MAX)
		return "the working directory's path is too long";
	return why;
}

static void
started(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err == ERR_OK)
		answer_session(c, &a->session);
	else
		answer_error(c, err, msg);
}

static void
made(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err == ERR_OK && a->start == NEW_NOW)
		terminal_start(c, &a->session, started);
	else
		started(c, a, err, msg);
}

void
terminal_start(struct conn *c, const struct sid *sid, ask_fn fn)
{
	struct sid session = *sid;
	struct msg_out *o = ask_new(c, MSG_START, &session);

	msg_put_u32(o, 0);
	msg_put_u32(o, SANDBOX_DEFAULT);
	msg_put_u32(o, NETWORK_DEFAULT);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	ask_send(c, o, (struct ask){ .fn = fn, .session = session });
}

void
terminal_new(struct conn *c, const struct words *ws, uint32_t flags,
    ask_fn fn)
{
	static struct new n;
	static char vec[ARGS_MAX_BYTES];
	struct word rest;
	struct msg_out *o;
	size_t i, len = 0;
	const char *why;

	memset(&n, 0, sizeof(n));
	why = new_options(&n, ws, &i);
	if (why != NULL) {
		command_misused(c, ws, why);
		return;
	}
	rest = line_rest(ws, i);
	why = args_split(&rest, vec, sizeof(vec), &len);
	if (why != NULL || n.label.len > LABEL_MAX) {
		answer_error(c, why != NULL ? ERR_INVALID_ARGS :
		    ERR_INVALID_NAME, why);
		return;
	}
	o = ask_new(c, MSG_NEW, NULL);
	msg_put_u32(o, n.flags | flags);
	msg_put_u32(o, n.cols);
	msg_put_u32(o, n.rows);
	msg_put_blob(o, n.label.p, n.label.len);
	msg_put_blob(o, n.cwd.p, n.cwd.len);
	msg_put_blob(o, vec, len);
	msg_put_blob(o, n.env, n.env_len);
	ask_send(c, o, (struct ask){ .fn = fn, .start = n.start });
}

void
cmd_new(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	terminal_new(c, ws, 0, made);
}

/* -- RESIZE --------------------------------------------------------------- */

void
cmd_resize(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint64_t cols, rows;
	struct msg_out *o;

	if (number_parse(&ws->w[2], UINT32_MAX, &cols) != NULL ||
	    number_parse(&ws->w[3], UINT32_MAX, &rows) != NULL) {
		command_misused(c, ws,
		    "columns and rows are plain decimal numbers");
		return;
	}
	o = ask_new(c, MSG_RESIZE, &s->sid);
	msg_put_u32(o, (uint32_t)cols);
	msg_put_u32(o, (uint32_t)rows);
	ask_session(c, o, &s->sid);
}

/* -- MARK ----------------------------------------------------------------- */

static void
mark_refused(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
cmd_mark(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	ask_send(c, ask_new(c, MSG_TTY_MARK, &s->sid),
	    (struct ask){ .fn = mark_refused, .session = s->sid });
}

static void
mark_json(struct conn *c, const struct sid *sid, const struct tty_mark *m)
{
	struct text *t = answer_begin();
	char id[ID_TEXT];

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, id_text(sid, id));
	json_key(t, "offset");
	json_u64(t, m->offset);
	json_key(t, "cols");
	json_u64(t, m->cols);
	json_key(t, "rows");
	json_u64(t, m->rows);
	json_key(t, "preamble");
	json_string(t, m->preamble, m->len);
	json_close(t, '}');
	answer_end(c);
}

int
net_on_tty_marked(struct msg *m)
{
	struct conn *c = ask_find(m);
	struct tty_mark mark = { .offset = msg_get_u64(m) };
	struct ask a;

	mark.cols = msg_get_u32(m);
	mark.rows = msg_get_u32(m);
	mark.preamble = msg_get_blob(m, &mark.len);
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL) {
		c = conn_find(m->hdr.conn);
		if (c != NULL && c->mode->marked != NULL) {
			c->mode->marked(c, m->hdr.request, &mark);
			conn_run(c);
		}
		return 0;
	}
	if (ask_state(c)->fn != mark_refused)
		return -1;
	a = *ask_state(c);
	conn_enter(c, &mode_line);
	mark_json(c, &a.session, &mark);
	conn_run(c);
	return 0;
}

/* -- INPUT ---------------------------------------------------------------- */

static bool	typing_step(struct conn *);
static void	typing_expired(struct conn *);

static const struct conn_mode mode_typing = {
	.name = "typing",
	.clock = CLOCK_LINE,
	.payload = true,
	.step = typing_step,
	.expired = typing_expired,
};

static void
type_on(struct conn *c, const struct sid *sid, uint64_t left)
{
	struct sid session = *sid;

	conn_enter(c, &mode_typing);
	payload_state(c)->fd = -1;
	payload_state(c)->session = session;
	payload_state(c)->left = left;
}

static void
typed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err == ERR_OK) {
		conn_skip(c, a->typed);
		type_on(c, &a->session, a->size - a->typed);
	} else if (err == ERR_BUSY) {
		type_on(c, &a->session, a->size);
		c->stalled = true;
		c->due_ms = loop_now_ms() + BUSY_MS;
	} else
		payload_refuse(c, err, msg, a->size);
}

static void
ask_typed(struct conn *c, const struct sid *sid, const char *p, size_t n,
    uint64_t left)
{
	struct sid session = *sid;
	struct msg_out *o = ask_new(c, MSG_TTY_INPUT, &session);

	msg_put_bytes(o, p, n);
	ask_send(c, o, (struct ask){ .fn = typed, .session = session,
	    .size = left, .typed = (uint32_t)n });
}

static void
typing_expired(struct conn *c)
{
	c->stalled = false;
	c->due_ms = 0;
}

static bool
typing_step(struct conn *c)
{
	struct payload *u = payload_state(c);
	struct sid sid = u->session;
	const char *p;
	size_t n = conn_unused(c, &p);

	if (u->left == 0) {
		conn_enter(c, &mode_line);
		answer_session(c, &sid);
		return true;
	}
	if (c->stalled)
		return false;
	if (n == 0) {
		c->dead |= c->eof;
		return false;
	}
	if (n > u->left)
		n = (size_t)u->left;
	ask_typed(c, &sid, p, n < TTY_INPUT_MAX ? n : TTY_INPUT_MAX, u->left);
	return true;
}

void
terminal_input(struct conn *c, struct rsession *s, uint64_t size)
{
	/* nothing at all is enough to be told whether it could be typed */
	if (size == 0)
		ask_typed(c, &s->sid, "", 0, 0);
	else
		type_on(c, &s->sid, size);
}
