/* SPDX-License-Identifier: ISC */
/* The port between a struct conn and the HTTP request that it works on. */
#include <sys/epoll.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "netproc/cmd/commands.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/replica.h"
#include "webanswer.h"
#include "webargs.h"
#include "webreq.h"

/* An answer that is not whole is held up to here; then conn waits. */
#define HOLD_MAX	((size_t)256 * 1024)
#define HOLD_KEEP	(64 * 1024)

static struct web_req *
req_of(const struct conn *c)
{
	const struct web *w = c->port_arg;

	return w == NULL ? NULL : w->req;
}

static bool	is_between(const struct web_req *);

/* -- bytes ---------------------------------------------------------------- */

static ssize_t
port_take(struct conn *c, void *buf, size_t len)
{
	struct web_req *r = req_of(c);
	size_t n = r == NULL || r->in_len < len ? r == NULL ? 0 : r->in_len :
	    len;

	if (n == 0) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, r->in, n);
	r->in += n;
	r->in_len -= n;
	return (ssize_t)n;
}

/* Skips the answers of all commands before the last: no client gets them. */
static size_t
skipped(struct web_req *r, size_t len)
{
	size_t n = r->skip < len ? r->skip : len;

	r->skip -= n;
	return is_between(r) && n == 0 ? len : n;
}

/* All that was to be given before the end of the answer has been given. */
static void
port_was_given(struct web_req *r)
{
	r->whole = r->ending;
	web_req_wake(r->web);
}

static ssize_t
port_give(struct conn *c, const void *p, size_t len)
{
	struct web_req *r = req_of(c);
	size_t skip, room, n;

	skip = r == NULL ? len : skipped(r, len);
	/* whom it was for has gone, or has not asked yet */
	if (skip == len || !(r->known || r->phase >= WEB_AUTH)) {
		/* the answer behind what is skipped may have no bytes */
		if (r != NULL && r->ending)
			port_was_given(r);
		return (ssize_t)len;
	}
	p = (const char *)p + skip;
	len -= skip;
	if (r->out_pos == r->out.len) {
		r->out_pos = 0;
		text_reset(&r->out, HOLD_KEEP);
	}
	room = HOLD_MAX - r->out.len;
	n = len < room ? len : room;
	if (n == 0) {
		/* what was skipped is not to be skipped again */
		errno = EAGAIN;
		return skip > 0 ? (ssize_t)skip : -1;
	}
	text_put(&r->out, p, n);
	if (r->out.bad) {
		errno = ENOMEM;
		return -1;
	}
	r->secret |= c->secret;
	if (n == len)
		port_was_given(r);
	else
		web_req_wake(r->web);
	return (ssize_t)(skip + n);
}

/* -- turns ---------------------------------------------------------------- */

static void
on_turn(void *arg)
{
	struct web_req *r = arg;

	if (r->web->conn != NULL)
		conn_run(r->web->conn);
}

/* Awaited events have happened already, or follow from the client's actions. */
static void
port_want(struct conn *c, uint32_t events)
{
	struct web_req *r = req_of(c);

	if (r == NULL)
		return;
	r->wants = events;
	if (events & EPOLLOUT && r->out.len < HOLD_MAX)
		loop_timer_set(&r->turn, 0, on_turn, r);
	/* it has not taken all that libmicrohttpd had to give */
	if (events & EPOLLIN)
		web_req_wake(r->web);
}

static void
say_auth(struct conn *c, struct web_req *r)
{
	static const char verb[] = "AUTH";
	struct words ws = { .n = 2 };
	const struct command *cmd = command_find(verb);

	ws.w[0] = (struct word){ verb, sizeof(verb) - 1 };
	ws.w[1] = (struct word){ r->token, strlen(r->token) };
	ws.end = ws.w[1].p + ws.w[1].len;
	r->after_auth = r->phase;
	r->phase = WEB_AUTH;
	command_row(c, cmd, NULL, &ws);
	explicit_bzero(r->token, strlen(r->token));
	free(r->token);
	r->token = NULL;
}

/* The client is authenticated before its request has been read. */
static bool
is_to_auth(const struct web_req *r)
{
	return r->phase == WEB_READ && r->admitted && r->token != NULL;
}

static bool
port_next(struct conn *c)
{
	struct web_req *r = req_of(c);

	/* who it is, is known now */
	if (r != NULL && !r->begun)
		web_req_wake(r->web);
	if (r == NULL || !(r->phase == WEB_ASK || is_to_auth(r)))
		return false;
	if (!c->synced) {
		identity_start(c);
		return false;
	}
	if (r->token != NULL)
		say_auth(c, r);
	else {
		r->phase = WEB_RUN;
		webargs_run(c, r);
	}
	return true;
}

/* -- answers -------------------------------------------------------------- */

static bool
is_events(const struct web_req *r)
{
	return r->route != NULL && r->route->flags & ROUTE_EVENTS;
}

static bool
is_raw(const struct web_req *r)
{
	return r->err == ERR_OK && !r->enveloped && r->route != NULL &&
	    r->route->flags & ROUTE_RAW;
}

/* Another command's answer comes next: this one was for us alone. */
static bool
is_between(const struct web_req *r)
{
	return !r->known && (r->phase == WEB_AUTH || r->then != THEN_NOTHING);
}

static void
put_beginning(struct conn *c, const struct web_req *r, bool anew)
{
	static const char envelope[] = "{\"apiVersion\":\"1.0\",";

	if (is_events(r) && !anew) {
		conn_write(c, r->err == ERR_OK ? "event: end\ndata: " :
		    "event: error\ndata: {", r->err == ERR_OK ? 17 : 20);
		return;
	}
	if (is_raw(r))
		return;
	conn_write(c, envelope, sizeof(envelope) - 1);
	if (r->err == ERR_OK)
		conn_write(c, "\"data\":", 7);
}

static void
port_answer(struct conn *c, uint32_t err)
{
	struct web *w = c->port_arg;
	struct web_req *r = req_of(c);
	bool anew;

	if (r == NULL) {
		if (w != NULL)
			w->err = err;
		return;
	}
	if (err == ERR_OK && is_between(r))
		return;
	anew = !r->known;
	/* what was uploaded shall not stay when its maker is told of failure */
	if (anew && err != ERR_OK && r->now == THEN_NAME)
		(void)chan_send(&spawner_chan, ask_new(c, MSG_DELETE,
		    &r->made), -1);
	/* a stream that has begun ends with this */
	if (!anew && !is_events(r))
		return;
	r->known = true;
	r->err = err;
	r->streaming = is_events(r) && (!anew || err == ERR_OK);
	if (err == ERR_OK && r->route->flags & ROUTE_SOCKET) {
		web_req_wake(w);
		return;
	}
	put_beginning(c, r, anew && err != ERR_OK);
}

static void
put_end(struct conn *c, const struct web_req *r)
{
	if (r->streaming)
		conn_write(c, r->err == ERR_OK ? "\n\n" : "}\n\n",
		    r->err == ERR_OK ? 2 : 3);
	else if (!is_raw(r))
		conn_write(c, "}\n", 2);
}

static void
port_answered(struct conn *c)
{
	struct web_req *r = req_of(c);

	if (r == NULL)
		return;
	if (is_between(r)) {
		r->skip = conn_unsent(c);
		if (r->phase == WEB_AUTH) {
			r->web->authed = true;
			r->phase = r->after_auth;
		} else {
			webargs_next(r);
			r->phase = WEB_ASK;
		}
		web_req_wake(r->web);
		return;
	}
	put_end(c, r);
	r->ending = true;
	if (conn_unsent(c) > 0)
		return;
	r->whole = true;
	web_req_wake(r->web);
}

static void
port_event(struct conn *c, const struct text *t, uint64_t next)
{
	struct web_req *r = req_of(c);
	char head[64];
	int n = snprintf(head, sizeof(head), "event: output\nid: %" PRIu64
	    "\ndata: ", next);

	/* no other route has a command that answers in several objects */
	if (r == NULL || !is_events(r)) {
		c->dead = true;
		return;
	}
	conn_write(c, head, (size_t)n);
	conn_write(c, t->p, t->len);
	conn_write(c, "\n\n", 2);
}

static void
port_header(struct conn *c, const char *name, const char *value)
{
	struct web_req *r = req_of(c);
	struct web_header *h = r == NULL ? NULL : &r->headers[r->nheaders];

	if (r == NULL || r->nheaders == WEB_HEADERS)
		return;
	h->name = name;
	h->value = strdup(value);
	if (h->value == NULL)
		c->dead = true;
	else
		r->nheaders++;
}

static void
port_status(struct conn *c, unsigned int status)
{
	struct web_req *r = req_of(c);

	if (r != NULL)
		r->status = status;
}

static void
port_enveloped(struct conn *c)
{
	struct web_req *r = req_of(c);

	if (r != NULL)
		r->enveloped = true;
}

static void
port_whoami(struct conn *c, struct text *t)
{
	const struct web_req *r = req_of(c);

	json_key(t, "csrf");
	if (r != NULL && r->by_cookie)
		json_text(t, r->csrf);
	else
		json_raw(t, "null");
}

static void
port_about(struct conn *c, const struct rsession *s)
{
	struct web_req *r = req_of(c);

	if (r == NULL)
		return;
	(void)snprintf(r->about, sizeof(r->about), "%s", s->id);
	r->made = s->sid;
}

static bool
port_is_open(const struct conn *c)
{
	const struct web_req *r = req_of(c);

	return r != NULL && r->open;
}

static int
port_socket(const struct conn *c)
{
	const struct web *w = c->port_arg;

	return w == NULL ? -1 : w->fd;
}

static void
port_gone(struct conn *c)
{
	struct web *w = c->port_arg;

	if (w == NULL || w->conn != c)
		return;
	w->conn = NULL;
	w->authed = false;
	if (w->req != NULL) {
		w->req->failed = !w->req->whole;
		web_req_wake(w);
		if (!w->req->ended)
			web_orphan(w);
	} else if (w->err == ERR_OK)
		web_close(w);
	else
		web_refuse(w, w->err);
}

const struct conn_port web_port = {
	.take = port_take,
	.give = port_give,
	.want = port_want,
	.next = port_next,
	.answer = port_answer,
	.answered = port_answered,
	.event = port_event,
	.header = port_header,
	.status = port_status,
	.enveloped = port_enveloped,
	.whoami = port_whoami,
	.about = port_about,
	.is_open = port_is_open,
	.socket = port_socket,
	.gone = port_gone,
};
