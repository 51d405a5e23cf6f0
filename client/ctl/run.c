/* SPDX-License-Identifier: ISC */
/*
 * run: a remote program as if it were local. Output is followed on one
 * connection and input is sent on another. Each signal gets its own connection,
 * since a pending answer must not hold signals back.
 */
#include <sys/signalfd.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "basic.h"
#include "client/lib/client.h"
#include "client/lib/follow.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "client/lib/stream.h"
#include "outbuf.h"
#include "run.h"
#include "shell.h"
#include "switches.h"
#include "transfer.h"

#define INPUT_PIECE	(32U << 10)
#define RETRIES		5
#define NASIDES		4

enum slot {
	SLOT_SIGNAL, SLOT_FOLLOW, SLOT_STDIN, SLOT_INPUT, SLOT_OUT, SLOT_ERR,
	SLOT_ASIDE, SLOT_MAX = SLOT_ASIDE + NASIDES
};

struct run {
	struct client	*client;
	char		*id;
	struct conn	*follow;
	struct conn	*input;		/* NULL until it is needed */
	struct conn	*asides[NASIDES];
	size_t		 naside;
	int		 signal_fd;
	unsigned int	 nsignals;
	struct outbuf	 out;
	struct outbuf	 err;
	uint64_t	 next;		/* offset of the next byte */
	bool		 holds;		/* the daemon can make it wait */
	bool		 stdin_open;	/* more input may come */
	size_t		 in_flight;	/* bytes not yet acknowledged */
	bool		 input_busy;
	bool		 final;		/* the program has ended */
	bool		 gave_up;
	char		 signal[24];	/* what ended it, "" for none */
	int		 code;		/* what run exits with */
};

/* Sends one command on a connection of its own; its answer is not awaited. */
static void
send_aside(struct run *r, const char *verb, const char *word)
{
	struct client c = *r->client;

	if (r->naside == NASIDES)
		return;
	c.conn = NULL;
	if (client_send(&c, verb, r->id, word, NULL) == CTL_OK)
		r->asides[r->naside++] = c.conn;
	else
		dconn_close(c.conn);
}

/* The first signal asks the program to end, the second makes it. */
static int
on_signal(struct run *r)
{
	struct signalfd_siginfo si;

	if (read(r->signal_fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return 0;
	if (r->nsignals == 0 && si.ssi_signo == SIGINT)
		send_aside(r, "SIGNAL", "INT");
	else if (r->nsignals == 0)
		send_aside(r, "STOP", NULL);
	else if (r->nsignals == 1)
		send_aside(r, "KILL", NULL);
	else {
		r->gave_up = true;
		r->code = 128 + (int)si.ssi_signo;
	}
	r->nsignals++;
	return 0;
}

static int
send_follow(struct run *r)
{
	struct client c = *r->client;
	char digits[24];
	int code;

	c.conn = NULL;
	snprintf(digits, sizeof(digits), "%" PRIu64, r->next);
	code = client_send(&c, "FOLLOW", r->id, digits, "base64",
	    r->holds ? "hold" : NULL, NULL);
	if (code != CTL_OK)
		dconn_close(c.conn);
	else
		r->follow = c.conn;
	return code;
}

/* Follows it; with the first line it is held, and can be started. */
static int
begin_follow(struct run *r)
{
	struct json_object *json;
	int code;

	code = client_extends(r->client, "FOLLOW hold", &r->holds);
	if (code != CTL_OK ||
	    (code = send_follow(r)) != CTL_OK || !r->holds)
		return code;
	if ((code = client_read(r->follow, &json)) != CTL_OK)
		return code;
	if (reply_error(json) != NULL) {
		client_refused(r->client, json);
		code = CTL_REFUSED;
	}
	json_object_put(json);
	return code;
}

/* The daemon may have lost its connections; the session lives on. */
static int
follow_again(struct run *r)
{
	int code = CTL_UNREACHABLE, tries;

	dconn_close(r->follow);
	r->follow = NULL;
	for (tries = 0; tries < RETRIES && code == CTL_UNREACHABLE; tries++) {
		if (tries > 0)
			sleep(1);
		code = send_follow(r);
	}
	return code;
}

static int
take_event(struct run *r, struct json_object *json)
{
	struct follow_event e;

	if (follow_decode(json, &e) == -1)
		return CTL_UNREACHABLE;
	if (e.offset > r->next)
		report("%" PRIu64 " bytes of output are lost: it came faster "
		    "than it was read", e.offset - r->next);
	r->next = e.offset + e.len;
	if (e.has_data && outbuf_put(e.to_stderr ? &r->err : &r->out, e.data,
	    e.len) == -1)
		report("out of memory: output is lost");
	if (e.final) {
		r->final = true;
		r->code = e.exit_code;
		strlcpy(r->signal, e.out_of_memory ? "" : e.signal,
		    sizeof(r->signal));
		if (e.out_of_memory)
			report("killed: its memory, or that of all your "
			    "sessions together, was used up (\"" CTL_NAME
			    " quota\" shows both)");
	}
	follow_event_clear(&e);
	return CTL_OK;
}

/* Takes lines while there is nothing left to write of the last one. */
static int
take_events(struct run *r)
{
	struct json_object *json;
	size_t len;
	char *text;
	int code = CTL_OK;

	while (code == CTL_OK && !r->final && !outbuf_pending(&r->out) &&
	    !outbuf_pending(&r->err) && r->follow != NULL &&
	    (text = dconn_take_line(r->follow, &len)) != NULL) {
		if ((json = reply_parse(text, len)) == NULL) {
			report("a line of output is not JSON");
			return CTL_UNREACHABLE;
		}
		if (reply_error(json) != NULL) {
			client_refused(r->client, json);
			code = CTL_REFUSED;
		} else
			code = take_event(r, json);
		json_object_put(json);
	}
	return code;
}

static int
on_follow(struct run *r)
{
	ssize_t n = dconn_fill(r->follow);

	if (n > 0 || (n == -1 && errno == EAGAIN))
		return CTL_OK;
	return follow_again(r);
}

/* Sends a piece of input, or its end (len is 0). */
static void
send_input(struct run *r, const char *buf, size_t len)
{
	struct client c = *r->client;
	char digits[24];
	int code;

	c.conn = r->input;
	snprintf(digits, sizeof(digits), "%zu", len);
	code = client_send(&c, "INPUT", r->id, len > 0 ? digits : "eof",
	    NULL);
	r->input = c.conn;
	if (code == CTL_OK && dconn_send(r->input, buf, len) == -1) {
		report("cannot send the input: %s", dconn_strerror(r->input));
		code = CTL_UNREACHABLE;
	}
	if (code != CTL_OK || len == 0)
		r->stdin_open = false;
	r->input_busy = code == CTL_OK;
	r->in_flight = len;
}

static int
on_stdin(struct run *r)
{
	char buf[INPUT_PIECE];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	send_input(r, buf, n > 0 ? (size_t)n : 0);
	return 0;
}

static void
take_input_answer(struct run *r, struct json_object *json)
{
	const char *error = reply_error(json);

	r->input_busy = false;
	if (error == NULL)
		return;
	/* A program need not read, or live, until its input ends. */
	r->stdin_open = false;
	if (strcmp(error, "not_running") != 0)
		client_refused(r->client, json);
}

static int
on_input(struct run *r)
{
	struct json_object *json;
	ssize_t n = dconn_fill(r->input);
	size_t len;
	char *text;

	if (n == 0 || (n == -1 && errno != EAGAIN)) {
		/* An idle connection may be closed: the next piece gets a
		 * new one. */
		if (r->input_busy && r->in_flight > 0)
			report("the connection broke: up to %zu bytes of "
			    "input are lost", r->in_flight);
		dconn_close(r->input);
		r->input = NULL;
		r->input_busy = false;
		return 0;
	}
	if ((text = dconn_take_line(r->input, &len)) == NULL)
		return 0;
	if ((json = reply_parse(text, len)) == NULL) {
		report("the answer to INPUT is not JSON");
		return CTL_UNREACHABLE;
	}
	take_input_answer(r, json);
	json_object_put(json);
	return 0;
}

static int
flush_outbuf(struct run *r, struct outbuf *s)
{
	if (outbuf_flush(s) == 0)
		return 0;
	if (errno != EPIPE)
		report("cannot write the output: %s", strerror(errno));
	/* Send what the program would get if it wrote there itself. */
	if (!r->final)
		send_aside(r, "SIGNAL", "PIPE");
	return 0;
}

static int
on_out(struct run *r)
{
	return flush_outbuf(r, &r->out);
}

static int
on_err(struct run *r)
{
	return flush_outbuf(r, &r->err);
}

static void
drop_aside(struct run *r, size_t i)
{
	dconn_close(r->asides[i]);
	r->asides[i] = NULL;
}

static void
want(struct pollfd *pfds, enum slot slot, bool wanted, int fd, short events)
{
	pfds[slot].fd = wanted ? fd : -1;
	pfds[slot].events = events;
	pfds[slot].revents = 0;
}

static void
fill_slots(struct run *r, struct pollfd *pfds)
{
	bool pending = outbuf_pending(&r->out) || outbuf_pending(&r->err);
	size_t i;

	want(pfds, SLOT_SIGNAL, true, r->signal_fd, POLLIN);
	want(pfds, SLOT_FOLLOW, !pending && !r->final,
	    dconn_fd(r->follow), dconn_read_events(r->follow));
	want(pfds, SLOT_STDIN, r->stdin_open && !r->input_busy && !r->final,
	    STDIN_FILENO, POLLIN);
	if (r->input != NULL && !r->final)
		want(pfds, SLOT_INPUT, true, dconn_fd(r->input),
		    dconn_read_events(r->input));
	else
		want(pfds, SLOT_INPUT, false, -1, 0);
	want(pfds, SLOT_OUT, outbuf_pending(&r->out), r->out.out_fd, POLLOUT);
	want(pfds, SLOT_ERR, outbuf_pending(&r->err), r->err.out_fd, POLLOUT);
	for (i = 0; i < NASIDES; i++)
		want(pfds, SLOT_ASIDE + (enum slot)i, r->asides[i] != NULL,
		    r->asides[i] != NULL ? dconn_fd(r->asides[i]) : -1,
		    POLLIN);
}

/* A turn of the loop. An exit code: anything but CTL_OK ends the loop. */
static int
turn(struct run *r)
{
	static int (*const handlers[])(struct run *) = {
		[SLOT_SIGNAL] = on_signal, [SLOT_FOLLOW] = on_follow,
		[SLOT_STDIN] = on_stdin, [SLOT_INPUT] = on_input,
		[SLOT_OUT] = on_out, [SLOT_ERR] = on_err,
	};
	struct pollfd pfds[SLOT_MAX];
	size_t i;
	int code;

	fill_slots(r, pfds);
	if (poll(pfds, SLOT_MAX, -1) == -1)
		return errno == EINTR ? CTL_OK : CTL_USAGE;
	for (i = 0; i < SLOT_ASIDE; i++)
		if (pfds[i].revents != 0 &&
		    (code = handlers[i](r)) != CTL_OK)
			return code;
	for (i = 0; i < NASIDES; i++)
		if (pfds[SLOT_ASIDE + i].revents != 0)
			drop_aside(r, i);
	return CTL_OK;
}

/* From START to the end of the program and of its output. */
static int
attend(struct run *r)
{
	int code;

	while ((code = take_events(r)) == CTL_OK) {
		if (r->gave_up || (r->final && !outbuf_pending(&r->out) &&
		    !outbuf_pending(&r->err)))
			break;
		if ((code = turn(r)) != CTL_OK)
			break;
	}
	if (code != CTL_OK || r->gave_up)
		return code;
	outbuf_end(&r->out);
	outbuf_end(&r->err);
	while (outbuf_pending(&r->out) && outbuf_flush(&r->out) == 0)
		;
	while (outbuf_pending(&r->err) && outbuf_flush(&r->err) == 0)
		;
	return CTL_OK;
}

/* Environment and arguments. */
static int
prepare(struct run *r, char **argv)
{
	struct client *c = r->client;
	struct json_object *json;
	struct line l = { 0 };
	const struct opt_list *env = &c->opts.list[LIST_ENV];
	size_t i;
	int code;

	for (i = 0; i < env->n; i++) {
		code = change_variable(c, "ENV", r->id, env->value[i],
		    &json);
		json_object_put(json);
		if (code != CTL_OK)
			return code;
	}
	if (*argv == NULL)
		return CTL_OK;
	if (args_line(&l, r->id, argv) == -1) {
		free(l.text);
		return CTL_USAGE;
	}
	if ((code = client_send_line(c, &l)) != CTL_OK)
		return code;
	code = client_answer(c, &json);
	json_object_put(json);
	return code;
}

/* From now on signals are meant for the program, or end what waits for it. */
static int
take_signals(struct run *r)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGHUP };

	r->signal_fd = signals_take(ours, sizeof(ours) / sizeof(ours[0]));
	stream_interruptible(r->signal_fd);
	if (r->signal_fd != -1)
		return CTL_OK;
	return usage_error("signalfd: %s", strerror(errno));
}

/* Drops signals that have ended something: they must not end what follows. */
static void
forget_signals(const struct run *r)
{
	struct signalfd_siginfo si;

	while (r->signal_fd != -1 &&
	    read(r->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		;
	stream_interruptible(r->signal_fd);
}

/* A connection that was idle for a whole run may be gone: take a new one. */
static void
forget_session(struct run *r, bool alive)
{
	struct client *c = r->client;
	struct json_object *json;

	dconn_close(c->conn);
	c->conn = NULL;
	forget_signals(r);
	if (r->gave_up) {
		report("session %s is left on the target", r->id);
		return;
	}
	if (alive && client_ask(c, &json, "KILL", r->id, NULL) == CTL_OK)
		json_object_put(json);
	if (client_ask(c, &json, "DELETE", r->id, NULL) == CTL_OK)
		json_object_put(json);
}

/* Not of what was asked for here, or comes of output that nobody reads. */
static void
tell_signal(const struct run *r)
{
	if (r->signal[0] != '\0' && r->nsignals == 0 &&
	    strcmp(r->signal, "SIGPIPE") != 0)
		report("the program was ended by %s", r->signal);
}

static int
run_session(struct run *r, char **argv)
{
	struct json_object *json;
	bool started = false;
	int code;

	if ((code = take_signals(r)) != CTL_OK ||
	    (code = prepare(r, argv)) != CTL_OK)
		goto done;
	/* First the follower, so that no byte can be missed. */
	if ((code = begin_follow(r)) != CTL_OK)
		goto done;
	code = start_session(r->client, r->id, "--split", &json);
	json_object_put(json);
	/* it may be for all that is known when no answer came */
	started = code == CTL_OK || code == CTL_UNREACHABLE;
	if (code != CTL_OK)
		goto done;
	stream_interruptible(-1);
	if ((code = attend(r)) == CTL_OK) {
		tell_signal(r);
		code = r->code;
	}
done:
	forget_session(r, started && !r->final);
	return code;
}

int
ctl_run(struct client *c, int argc, char **argv)
{
	bool raw = opt_given(&c->opts, OPT_RAW);
	struct run r = { .client = c, .signal_fd = -1 };
	struct json_object *json;
	size_t i;
	int code;

	(void)argc;
	if ((code = attach_check(c)) != CTL_OK ||
	    (code = upload_file(c, argv[0], &json)) != CTL_OK)
		return code;
	r.id = strdup(reply_str(json, "id", ""));
	json_object_put(json);
	if (r.id == NULL)
		return usage_error("out of memory");
	if (opt_given(&c->opts, OPT_TTY)) {
		if ((code = prepare(&r, argv + 1)) == CTL_OK)
			code = shell_run(c, r.id);
		else
			forget_session(&r, false);
		free(r.id);
		return code;
	}
	outbuf_init(&r.out, STDOUT_FILENO, raw);
	outbuf_init(&r.err, STDERR_FILENO, raw);
	r.stdin_open = true;
	code = run_session(&r, argv + 1);
	dconn_close(r.follow);
	dconn_close(r.input);
	for (i = 0; i < NASIDES; i++)
		dconn_close(r.asides[i]);
	stream_interruptible(-1);
	if (r.signal_fd != -1)
		close(r.signal_fd);
	outbuf_free(&r.out);
	outbuf_free(&r.err);
	free(r.id);
	return code;
}
