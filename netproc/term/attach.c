/* SPDX-License-Identifier: ISC */
/* How clients come to a terminal; see the header. */
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "netproc/cmd/auth.h"
#include "netproc/cmd/command.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/terminal.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "termclient.h"
#include "termio.h"
#include "wire/role.h"

/* Messages that come before it is known who sends them. */
#define EARLY_MAX	(64 * 1024)

/* A WebSocket before it is attached. */
struct greeting {
	struct ws_ask	 ask;
	struct text	 early;		/* u32 length, u8 binary, bytes */
};

uint32_t
attach_refuses(const struct conn *c, const struct rsession *s,
    const char **why)
{
	*why = NULL;
	if (replica_access(c->owner, s) == ACCESS_NONE)
		return ERR_NOT_FOUND;
	if (!s->view.tty) {
		*why = "the session has no terminal: start it with --tty, or "
		    "follow what it writes";
		return ERR_INVALID_ARGUMENT;
	}
	if (term_count(s) >= settings.pty_max_clients)
		return ERR_MAX_CLIENTS;
	return ERR_OK;
}

static void
refuse(struct conn *c, enum term_form form, uint32_t err, const char *why)
{
	struct term_client cl = { .conn = c, .ask.form = form };

	/* not a terminal yet: the answer to a command */
	if (form == TERM_FRAMED) {
		answer_error(c, err, why);
		return;
	}
	if (why == NULL || why[0] == '\0')
		why = err_text(err);
	termio_error(&cl, err, why);
	ws_close(c->ws, err == ERR_INTERNAL ? WS_INTERNAL : WS_POLICY, why);
	conn_finish(c);
}

static void	hear_early(struct conn *);

static void
attach_now(struct conn *c, struct rsession *s, const struct term_ask *ask)
{
	const char *why;
	uint32_t err = attach_refuses(c, s, &why);

	if (err != ERR_OK) {
		refuse(c, ask->form, err, why);
		return;
	}
	if (ask->form == TERM_FRAMED && c->owner->guest)
		answer_guest(c, s);
	else if (ask->form == TERM_FRAMED)
		answer_text(c, replica_json(c, s));
	if (termclient_enter(c, s, ask))
		hear_early(c);
	else
		c->dead = true;
}

static void
started(struct conn *c, struct ask *a, uint32_t err, const char *message)
{
	struct rsession *s = replica_find(&a->session);

	/* somebody else may have been quicker */
	if (err != ERR_OK && err != ERR_ALREADY_RUNNING)
		refuse(c, a->term.form, err, message);
	else if (s == NULL)
		refuse(c, a->term.form, ERR_NOT_FOUND, NULL);
	else
		attach_now(c, s, &a->term);
}

static void
start(struct conn *c, const struct rsession *s, const struct term_ask *ask)
{
	/* may be the connection's own, which forgets it */
	struct term_ask how = *ask;
	struct msg_out *o = ask_new(c, MSG_START, &s->sid);

	msg_put_u32(o, START_TTY);
	msg_put_u32(o, SANDBOX_DEFAULT);
	msg_put_u32(o, NETWORK_DEFAULT);
	msg_put_u32(o, how.cols);
	msg_put_u32(o, how.rows);
	ask_send(c, o, (struct ask){ .fn = started, .session = s->sid,
	    .term = how });
}

void
attach_begin(struct conn *c, struct rsession *s, const struct term_ask *ask)
{
	bool writes = !ask->read_only && replica_may_use(c, s);

	if (s->view.command && s->view.tty && s->view.run == 0 &&
	    s->view.state == STATE_LOADED && writes)
		start(c, s, ask);
	else
		attach_now(c, s, ask);
}

/* -- ATTACH --------------------------------------------------------------- */

static const char *
attach_option(const struct word *w, struct term_ask *ask)
{
	struct word value = { w->p + 5, w->len - 5 };

	if (word_is(w, "ro")) {
		ask->read_only = true;
		return NULL;
	}
	if (w->len <= 5 || memcmp(w->p, "from=", 5) != 0)
		return terminal_size_option(w, &ask->cols, &ask->rows);
	ask->resume = true;
	return number_parse(&value, UINT64_MAX, &ask->from) == NULL ? NULL :
	    "from= is an offset, a plain decimal number";
}

static void
cmd_attach(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct term_ask ask = { .form = TERM_FRAMED };
	const char *why = NULL;
	size_t i;

	for (i = 2; why == NULL && i < ws->n; i++)
		why = attach_option(&ws->w[i], &ask);
	if (why != NULL)
		command_misused(c, ws, why);
	else
		attach_begin(c, s, &ask);
}

/* -- WebSockets ----------------------------------------------------------- */

static const struct conn_mode	mode_greeting;

static size_t
ws_take(void *arg, void *buf, size_t len)
{
	struct conn *c = arg;
	struct term_client *cl = termclient_of(c);
	const char *p;
	size_t n;

	if (cl == NULL ? c->mode != &mode_greeting : !term_has_room(cl))
		return 0;
	n = conn_unused(c, &p);
	if (n > len)
		n = len;
	if (n == 0)
		return 0;
	memcpy(buf, p, n);
	conn_skip(c, n);
	if (cl != NULL)
		cl->heard_ms = loop_now_ms();
	return n;
}

static void
ws_give(void *arg, const void *p, size_t n)
{
	conn_write(arg, p, n);
}

/* Keeps messages that follow the token until the token is known to be good. */
static void
keep_early(struct conn *c, bool binary, const void *p, size_t n)
{
	struct greeting *g = c->greeting;
	uint32_t len = (uint32_t)n;
	uint8_t kind = binary;

	text_put(&g->early, &len, sizeof(len));
	text_put(&g->early, &kind, sizeof(kind));
	text_put(&g->early, p, n);
	if (g->early.bad)
		ws_close(c->ws, WS_POLICY, "too much data before the client "
		    "was identified");
}

static void
hear_early(struct conn *c)
{
	struct greeting *g = c->greeting;
	struct term_client *cl = termclient_of(c);
	const char *p, *end;
	uint32_t len;

	if (g == NULL || cl == NULL)
		return;
	for (p = g->early.p, end = p + g->early.len; p < end; p += len) {
		memcpy(&len, p, sizeof(len));
		p += sizeof(len) + 1;
		termio_message(cl, p[-1] != 0, p, len);
	}
	text_reset(&g->early, 0);
}

static void
authed(struct conn *c, struct ask *a, uint32_t err, const char *message)
{
	const struct ws_ask *ask = &c->greeting->ask;
	struct word name = { ask->session, strlen(ask->session) };
	struct rsession *s;

	(void)a;
	if (err == ERR_OK && !c->by_token)
		err = ERR_INTERNAL;
	if (err != ERR_OK) {
		refuse(c, ask->term.form, err, message);
		return;
	}
	s = replica_resolve(c, &name, &err);
	if (s == NULL)
		refuse(c, ask->term.form, err, replica_why(c, &name, err));
	else
		attach_begin(c, s, &ask->term);
}

/* The first message brings the token. */
static void
greet(struct conn *c, bool binary, const void *p, size_t n)
{
	enum term_form form = c->greeting->ask.term.form;
	struct term_msg m;
	const char *why;

	if (binary != (form == TERM_WS_BINARY)) {
		ws_close(c->ws, WS_UNSUPPORTED, "not in the form of this "
		    "subprotocol");
		return;
	}
	why = binary ? termmsg_parse(p, n, &m) :
	    termmsg_parse_json(p, n, &m);
	if (why != NULL || m.type != TERM_TOKEN || m.len > AUTH_MAX)
		refuse(c, form, ERR_AUTH_REQUIRED, why != NULL ? why :
		    "the first message must contain a token");
	else
		auth_ask(c, m.p, m.len, authed);
	termmsg_wipe();
}

static void
ws_message(void *arg, bool binary, const uint8_t *p, size_t n)
{
	struct conn *c = arg;
	struct term_client *cl = termclient_of(c);

	if (cl != NULL)
		termio_message(cl, binary, p, n);
	else if (c->mode == &mode_greeting)
		greet(c, binary, p, n);
	else
		keep_early(c, binary, p, n);
}

static const struct ws_calls calls = { ws_take, ws_give, ws_message };

static bool
greeting_step(struct conn *c)
{
	if (!ws_read(c->ws) && c->mode == &mode_greeting)
		conn_finish(c);
	return c->mode != &mode_greeting;
}

static void
greeting_expired(struct conn *c)
{
	refuse(c, c->greeting->ask.term.form, ERR_AUTH_REQUIRED,
	    "no token arrived in time");
}

static const struct conn_mode mode_greeting = {
	.name = "greeting",
	.clock = CLOCK_LINE,
	.ends_at_eof = true,
	.step = greeting_step,
	.expired = greeting_expired,
};

bool
ws_farewell(struct conn *c)
{
	if (c->ws == NULL)
		return false;
	ws_close(c->ws, WS_GOING_AWAY, "the daemon is being stopped, or a "
	    "part of it restarted");
	conn_finish(c);
	return true;
}

static void
ws_end(struct conn *c)
{
	ws_free(c->ws);
	if (c->greeting == NULL)
		return;
	if (c->greeting->ask.done != NULL)
		c->greeting->ask.done(c->greeting->ask.arg);
	if (c->greeting->early.p != NULL)
		explicit_bzero(c->greeting->early.p, c->greeting->early.len);
	text_free(&c->greeting->early);
	free(c->greeting);
}

static void
welcome(struct conn *c)
{
	const struct ws_ask *ask = &c->greeting->ask;
	struct word name = { ask->session, strlen(ask->session) };
	struct rsession *s;
	uint32_t err;

	conn_enter(c, &mode_greeting);
	c->due_ms = loop_now_ms() + settings.line_timeout * 1000;
	if (c->unauthenticated)
		return;
	s = replica_resolve(c, &name, &err);
	if (s == NULL)
		refuse(c, ask->term.form, err, replica_why(c, &name, err));
	else
		attach_begin(c, s, &ask->term);
}

void
ws_begin(struct conn *c, int fd, const void *extra, size_t n,
    const struct ws_ask *ask)
{
	c->ws = ws_new(&calls, c);
	c->greeting = calloc(1, sizeof(*c->greeting));
	if (c->greeting != NULL) {
		c->greeting->ask = *ask;
		c->greeting->early.max = EARLY_MAX;
	} else if (ask->done != NULL)
		ask->done(ask->arg);
	if (!conn_adopt(c, fd, extra, n) || c->ws == NULL ||
	    c->greeting == NULL)
		c->dead = true;
	else
		welcome(c);
	conn_run(c);
}

void
attach_init(void)
{
	static const struct command row = {
		.verb = "ATTACH",
		.min = 1,
		.max = 5,
		.session = true,
		.extension = true,
		.need = ACCESS_SEE,
		.guest = true,
		.params = params_attach,
		.usage = "ATTACH <id> [from=<offset>] [ro] [cols=<n>] "
		    "[rows=<n>]",
		.description = "attaches to the session's terminal; after the "
		    "answer the connection carries lantern.bin.v1",
		.run = cmd_attach,
	};

	command_add(&row, 1);
	conn_at_end(ws_end);
}
