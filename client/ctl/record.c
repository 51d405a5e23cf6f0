/* SPDX-License-Identifier: ISC */
/*
 * record: another viewer, which writes down what it sees and when. The file is
 * complete after every line, however record ends.
 */
#include <sys/signalfd.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cast.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "link.h"
#include "record.h"
#include "switches.h"

#define ACK_BYTES	(32U << 10)
#define COLS		80U		/* where the daemon does not say */
#define ROWS		24U

struct record {
	struct link		*link;
	struct cast_writer	 cast;
	struct timespec		 start;
	int			 signal_fd;
	uint64_t		 acked;
	bool			 began;		/* the header is written */
	unsigned int		 cols;
	unsigned int		 rows;
	const char		*title;
	FILE			*out;
	bool			 refused;	/* the daemon's error */
	bool			 over;
	int			 code;
};

static double
now(const struct record *r)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)(ts.tv_sec - r->start.tv_sec) +
	    (double)(ts.tv_nsec - r->start.tv_nsec) / 1e9;
}

static void
finish(struct record *r, int code)
{
	r->over = true;
	r->code = code;
}

/* The header waits for the first size, which comes before any output. */
static void
begin(struct record *r)
{
	if (r->began)
		return;
	r->began = true;
	clock_gettime(CLOCK_MONOTONIC, &r->start);
	cast_begin(&r->cast, r->out, r->cols, r->rows, time(NULL), r->title);
}

static void
on_output(struct record *r, const struct terminal_msg *m)
{
	uint64_t next = m->offset + m->len - m->preamble;

	begin(r);
	cast_output(&r->cast, now(r), m->data, m->len);
	if (next - r->acked >= ACK_BYTES)
		link_ack(r->link, r->acked = next);
}

static void
on_size(struct record *r, const struct terminal_msg *m)
{
	if (r->began && (m->cols != r->cols || m->rows != r->rows))
		cast_resize(&r->cast, now(r), m->cols, m->rows);
	r->cols = m->cols;
	r->rows = m->rows;
}

static void
on_lost(struct record *r, const struct terminal_msg *m)
{
	char text[64];

	begin(r);
	snprintf(text, sizeof(text), "%" PRIu64 " bytes are lost",
	    m->to - m->offset);
	cast_mark(&r->cast, now(r), text);
	report("%s: they came faster than they could be recorded", text);
}

static void
on_message(struct record *r, const struct terminal_msg *m)
{
	switch (m->type) {
	case TERMINAL_OUTPUT:
	case TERMINAL_HISTORY:
		on_output(r, m);
		break;
	case TERMINAL_SIZE:
		on_size(r, m);
		break;
	case TERMINAL_LOST:
		on_lost(r, m);
		break;
	case TERMINAL_EXIT:
		finish(r, CTL_OK);
		break;
	case TERMINAL_ERROR:
		report("%s: %.*s", m->error, (int)m->text_len, m->text);
		r->refused = true;
		break;
	default:
		break;
	}
}

static void
take_messages(struct record *r)
{
	struct terminal_msg m;
	int got = 0;

	while (!r->over && (got = link_take(r->link, &m)) == 1)
		on_message(r, &m);
	if (got == -1)
		finish(r, CTL_UNREACHABLE);
	if (r->out != NULL && ferror(r->out))
		finish(r, CTL_USAGE);
}

static void
turn(struct record *r)
{
	struct pollfd pfds[] = {
		{ r->signal_fd, POLLIN, 0 },
		{ link_fd(r->link), link_events(r->link, true), 0 },
	};

	if (poll(pfds, 2, link_buffered(r->link) ? 0 : -1) == -1 &&
	    errno != EINTR)
		finish(r, usage_error("poll: %s", strerror(errno)));
	/* Ctrl-C is how a recording is meant to end. */
	else if (pfds[0].revents != 0)
		finish(r, CTL_OK);
	else if (link_turn(r->link, true) == -1)
		finish(r, r->refused ? CTL_REFUSED : CTL_UNREACHABLE);
}

static int
attend(struct record *r)
{
	/* one that was never acknowledged would not be paced */
	link_ack(r->link, 0);
	while (!r->over) {
		take_messages(r);
		if (!r->over)
			turn(r);
	}
	begin(r);
	if (cast_end(&r->cast, now(r)) == 0)
		return r->code;
	return usage_error("cannot write the recording: %s", strerror(errno));
}

/* The size as the session object has it, until a message tells. */
static void
first_size(struct record *r, struct json_object *session)
{
	int64_t cols, rows;

	r->cols = COLS;
	r->rows = ROWS;
	if (!reply_int(session, "cols", &cols) || cols < 1 || cols > 10000 ||
	    !reply_int(session, "rows", &rows) || rows < 1 || rows > 10000)
		return;
	r->cols = (unsigned int)cols;
	r->rows = (unsigned int)rows;
}

/* Where it is written to; made only once the session is there. */
static int
open_out(const struct client *c, FILE **outp)
{
	const char *path = c->opts.value[OPT_OUTFILE];

	*outp = path != NULL ? fopen(path, "we") : stdout;
	if (*outp == NULL)
		return usage_error("%s: %s", path, strerror(errno));
	return CTL_OK;
}

static int
record(struct client *c, struct record *r, const char *id)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGHUP };
	struct link_how how = { .read_only = true };
	struct json_object *session;
	int code;

	code = link_attach(c, id, &how, &r->link, &session);
	if (code != CTL_OK)
		return code;
	first_size(r, session);
	r->title = reply_str(session, "name", NULL);
	r->signal_fd = signals_take(ours, sizeof(ours) / sizeof(ours[0]));
	if (r->signal_fd == -1)
		code = usage_error("signalfd: %s", strerror(errno));
	else if ((code = open_out(c, &r->out)) == CTL_OK)
		code = attend(r);
	json_object_put(session);
	return code;
}

int
ctl_record(struct client *c, int argc, char **argv)
{
	struct record r = { .signal_fd = -1 };
	int code;

	(void)argc;
	if (!opt_given(&c->opts, OPT_OUTFILE) && isatty(STDOUT_FILENO))
		return usage_error("standard output is a terminal; record to a "
		    "file: %s record %s >%s.cast", CTL_NAME, argv[0], argv[0]);
	code = record(c, &r, argv[0]);
	if (r.out != NULL && r.out != stdout)
		fclose(r.out);
	if (r.signal_fd != -1)
		close(r.signal_fd);
	link_free(r.link);
	return code;
}
