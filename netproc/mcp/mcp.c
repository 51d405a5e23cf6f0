/* SPDX-License-Identifier: ISC */
/* The doors: a message comes in, its answer goes out; see the header. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "netproc/cmd/command.h"
#include "netproc/cmd/params.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/text/jsonlex.h"

/* Bytes of the answer to a message, or to a whole batch. */
#define OUT_MAX		((size_t)16 << 20)
/* A batch has no more messages. */
#define BATCH_MAX	64

/* The connection ends, or the answer was given. */
static void
mcp_end(struct conn *c)
{
	struct mcp *m = c->mcp;

	if (m == NULL)
		return;
	c->mcp = NULL;
	text_free(&m->out);
	text_free(&m->had);
	free(m->text);
	free(m);
}

/* -- out ------------------------------------------------------------------ */

static void
write_out(struct conn *c, struct mcp *m)
{
	static const char none[] = "null";

	if (m->web && m->out.len == 0)
		m->status = MHD_HTTP_ACCEPTED;
	if (m->web)
		c->port->status(c, m->status);
	answer_open(c);
	if (m->out.len > 0)
		conn_write(c, m->out.p, m->out.len);
	else if (!m->web)
		conn_write(c, none, sizeof(none) - 1);
	answer_close(c);
	mcp_end(c);
}

static void
finish(struct conn *c)
{
	struct mcp *m = c->mcp;

	/* of notifications alone nothing is said, not even that */
	if (m->batch && m->out.len == 1)
		text_reset(&m->out, OUT_MAX);
	else if (m->batch)
		json_close(&m->out, ']');
	if (m->out.bad) {
		text_reset(&m->out, 0);
		mcp_refuse(m, MCP_INTERNAL, MHD_HTTP_OK, "the answer is too "
		    "long; ask for less, such as by limit");
	}
	write_out(c, m);
}

/* False after the last. */
static bool
next(struct mcp *m, struct word *message)
{
	if (m->batch)
		return json_walk_item(&m->rest, message);
	*message = m->one;
	m->one.len = 0;
	return message->len > 0;
}

void
mcp_go_on(struct conn *c)
{
	struct mcp *m = c->mcp;
	struct word message;

	/* an answer may come while the request is being sent */
	if (m == NULL || m->busy)
		return;
	m->busy = true;
	while (!m->waiting && next(m, &message))
		mcp_message(c, &message);
	m->busy = false;
	if (!m->waiting)
		finish(c);
}

/* -- in ------------------------------------------------------------------- */

/* A copy: what a connection has read is gone when it waits.  NULL: refused. */
static struct mcp *
begin(struct conn *c, const struct word *text, bool web)
{
	struct mcp *m = calloc(1, sizeof(*m));

	mcp_end(c);
	if (m != NULL)
		m->text = malloc(text->len + 1);
	if (m == NULL || m->text == NULL) {
		free(m);
		answer_error(c, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	memcpy(m->text, text->p, text->len);
	m->web = web;
	m->status = MHD_HTTP_OK;
	m->out.max = OUT_MAX;
	m->agreed = m->era = MCP_2025_11_25;
	c->mcp = m;
	return m;
}

static void
take_message(struct conn *c, const struct word *v)
{
	struct mcp *m = c->mcp;
	size_t n;

	m->one = *v;
	if (json_kind(v) != '[') {
		mcp_go_on(c);
		return;
	}
	n = json_count(v);
	m->one.len = 0;
	if (n == 0 || n > BATCH_MAX)
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "a batch has 1 to %d messages", BATCH_MAX);
	else if (m->is_agreed && m->agreed != MCP_2025_03_26)
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "only revision 2025-03-26 has batches; send one message "
		    "at a time");
	else {
		m->batch = true;
		json_walk(&m->rest, v);
		text_put(&m->out, "[", 1);
	}
	mcp_go_on(c);
}

static void
no_json(struct conn *c, const char *why)
{
	mcp_refuse(c->mcp, MCP_PARSE_ERROR, MHD_HTTP_BAD_REQUEST, "the message "
	    "is no JSON: something in it %s", why);
	mcp_go_on(c);
}

/* -- the local socket ----------------------------------------------------- */

/* Takes a member of the request; NULL, or what is wrong. */
static const char *
take_member(struct mcp *m, const struct word *key, const struct word *v,
    struct word *message)
{
	if (json_says(key, "message")) {
		*message = *v;
		return NULL;
	}
	if (json_says(key, "client")) {
		(void)json_member(v, "cwd", &m->cwd);
		(void)json_member(v, "env", &m->env);
		return json_kind(v) == '{' && (m->cwd.len == 0 ||
		    json_kind(&m->cwd) == '"') && (m->env.len == 0 ||
		    json_kind(&m->env) == '{') ? NULL : "client is an object "
		    "with cwd, a string, and env, an object";
	}
	if (json_says(key, "protocolVersion")) {
		m->is_agreed = mcp_era_find(v, &m->agreed);
		return m->is_agreed ? NULL : "protocolVersion is not one of "
		    "those that initialize can agree on";
	}
	return "the members are message, client and protocolVersion";
}

static const char *
take_request(struct mcp *m, const struct word *request, struct word *message)
{
	struct word key, v;
	struct json_walk w;
	const char *why = NULL;

	*message = (struct word){ NULL, 0 };
	json_walk(&w, request);
	while (why == NULL && json_walk_member(&w, &key, &v))
		why = take_member(m, &key, &v, message);
	return why != NULL || message->len > 0 ? why :
	    "message is missing: what the client said";
}

static void
cmd_mcp(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct word request = line_rest(ws, 1), message;
	struct mcp *m;
	const char *why;

	(void)s;
	if (request.p[0] != '{') {
		command_misused(c, ws, "the request is a JSON object");
		return;
	}
	m = begin(c, &request, false);
	if (m == NULL)
		return;
	why = jsonlex_value(m->text, request.len);
	if (why != NULL) {
		no_json(c, why);
		return;
	}
	request = json_whole(m->text, request.len);
	why = take_request(m, &request, &message);
	if (why != NULL) {
		mcp_end(c);
		command_misused(c, ws, why);
		return;
	}
	take_message(c, &message);
}

/* -- HTTP ----------------------------------------------------------------- */

/*
 * A version that is none of ours is refused before the message is read; who
 * names none is of the time before that header was.
 */
static bool
take_version(struct mcp *m)
{
	m->agreed = MCP_2025_03_26;
	m->is_agreed = true;
	return m->version == NULL || mcp_era_named(m->version, &m->agreed);
}

void
cmd_mcp_web(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct word *body = &ws->w[1];
	struct word message;
	struct mcp *m = begin(c, body, true);
	const char *why;

	(void)s;
	if (m == NULL)
		return;
	m->version = ws->w[2].p;
	m->method = ws->w[3].p;
	m->name = ws->w[4].p;
	why = jsonlex_value(m->text, body->len);
	if (why != NULL) {
		no_json(c, why);
		return;
	}
	message = json_whole(m->text, body->len);
	if (!take_version(m))
		mcp_unsupported(m, &message);
	else {
		take_message(c, &message);
		return;
	}
	mcp_go_on(c);
}

void
mcp_init(void)
{
	static const struct command row = {
		.verb = "MCP",
		.min = 1,
		.max = ARGS_ANY,
		.extension = true,
		.need = ACCESS_SEE,
		.params = params_mcp,
		.usage = "MCP <request>",
		.description = "answers a message of the Model Context "
		    "Protocol, by which agents trace programs",
		.run = cmd_mcp,
	};

	command_add(&row, 1);
	conn_at_end(mcp_end);
}
