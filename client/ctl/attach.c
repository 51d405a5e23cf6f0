/* SPDX-License-Identifier: ISC */
/* The user's terminal at a session: keys go there, and what the program there
 * writes comes here as it is. Nothing waits for anything else, so that the
 * way out is open whatever the daemon, the network or the terminal does. */
#include <sys/signalfd.h>

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "escape.h"
#include "escape_filter.h"
#include "link.h"
#include "rawterm.h"
#include "switches.h"
#include "viewers.h"

#define SCROLL_MAX	1000U		/* lines */
#define NUDGE_MS	150
#define ACK_BYTES	(32U << 10)	/* shown between acknowledgements */
#define END_OF_FILE	0x04		/* VEOF of a terminal as it comes */
#define INTERRUPT	0x03
/*
 * Bytes of the queue that a typed byte may take, as the input before and after
 * a command of the escape character goes in separate messages.
 */
#define KEY_COST	3

enum slot { SLOT_SIGNAL, SLOT_KEYS, SLOT_LINK, SLOT_SCREEN, SLOT_MAX };

enum end { GOING_ON, DETACHED, CLOSED, ENDED, FAILED };

struct attach {
	struct client		*client;
	const char		*id;
	const struct attach_how	*how;
	const struct rawterm	*term;
	struct link		*link;
	struct escape		 escape;
	struct escape_filter	 filter;
	struct viewers		 viewers;
	int			 signal_fd;
	bool			 keys;		/* more may be typed */
	bool			 live;		/* the history is over */
	enum end		 end;
	int			 code;
	uint32_t		 signal;	/* that ended the program */
	uint64_t		 next;		/* offset of the next byte */
	uint64_t		 acked;
	bool			 began;
	uint64_t		 lost;
	char			*notice;
	char			*error;		/* the daemon's latest */
	int64_t			 nudge_ms;	/* when the size is right
						 * again; 0: it is */
	size_t			 done;		/* of what is to be shown */
	size_t			 len;
	unsigned char		 screen[SCROLL_MAX + TERMINAL_MAX +
				    ESCAPE_FILTER_HELD];
};

static void
finish(struct attach *a, enum end end, int code)
{
	if (a->end != GOING_ON)
		return;
	a->end = end;
	a->code = code;
}

static bool
showing(const struct attach *a)
{
	return a->done < a->len;
}

/* By our own choice, or since the daemon says so. */
static bool
read_only(const struct attach *a)
{
	return a->how->read_only || a->viewers.read_only;
}

/* The terminal's answers to a program come from one client, once. */
static void
decide_quiet(struct attach *a)
{
	a->filter.on = a->term->out && (!a->live || read_only(a) ||
	    !a->viewers.controller);
}

/* Shows a text of our own, behind what is being shown. */
static void
show_notice(struct attach *a)
{
	size_t len;

	if (a->notice == NULL || showing(a))
		return;
	len = strlen(a->notice);
	a->done = 0;
	a->len = len < sizeof(a->screen) ? len : sizeof(a->screen);
	memcpy(a->screen, a->notice, a->len);
	free(a->notice);
	a->notice = NULL;
}

static void
acknowledge(struct attach *a)
{
	if (a->next - a->acked < ACK_BYTES)
		return;
	a->acked = a->next;
	link_ack(a->link, a->next);
}

/*
 * The history begins with a preamble that clears the screen. Newlines before
 * the preamble scroll the old screen up, so that it stays in the terminal's
 * scrollback. Skip the preamble for a session of our own, which has no past to
 * clear for, and for a file, which gets what the program wrote.
 */
static size_t
before_history(struct attach *a, const struct terminal_msg *m, size_t *skip)
{
	unsigned int cols, rows, i;

	*skip = 0;
	if (m->preamble > 0 && (!a->term->out || (!a->began && a->how->own &&
	    m->offset == 0)))
		*skip = m->preamble;
	if (a->began || m->preamble == *skip)
		return 0;
	if (!rawterm_size(&cols, &rows))
		return 0;
	for (i = 0; i < rows && i < SCROLL_MAX; i++)
		a->screen[i] = '\n';
	return i;
}

static void
on_output(struct attach *a, const struct terminal_msg *m)
{
	size_t skip;

	decide_quiet(a);
	a->done = 0;
	a->len = before_history(a, m, &skip);
	a->len += escape_filter_feed(&a->filter, m->data + skip, m->len - skip,
	    a->screen + a->len);
	a->next = m->offset + m->len - m->preamble;
	/* The first one says that we acknowledge: history is paced too. */
	if (!a->began)
		link_ack(a->link, a->acked = m->offset);
	a->began = true;
}

static void
on_exit_message(struct attach *a, const struct terminal_msg *m)
{
	a->signal = m->signal;
	if (m->signal > 0)
		finish(a, ENDED, 128 + (int)(m->signal & 0x7f));
	else
		finish(a, ENDED, m->code & 0xff);
}

/* Not every error is the end; where it is, the daemon closes. */
static void
on_error(struct attach *a, const struct terminal_msg *m)
{
	free(a->error);
	if (asprintf(&a->error, "%s: %.*s", m->error, (int)m->text_len,
	    m->text) == -1)
		a->error = NULL;
}

static void
on_size(struct attach *a, const struct terminal_msg *m)
{
	a->viewers.cols = m->cols;
	a->viewers.rows = m->rows;
}

static void
on_lost(struct attach *a, const struct terminal_msg *m)
{
	a->lost += m->to - m->offset;
	a->next = m->to;
}

static void
on_people(struct attach *a, const struct terminal_msg *m)
{
	viewers_set(&a->viewers, m->data, m->len);
}

static void
on_live(struct attach *a, const struct terminal_msg *m)
{
	(void)m;
	a->live = true;
}

/* Takes messages while there is nothing left to show. */
static void
take_messages(struct attach *a)
{
	static void (*const handlers[])(struct attach *,
	    const struct terminal_msg *) = {
		[TERMINAL_OUTPUT & 0x7f] = on_output,
		[TERMINAL_HISTORY & 0x7f] = on_output,
		[TERMINAL_EXIT & 0x7f] = on_exit_message,
		[TERMINAL_ERROR & 0x7f] = on_error,
		[TERMINAL_SIZE & 0x7f] = on_size,
		[TERMINAL_LOST & 0x7f] = on_lost,
		[TERMINAL_VIEWERS & 0x7f] = on_people,
		[TERMINAL_LIVE & 0x7f] = on_live,
	};
	struct terminal_msg m;
	int r;

	while (a->end == GOING_ON && !showing(a) &&
	    (r = link_take(a->link, &m)) != 0) {
		if (r == -1)
			finish(a, FAILED, CTL_UNREACHABLE);
		else
			handlers[m.type & 0x7f](a, &m);
	}
}

static void
on_screen(struct attach *a)
{
	size_t len = a->len - a->done;
	ssize_t n;

	if (len > a->term->piece)
		len = a->term->piece;
	rawterm_showing(a->screen + a->done, len);
	n = write(a->term->out_fd, a->screen + a->done, len);
	if (n == -1)
		rawterm_shown("", 0);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == -1) {
		/* nobody looks any more */
		a->done = a->len = 0;
		if (a->term->out)
			finish(a, DETACHED, 128 + SIGHUP);
		else
			finish(a, CLOSED, errno == EPIPE ? 128 + SIGPIPE :
			    usage_error("cannot write: %s", strerror(errno)));
		return;
	}
	rawterm_shown(a->screen + a->done, (size_t)n);
	a->done += (size_t)n;
	if (!showing(a) && a->began)
		acknowledge(a);
}

static void
resize(struct attach *a)
{
	unsigned int cols, rows;

	if (!read_only(a) && rawterm_size(&cols, &rows))
		link_resize(a->link, cols, rows);
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * The program has not seen us go. On the screen of editors and the like what
 * was drawn is gone; they draw it again when the size changes, so it does,
 * for a moment.
 */
static void
back_again(struct attach *a)
{
	unsigned int cols, rows;

	resize(a);
	if (!rawterm_alternate())
		return;
	free(a->notice);
	a->notice = rawterm_again();
	if (read_only(a) || !rawterm_size(&cols, &rows) || rows < 2)
		return;
	link_resize(a->link, cols, rows - 1);
	a->nudge_ms = now_ms() + NUDGE_MS;
}

/* How long poll may wait. */
static int
nudge(struct attach *a)
{
	int64_t left = a->nudge_ms - now_ms();

	if (a->nudge_ms == 0)
		return -1;
	if (left > 0)
		return (int)left;
	a->nudge_ms = 0;
	resize(a);
	return -1;
}

static void
suspend(struct attach *a)
{
	rawterm_suspend();
	back_again(a);
}

static void
help(struct attach *a)
{
	free(a->notice);
	a->notice = viewers_text(&a->viewers, a->id, a->escape.key,
	    read_only(a));
}

static void
on_signal(struct attach *a)
{
	struct signalfd_siginfo si;

	if (read(a->signal_fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	switch (si.ssi_signo) {
	case SIGWINCH:
		resize(a);
		break;
	case SIGTSTP:
		suspend(a);
		break;
	case SIGCONT:
		/* a shell has taken the terminal meanwhile; after a stop of
		 * our own it is taken back already */
		rawterm_enter();
		back_again(a);
		break;
	default:
		finish(a, DETACHED, 128 + (int)si.ssi_signo);
	}
}

static void
send_keys(struct attach *a, const unsigned char *keys, size_t len)
{
	if (!read_only(a))
		link_input(a->link, keys, len);
	else if (memchr(keys, INTERRUPT, len) != NULL)
		finish(a, DETACHED, CTL_OK);
}

static void
typed(struct attach *a, const unsigned char *in, size_t len)
{
	unsigned char out[TERMINAL_INPUT + 1];
	enum escape_event event;
	size_t used, n;

	while (len > 0 && a->end == GOING_ON) {
		used = len;
		event = escape_feed(&a->escape, in, &used, out, &n);
		send_keys(a, out, n);
		if (event == ESCAPE_DETACH)
			finish(a, DETACHED, CTL_OK);
		else if (event == ESCAPE_SUSPEND)
			suspend(a);
		else if (event == ESCAPE_HELP)
			help(a);
		in += used;
		len -= used;
	}
}

/* No more will be typed. */
static void
end_of_keys(struct attach *a)
{
	static const unsigned char eof = END_OF_FILE;

	a->keys = false;
	if (a->term->in)
		finish(a, DETACHED, 128 + SIGHUP);
	else if (a->how->own)
		send_keys(a, &eof, 1);
}

static void
on_keys(struct attach *a)
{
	unsigned char in[TERMINAL_INPUT];
	size_t room = link_room(a->link) / KEY_COST;
	ssize_t n;

	if (room == 0)
		return;
	n = read(STDIN_FILENO, in, room);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		end_of_keys(a);
	else
		typed(a, in, (size_t)n);
}

/* Show output that has arrived before reading more: it may be the last. */
static bool
receiving(const struct attach *a)
{
	return !showing(a) && !link_ready(a->link);
}

static void
on_link(struct attach *a)
{
	if (link_turn(a->link, receiving(a)) == -1)
		finish(a, FAILED, a->error != NULL ? CTL_REFUSED :
		    CTL_UNREACHABLE);
}

static void
fill_slots(struct attach *a, struct pollfd *pfds)
{
	pfds[SLOT_SIGNAL] = (struct pollfd){ a->signal_fd, POLLIN, 0 };
	pfds[SLOT_KEYS] = (struct pollfd){ a->keys &&
	    link_room(a->link) >= KEY_COST ? STDIN_FILENO : -1, POLLIN, 0 };
	pfds[SLOT_LINK] = (struct pollfd){ link_fd(a->link),
	    link_events(a->link, receiving(a)), 0 };
	pfds[SLOT_SCREEN] = (struct pollfd){ showing(a) ? a->term->out_fd :
	    -1, POLLOUT, 0 };
	/* with nothing wanted of it, its end would be told again and again */
	if (pfds[SLOT_LINK].events == 0)
		pfds[SLOT_LINK].fd = -1;
}

static void
turn(struct attach *a)
{
	static void (*const handlers[])(struct attach *) = {
		[SLOT_SIGNAL] = on_signal, [SLOT_KEYS] = on_keys,
		[SLOT_LINK] = on_link, [SLOT_SCREEN] = on_screen,
	};
	bool buffered = receiving(a) && link_buffered(a->link);
	struct pollfd pfds[SLOT_MAX];
	int timeout;
	size_t i;

	timeout = nudge(a);
	fill_slots(a, pfds);
	if (poll(pfds, SLOT_MAX, buffered ? 0 : timeout) == -1) {
		if (errno != EINTR)
			finish(a, FAILED, usage_error("poll: %s",
			    strerror(errno)));
		return;
	}
	if (buffered)
		pfds[SLOT_LINK].revents |= POLLIN;
	for (i = 0; i < SLOT_MAX; i++)
		if (pfds[i].revents != 0 && a->end == GOING_ON)
			handlers[i](a);
}

static void
attend(struct attach *a)
{
	/* what came in one piece with the answer is here already */
	on_link(a);
	while (a->end == GOING_ON) {
		show_notice(a);
		take_messages(a);
		if (a->end == GOING_ON)
			turn(a);
	}
}

/* How to come back, in words that can be typed. */
static void
tell_way_back(const struct attach *a, const char *what)
{
	const char *target = a->client->opts.value[OPT_TARGET];
	const char *name = a->how->own ? a->client->opts.value[OPT_NAME] :
	    NULL;

	report("%s; the session goes on, come back with: %s%s%s attach %s",
	    what, CTL_NAME, target != NULL ? " -t " : "",
	    target != NULL ? target : "", name != NULL ? name : a->id);
}

static void
tell_end(const struct attach *a, char *why)
{
	const char *name = sigabbrev_np((int)(a->signal & 0x7f));

	/* The program may have left the cursor anywhere. */
	if (a->end != ENDED && a->term->out)
		fputc('\n', stderr);
	/* The end of a connection that was refused is no news. */
	if (a->end == FAILED && a->error != NULL)
		report("%s", a->error);
	else if (why != NULL)
		report("%s", why);
	free(why);
	if (a->lost > 0)
		report("%" PRIu64 " bytes of output were not shown: they came "
		    "faster than they could be", a->lost);
	if (a->end == DETACHED || (a->end == CLOSED && !a->how->own))
		tell_way_back(a, "detached");
	else if (a->end == FAILED && a->code == CTL_UNREACHABLE)
		tell_way_back(a, "the connection is lost");
	else if (a->end == ENDED && a->signal > 0 && !a->how->own)
		report("the program was ended by SIG%s", name != NULL ? name :
		    "NAL");
	else if (a->end == ENDED && !a->how->own)
		report("the program has ended with exit code %d", a->code);
}

static int
take_signals(void)
{
	static const int ours[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH,
		SIGUSR1, SIGUSR2, SIGALRM,
	};

	return signals_take(ours, sizeof(ours) / sizeof(ours[0]));
}

static int
escape_key(const struct client *c, bool terminal)
{
	const char *text = c->opts.value[OPT_ESCAPE];

	if (!terminal)
		return ESCAPE_NONE;
	return text != NULL ? escape_parse(text) : '~';
}

static int
open_link(struct attach *a, struct json_object **sessionp)
{
	struct link_how how = { .from = a->how->from,
	    .read_only = a->how->read_only };

	if (!rawterm_size(&how.cols, &how.rows))
		how.cols = how.rows = 0;
	return link_attach(a->client, a->id, &how, &a->link, sessionp);
}

static int
run(struct attach *a)
{
	struct json_object *session;
	int code;

	a->term = rawterm_begin();
	escape_init(&a->escape, escape_key(a->client, a->term->in));
	escape_filter_init(&a->filter,
	    strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	viewers_init(&a->viewers);
	a->keys = true;
	if ((code = open_link(a, &session)) != CTL_OK)
		return code;
	json_object_put(session);
	/* until then they end this program, as they do any */
	if ((a->signal_fd = take_signals()) == -1)
		return usage_error("signalfd: %s", strerror(errno));
	rawterm_enter();
	/* A message in the middle of a screen would be lost in it. */
	report_hold();
	attend(a);
	rawterm_leave();
	tell_end(a, report_release());
	return a->code;
}

int
attach_session(struct client *c, const char *id, const struct attach_how *how,
    bool *overp)
{
	struct attach *a = calloc(1, sizeof(*a));
	int code;

	*overp = false;
	if (a == NULL)
		return usage_error("out of memory");
	a->client = c;
	a->id = id;
	a->how = how;
	a->signal_fd = -1;
	code = run(a);
	/* what it would meet if it wrote there itself would end it, too */
	*overp = a->end == ENDED || a->end == CLOSED;
	if (a->signal_fd != -1)
		close(a->signal_fd);
	viewers_clear(&a->viewers);
	free(a->notice);
	free(a->error);
	link_free(a->link);
	free(a);
	return code;
}

int
attach_check(const struct client *c)
{
	const char *escape = c->opts.value[OPT_ESCAPE];

	if (escape == NULL || escape_parse(escape) != -2)
		return CTL_OK;
	return usage_error("--escape %s: give a character, \"^\" and one for "
	    "a control character, or \"none\"", escape);
}

int
ctl_attach(struct client *c, int argc, char **argv)
{
	struct attach_how how = { .from = c->opts.value[OPT_FROM],
	    .read_only = opt_given(&c->opts, OPT_READ_ONLY) };
	long long from;
	bool over;
	int code;

	(void)argc;
	if (how.from != NULL && opt_number(&c->opts, OPT_FROM, 0, INT64_MAX,
	    &from) == -1)
		return CTL_USAGE;
	if ((code = attach_check(c)) != CTL_OK)
		return code;
	return attach_session(c, argv[0], &how, &over);
}
