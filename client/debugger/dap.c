/* SPDX-License-Identifier: ISC */
/* The debug adapter protocol on standard input and output: an editor starts
 * this as its adapter and is in the session with everybody else. A connection
 * to the daemon answers in its order: what the editor says goes by one, what
 * it is told comes by another. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "client/lib/args.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "dap.h"
#include "dbg.h"
#include "debugger/text/codec.h"
#include "view.h"

/* A request carries no more. */
#define DAP_MAX		(60U << 10)
#define RECEIVE_S	60

struct dap {
	struct dbg	*dbg;
	struct conn	*back;		/* messages for the editor */
	int64_t		 client;	/* which editor it is */
	char		*session;
	struct codec	 codec;		/* of what the editor says */
	int		 code;		/* of its latest message */
	size_t		 unanswered;	/* requests on the other connection */
	bool		 ended;		/* standard input */
	bool		 over;		/* the session, for the editor */
};

/* -- requests -------------------------------------------------------------- */

/* Sends a request about the editor on one of the connections; takes args. */
static int
ask_on(struct dap *d, struct conn *conn, const char *request,
    struct json_object *args)
{
	struct json_object *outer;
	struct conn *usual = d->dbg->client.conn;
	int code;

	args_number(args, "client", d->client);
	outer = dbg_request(request, args);
	args_text(outer, "session", d->session);
	d->dbg->client.conn = conn;
	code = dbg_send(d->dbg, outer);
	d->dbg->client.conn = usual;
	return code;
}

/* Waits over there for what the editor is to get. */
static int
ask_more(struct dap *d)
{
	struct json_object *args = json_object_new_object();

	args_number(args, "timeout_s", RECEIVE_S);
	return ask_on(d, d->back, "dap_receive", args);
}

/* Sends one of the editor's messages to the daemon. */
static int
pass_message(struct json_object *message, const char *text, size_t len,
    void *arg)
{
	struct dap *d = arg;
	struct json_object *args;

	(void)text;
	if (len > DAP_MAX || !json_object_is_type(message, json_type_object)) {
		d->code = usage_error("a message of the debug adapter protocol "
		    "must be an object of at most %u bytes", DAP_MAX);
		return -1;
	}
	args = json_object_new_object();
	json_object_object_add(args, "message", json_object_get(message));
	d->unanswered++;
	d->code = ask_on(d, d->dbg->client.conn, "dap_send", args);
	return d->code == CTL_OK ? 0 : -1;
}

static void
left_out(const char *why, int64_t seq, void *arg)
{
	struct dap *d = arg;

	(void)seq;
	d->code = usage_error("a message of the debug adapter protocol cannot "
	    "be read: %s", why);
}

static int
read_editor(struct dap *d)
{
	static const struct codec_fns fns = { pass_message, left_out };
	const char *why = NULL;
	char buf[16384];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n == -1 && errno == EINTR)
		return CTL_OK;
	if (n == -1)
		return usage_error("standard input: %s", strerror(errno));
	if (n == 0) {
		/* it is gone when the daemon has heard all that it said */
		d->ended = true;
		d->unanswered++;
		return ask_on(d, d->dbg->client.conn, "dap_close",
		    json_object_new_object());
	}
	if (codec_feed(&d->codec, buf, (size_t)n, &fns, d, &why) == -1 &&
	    why != NULL)
		return usage_error("the input is not a message of the debug "
		    "adapter protocol: %s", why);
	return d->code;
}

/* -- answers --------------------------------------------------------------- */

/*
 * Takes one answer of the daemon from a connection.  The caller releases the
 * result, which is NULL with CTL_OK while no complete answer is there.
 */
static int
take_result(struct dap *d, struct conn *conn, struct json_object **resultp)
{
	size_t len;
	char *line = dconn_take_line(conn, &len);
	ssize_t n = 1;

	*resultp = NULL;
	if (line == NULL && (n = dconn_fill(conn)) > 0)
		line = dconn_take_line(conn, &len);
	if (line != NULL)
		return dbg_answer(d->dbg, line, len, resultp);
	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR)))
		return CTL_OK;
	report("the daemon has closed the connection");
	return CTL_UNREACHABLE;
}

static int
read_answers(struct dap *d)
{
	struct json_object *result;
	int code;

	while ((code = take_result(d, d->dbg->client.conn, &result)) ==
	    CTL_OK && result != NULL) {
		json_object_put(result);
		d->unanswered--;
	}
	return code;
}

static void
put_message(struct json_object *message)
{
	const char *text = json_object_to_json_string_ext(message,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
}

/* Messages for the editor. */
static int
read_messages(struct dap *d)
{
	struct json_object *result, *list = NULL;
	size_t i, n;
	int code;

	if ((code = take_result(d, d->back, &result)) != CTL_OK ||
	    result == NULL)
		return code;
	n = view_list(result, "messages", &list);
	for (i = 0; i < n; i++)
		put_message(json_object_array_get_idx(list, i));
	d->over = reply_true(result, "end");
	json_object_put(result);
	if ((code = report_flush()) != CTL_OK || d->over)
		return code;
	return ask_more(d);
}

static int
serve(struct dap *d)
{
	struct pollfd pfds[3];
	int code = ask_more(d);

	while (code == CTL_OK && !d->over && !(d->ended &&
	    d->unanswered == 0)) {
		pfds[0] = (struct pollfd){ .events = POLLIN,
		    .fd = d->ended ? -1 : STDIN_FILENO };
		pfds[1] = (struct pollfd){ .events = POLLIN,
		    .fd = dconn_fd(d->dbg->client.conn) };
		pfds[2] = (struct pollfd){ .events = POLLIN,
		    .fd = dconn_fd(d->back) };
		if (poll(pfds, 3, -1) == -1 && errno != EINTR)
			return usage_error("poll: %s", strerror(errno));
		if (pfds[2].revents != 0)
			code = read_messages(d);
		if (code == CTL_OK && pfds[1].revents != 0)
			code = read_answers(d);
		if (code == CTL_OK && pfds[0].revents != 0)
			code = read_editor(d);
	}
	return code;
}

/* Makes the editor known; its session is the same from now on, whichever
 * becomes the current one. */
static int
begin(struct dap *d)
{
	struct json_object *result;
	int code;

	if ((code = dbg_ask(d->dbg, "dap", json_object_new_object(),
	    &result)) != CTL_OK)
		return code;
	if (!reply_int(result, "client", &d->client) ||
	    (d->session = strdup(reply_str(result, "session", ""))) == NULL ||
	    *d->session == '\0') {
		report("the answer names no session");
		code = CTL_UNREACHABLE;
	}
	json_object_put(result);
	return code;
}

int
dbg_dap(struct dbg *dbg, int argc, char **argv)
{
	struct dap d = { .dbg = dbg };
	int code;

	(void)argc;
	(void)argv;
	if ((code = begin(&d)) == CTL_OK &&
	    (code = client_open(&dbg->client, &d.back)) == CTL_OK)
		code = serve(&d);
	dconn_close(d.back);
	free(d.session);
	codec_free(&d.codec);
	return code;
}
