/* SPDX-License-Identifier: ISC */
/*
 * Requests under way.  A connection asks one thing at a time, so each request
 * has its own; that is also how one is cancelled.  None is used twice: the
 * daemon may be another one by then.
 */
#include <sys/queue.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/lib/conn.h"
#include "client/lib/daemon.h"
#include "client/lib/local.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/ssh.h"
#include "client/lib/stream.h"
#include "client/lib/target.h"
#include "keepalive.h"
#include "leftout.h"
#include "mcp.h"
#include "requests.h"

/* So many are asked at the same time; the rest wait for their turn. */
#define ACTIVE_MAX	16
#define FLIGHTS_MAX	256
#define TICK_MS		1000

struct request {
	TAILQ_ENTRY(request)	 all;
	struct conn		*conn;		/* NULL = waits for its turn */
	char			*line;		/* what is to be sent then */
	struct mcp_asked	 asked;
	struct json_object	*cancelled;	/* array of ids, or NULL */
	int64_t			 due_ms;	/* progress is told */
	int64_t			 told;
};

static TAILQ_HEAD(, request) requests = TAILQ_HEAD_INITIALIZER(requests);
static size_t		 count, active;
static struct target	 target;
static bool		 own;
static char		 version[16];

void
mcp_requests_init(const struct target *t, bool is_own)
{
	target = *t;
	own = is_own;
	keepalive_init(target.path);
}

bool
mcp_requests_room(void)
{
	return count < FLIGHTS_MAX;
}

size_t
mcp_requests_count(void)
{
	return count;
}

const char *
mcp_requests_version(void)
{
	return version;
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* -- ends ------------------------------------------------------------------ */

static void
drop(struct request *f)
{
	if (f->conn != NULL)
		active--;
	dconn_close(f->conn);
	TAILQ_REMOVE(&requests, f, all);
	count--;
	json_object_put(f->asked.ids);
	json_object_put(f->asked.token);
	json_object_put(f->cancelled);
	free(f->asked.warning);
	free(f->line);
	free(f);
}

static bool
has(struct json_object *array, struct json_object *id)
{
	size_t i;

	for (i = 0; array != NULL && i < json_object_array_length(array); i++)
		if (json_object_equal(json_object_array_get_idx(array, i), id))
			return true;
	return false;
}

/* The same error to all that was asked. */
static void
fail_as(struct request *f, int code, const char *words)
{
	struct json_object *answers = json_object_new_array(), *id;
	size_t i;

	for (i = 0; i < json_object_array_length(f->asked.ids); i++) {
		id = json_object_array_get_idx(f->asked.ids, i);
		if (!has(f->cancelled, id))
			json_object_array_add(answers, mcp_error(id, code,
			    words));
	}
	if (json_object_array_length(f->asked.ids) == 0)
		mcp_put_error(NULL, code, words);
	else if (f->asked.batch && json_object_array_length(answers) > 0)
		mcp_put_json(json_object_get(answers));
	else if (json_object_array_length(answers) > 0)
		mcp_put_json(json_object_get(json_object_array_get_idx(
		    answers, 0)));
	json_object_put(answers);
	drop(f);
}

static void
fail(struct request *f, const char *words)
{
	fail_as(f, MCP_INTERNAL, words);
}

void
mcp_requests_cancel(struct json_object *id)
{
	struct request *f;

	TAILQ_FOREACH(f, &requests, all)
		if (has(f->asked.ids, id))
			break;
	/* what has been answered meanwhile is no error, nor is a handshake */
	if (f == NULL || f->asked.handshake)
		return;
	if (!f->asked.batch) {
		drop(f);
		return;
	}
	if (f->cancelled == NULL)
		f->cancelled = json_object_new_array();
	json_object_array_add(f->cancelled, json_object_get(id));
}

/* -- answers --------------------------------------------------------------- */

/* Notes the protocol version that later requests name. */
static void
take_handshake(const char *line, size_t len)
{
	struct json_object *o = reply_parse(line, len), *result = NULL;

	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "result", &result))
		snprintf(version, sizeof(version), "%s", reply_str(result,
		    "protocolVersion", version));
	json_object_put(o);
}

/* Passes on a batch's answers, without those to cancelled requests. */
static void
put_rest(const struct request *f, const char *line, size_t len)
{
	struct json_object *o = reply_parse(line, len), *id;
	struct json_object *rest = json_object_new_array(), *one;
	size_t i;

	for (i = 0; json_object_is_type(o, json_type_array) &&
	    i < json_object_array_length(o); i++) {
		one = json_object_array_get_idx(o, i);
		if (!json_object_object_get_ex(one, "id", &id) ||
		    !has(f->cancelled, id))
			json_object_array_add(rest, json_object_get(one));
	}
	if (json_object_array_length(rest) > 0)
		mcp_put_json(json_object_get(rest));
	json_object_put(rest);
	json_object_put(o);
}

static bool
begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* Not an answer of the protocol: the daemon refused the command itself. */
static void
refused(struct request *f, const char *line, size_t len)
{
	struct json_object *o = reply_parse(line, len);
	char words[512];

	snprintf(words, sizeof(words), "%s", o == NULL ||
	    reply_error(o) == NULL ? "the daemon there does not know this "
	    "request; it may be older than this program" :
	    reply_str(o, "message", reply_error(o)));
	json_object_put(o);
	fail(f, words);
}

/*
 * A message that the daemon takes for no JSON has no id there: a text with a
 * NUL in it, which goes by the rules.  Here somebody waits by that id.
 */
static bool
is_nobodys(struct request *f, const char *line, size_t len)
{
	struct json_object *o, *error = NULL;
	bool is;

	if (f->asked.batch || json_object_array_length(f->asked.ids) == 0 ||
	    !begins(line, "{\"jsonrpc\":\"2.0\",\"id\":null,"))
		return false;
	o = reply_parse(line, len);
	is = o != NULL && json_object_object_get_ex(o, "error", &error) &&
	    json_object_is_type(error, json_type_object);
	if (is)
		fail_as(f, (int)json_object_get_int(json_object_object_get(
		    error, "code")), reply_str(error, "message", ""));
	json_object_put(o);
	return is;
}

static void
answered(struct request *f, const char *line, size_t len)
{
	char *more = NULL;

	if (is_nobodys(f, line, len))
		return;

	if (!begins(line, "{\"jsonrpc\":") && !begins(line, "[{\"jsonrpc\":") &&
	    strcmp(line, "null") != 0) {
		refused(f, line, len);
		return;
	}
	if (f->asked.handshake)
		take_handshake(line, len);
	/* before this connection ends, so that there is always one */
	if (f->asked.tool)
		keepalive_begin();
	if (f->asked.warning != NULL &&
	    (more = leftout_tell(line, len, f->asked.warning, &len)) != NULL)
		line = more;
	if (f->cancelled != NULL)
		put_rest(f, line, len);
	else if (*line != 'n')
		mcp_put(line, len);
	free(more);
	drop(f);
}

/* -- connections ----------------------------------------------------------- */

/* A connection, or NULL and *why, to be freed, in words. */
static struct conn *
reach(char **why)
{
	struct conn *conn = NULL;
	struct ssh ssh = { 0 };
	struct stream s;
	int code = CTL_OK, sock_fd;

	report_hold();
	sock_fd = local_connect(target.path, own, &code);
	if (sock_fd == -1 && code == CTL_OK)
		sock_fd = daemon_start(&target, &code);
	if (sock_fd != -1) {
		stream_init(&s, sock_fd);
		if ((conn = dconn_new(&s, &ssh, &target, 0)) == NULL)
			stream_close(&s);
	}
	*why = report_release();
	return conn;
}

static void
lost(struct request *f)
{
	fail(f, "the daemon ended before it answered, so the request may or "
	    "may not have been carried out. Ask again: that finds or starts a "
	    "daemon");
}

static void
begin(struct request *f)
{
	char *why;

	f->conn = reach(&why);
	if (f->conn == NULL) {
		fail(f, why != NULL ? why : "the daemon cannot be reached");
		free(why);
		return;
	}
	free(why);
	active++;
	if (dconn_send(f->conn, f->line, strlen(f->line)) == -1)
		lost(f);
}

/* Sends the waiting requests whose turn it is, the oldest first. */
static void
begin_all(void)
{
	struct request *f, *next;

	for (f = TAILQ_FIRST(&requests); f != NULL && active < ACTIVE_MAX;
	    f = next) {
		next = TAILQ_NEXT(f, all);
		if (f->conn == NULL)
			begin(f);
	}
}

void
mcp_requests_ask(const struct mcp_asked *asked, const char *line, size_t len)
{
	struct request *f = calloc(1, sizeof(*f));

	if (f == NULL || asprintf(&f->line, "%.*s\n", (int)len, line) == -1)
		err(CTL_USAGE, NULL);
	f->asked = *asked;
	f->due_ms = now_ms();
	TAILQ_INSERT_TAIL(&requests, f, all);
	count++;
	begin_all();
}

static void
receive(struct request *f)
{
	size_t len;
	ssize_t n = dconn_fill(f->conn);
	char *line = dconn_take_line(f->conn, &len);

	if (line != NULL)
		answered(f, line, len);
	else if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		lost(f);
}

size_t
mcp_requests_poll(struct pollfd *pfds, size_t max)
{
	struct request *f;
	size_t n = 0;

	if (keepalive_fd() != -1 && n < max)
		pfds[n++] = (struct pollfd){ .fd = keepalive_fd(),
		    .events = POLLIN };
	TAILQ_FOREACH(f, &requests, all)
		if (f->conn != NULL && n < max)
			pfds[n++] = (struct pollfd){ .fd = dconn_fd(f->conn),
			    .events = POLLIN };
	return n;
}

void
mcp_requests_run(const struct pollfd *pfds, size_t n)
{
	struct request *f, *next;
	size_t i;

	if (n > 0 && pfds[0].fd == keepalive_fd() && pfds[0].revents != 0)
		keepalive_run();
	for (f = TAILQ_FIRST(&requests); f != NULL; f = next) {
		next = TAILQ_NEXT(f, all);
		for (i = 0; f->conn != NULL && i < n; i++)
			if (pfds[i].fd == dconn_fd(f->conn) &&
			    pfds[i].revents != 0) {
				receive(f);
				break;
			}
	}
	begin_all();
}

void
mcp_requests_end(void)
{
	while (!TAILQ_EMPTY(&requests))
		drop(TAILQ_FIRST(&requests));
	keepalive_end();
}

/* -- progress -------------------------------------------------------------- */

static void
tell(struct request *f)
{
	struct json_object *o = json_object_new_object();
	struct json_object *params = json_object_new_object();
	char words[128];

	if (f->told == 0)
		snprintf(words, sizeof(words), "%s has been asked for",
		    f->asked.what);
	else
		snprintf(words, sizeof(words), "%s: waiting for %lld s",
		    f->asked.what, (long long)f->told);
	json_object_object_add(o, "jsonrpc", json_object_new_string("2.0"));
	json_object_object_add(o, "method",
	    json_object_new_string("notifications/progress"));
	json_object_object_add(params, "progressToken",
	    json_object_get(f->asked.token));
	json_object_object_add(params, "progress",
	    json_object_new_int64(++f->told));
	json_object_object_add(params, "message",
	    json_object_new_string(words));
	json_object_object_add(o, "params", params);
	mcp_put_json(o);
}

int
mcp_requests_progress(void)
{
	int64_t now = now_ms(), left = -1;
	struct request *f;

	TAILQ_FOREACH(f, &requests, all) {
		if (f->asked.token == NULL)
			continue;
		if (f->due_ms <= now) {
			tell(f);
			f->due_ms = now + TICK_MS;
		}
		if (left == -1 || f->due_ms - now < left)
			left = f->due_ms - now;
	}
	return (int)left;
}
