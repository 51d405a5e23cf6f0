/* SPDX-License-Identifier: ISC */
/* Requests to debug sessions: one line there, one line back. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "client/lib/args.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "client/lib/term.h"
#include "dbg.h"
#include "view.h"

static volatile sig_atomic_t interrupted;

static void
interrupt(int signo)
{
	(void)signo;
	interrupted = 1;
}

int
dbg_exit_code(const char *code)
{
	static const struct {
		const char	*code;
		int		 exit_code;
	} classes[] = {
		{ "no_session", DBG_NO_SESSION },
		{ "not_found", DBG_NO_SESSION },
		{ "invalid_id", DBG_NO_SESSION },
		{ "adapter_failed", DBG_ADAPTER },
		{ "adapter_missing", DBG_ADAPTER },
		{ "adapter_exited", DBG_ADAPTER },
		{ "debugger_lost", DBG_ADAPTER },
		{ "timeout", DBG_TIMEOUT },
	};
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strcmp(code, classes[i].code) == 0)
			return classes[i].exit_code;
	return CTL_REFUSED;
}

/*
 * Ctrl-C ends the waiting, not the program that is waited for: it may be
 * somebody else's as well, and "pause" is one command away.
 */
static void __attribute__((noreturn))
leave(const struct dbg *d)
{
	report("%s", d->command->waits ? "no longer waiting; the program goes "
	    "on: \"" DBG_NAME " await\" waits for it, \"" DBG_NAME " pause\" "
	    "stops it" : "interrupted");
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	_exit(128 + SIGINT);
}

static void
catch_interrupt(void)
{
	struct sigaction sa = { .sa_handler = interrupt };

	/* without SA_RESTART: poll is to return */
	if (signal_wanted(SIGINT))
		sigaction(SIGINT, &sa, NULL);
}

/* Like poll(); an interrupt that came before it began ends it as well. */
static int
poll_interruptibly(struct pollfd *pfd, int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };
	sigset_t held, before;
	int n = -1;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigprocmask(SIG_BLOCK, &held, &before);
	if (interrupted)
		errno = EINTR;
	else
		n = ppoll(pfd, 1, ms < 0 ? NULL : &ts, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return n;
}

/* The answer's line, NULL with *code after a report. Borrowed. */
static char *
wait_line(struct dbg *d, size_t *lenp, int *code)
{
	struct conn *conn = d->client.conn;
	int ms = dconn_ms(d->client.timeout_s, 0), n;
	struct pollfd pfd = { .fd = dconn_fd(conn), .events = POLLIN };
	char *line;

	*code = CTL_UNREACHABLE;
	while ((line = dconn_take_line(conn, lenp)) == NULL) {
		n = poll_interruptibly(&pfd, ms);
		if (n == -1 && errno != EINTR)
			return NULL;
		if (interrupted)
			leave(d);
		if (n == 0) {
			report("timeout: no answer within %u s",
			    d->client.timeout_s);
			*code = DBG_TIMEOUT;
			return NULL;
		}
		if (n > 0 && dconn_fill(conn) <= 0)
			/* it says what has become of the connection */
			return dconn_line(conn, lenp);
	}
	return line;
}

/* Compilers' words have a line for each thing that they point at. */
static void
report_lines(const char *code, const char *message)
{
	size_t len = strcspn(message, "\n");
	char *safe;

	report("%s: %.*s", code, (int)len, message);
	for (message += len; *message != '\0'; message += len) {
		message++;
		len = strcspn(message, "\n");
		if (len == 0)
			continue;
		if ((safe = strndup(message, len)) == NULL)
			return;
		report_more(safe);
		free(safe);
	}
}

/*
 * The daemon answers only that there is no such session, so as not to reveal
 * sessions that the user may not see.  Add the name that was asked for here.
 */
static const char *
message_of(const struct dbg *d, struct json_object *answer, char *buf,
    size_t size)
{
	const char *session = opt_value(&d->client.opts, DOPT_SESSION);

	if (session == NULL || strcmp(reply_error(answer), "not_found") != 0)
		return reply_str(answer, "message", "no reason given");
	snprintf(buf, size, "there is no session \"%s\"; \"" DBG_NAME
	    " sessions\" lists those that are debugged", session);
	return buf;
}

/* Prefers the debugger's own error to the bare fact that it refused. */
static struct json_object *
error_of(const struct dbg *d, struct json_object *answer)
{
	struct json_object *error = NULL;
	char buf[256];

	if (json_object_object_get_ex(answer, "error", &error))
		return json_object_get(error);
	error = json_object_new_object();
	json_object_object_add(error, "code", json_object_new_string(
	    reply_error(answer)));
	json_object_object_add(error, "message", json_object_new_string(
	    message_of(d, answer, buf, sizeof(buf))));
	return error;
}

/* To stderr for people, as JSON to stdout. An exit code. */
static int
refused(struct dbg *d, struct json_object *answer)
{
	struct json_object *error = error_of(d, answer), *o;
	int code = dbg_exit_code(reply_str(error, "code", "error"));

	if (d->client.json_errors) {
		o = json_object_new_object();
		args_number(o, "schema", 1);
		json_object_object_add(o, "error", json_object_get(error));
		reply_print(o, stdout);
		json_object_put(o);
		d->printed = true;
	} else
		report_lines(reply_str(error, "code", "error"), reply_str(
		    error, "message", "no reason given"));
	json_object_put(error);
	return code;
}

int
dbg_answer(struct dbg *d, const char *line, size_t len,
    struct json_object **resultp)
{
	struct json_object *answer;
	int code;

	*resultp = NULL;
	if ((answer = reply_parse(line, len)) == NULL) {
		report("the answer is not JSON; is that debuglanternd?");
		return CTL_UNREACHABLE;
	}
	if (reply_error(answer) == NULL) {
		*resultp = answer;
		return CTL_OK;
	}
	code = refused(d, answer);
	json_object_put(answer);
	return code;
}

static int
read_answer(struct dbg *d, struct json_object **resultp)
{
	size_t len;
	char *line;
	int code;

	if ((line = wait_line(d, &len, &code)) == NULL)
		return code;
	return dbg_answer(d, line, len, resultp);
}

/*
 * The line of a request. In this form the daemon passes on what it does not
 * read, however long or deep that is. -1 after a report.
 */
static int
request_line(struct json_object *args, struct line *l)
{
	static const char *const flags[] = { "start", "list", "use" };
	static const char *const options[] = { "session", "name", "image",
		"sandbox", "network" };
	struct json_object *request = NULL;
	const char *value;
	size_t i, len;
	char *text;
	int r;

	r = line_word(l, "DEBUGGER");
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]) && r == 0; i++)
		if (reply_true(args, flags[i]))
			r = line_word(l, flags[i]);
	for (i = 0; i < sizeof(options) / sizeof(options[0]) && r == 0; i++)
		if ((value = reply_str(args, options[i], NULL)) != NULL)
			r = line_value(l, options[i], value);
	if (r == -1 || !json_object_object_get_ex(args, "request", &request))
		return r;
	if ((text = reply_text(request, &len)) == NULL) {
		report("out of memory");
		return -1;
	}
	r = line_as_it_is(l, text);
	free(text);
	return r;
}

int
dbg_send(struct dbg *d, struct json_object *args)
{
	struct line l = { 0 };
	int r = request_line(args, &l);

	json_object_put(args);
	if (r == 0)
		return client_send_line(&d->client, &l);
	free(l.text);
	return CTL_USAGE;
}

int
dbg_ask_daemon(struct dbg *d, struct json_object *args,
    struct json_object **resultp)
{
	int code;

	*resultp = NULL;
	catch_interrupt();
	code = dbg_send(d, args);
	return code == CTL_OK ? read_answer(d, resultp) : code;
}

struct json_object *
dbg_request(const char *request, struct json_object *args)
{
	struct json_object *outer = json_object_new_object();
	struct json_object *inner = json_object_new_object();

	json_object_object_add(inner, "command",
	    json_object_new_string(request));
	json_object_object_add(inner, "args", args);
	json_object_object_add(outer, "request", inner);
	return outer;
}

int
dbg_ask(struct dbg *d, const char *request, struct json_object *args,
    struct json_object **resultp)
{
	struct json_object *outer = dbg_request(request, args);

	*resultp = NULL;
	if (args_text(outer, "session", opt_value(&d->client.opts,
	    DOPT_SESSION)) == -1) {
		json_object_put(outer);
		return CTL_USAGE;
	}
	return dbg_ask_daemon(d, outer, resultp);
}

int
dbg_print(struct dbg *d, struct json_object *result)
{
	char cwd[4096];
	struct view v = {
		.out = stdout,
		.width = term_width(STDOUT_FILENO),
		.utf8 = view_utf8(),
		.colours = term_colours(STDOUT_FILENO),
		.types = opt_given(&d->client.opts, DOPT_TYPE),
	};

	if (d->client.json_errors) {
		reply_print(result, stdout);
		d->printed = true;
	} else {
		v.cwd = getcwd(cwd, sizeof(cwd));
		d->command->show(result, &v);
	}
	json_object_put(result);
	return report_flush();
}
