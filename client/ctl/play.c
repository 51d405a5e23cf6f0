/* SPDX-License-Identifier: ISC */
/*
 * play: a recording on the user's terminal, at its own speed or as told. It
 * needs no daemon. Sequences that a terminal would answer are left out.
 */
#include <sys/signalfd.h>

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cast.h"
#include "client/lib/client.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "escape_filter.h"
#include "play.h"
#include "rawterm.h"
#include "switches.h"

#define PIECE		4096U

struct play {
	const struct rawterm	*term;
	struct cast_reader	*cast;
	struct escape_filter	 filter;
	int			 signal_fd;
	bool			 keys;		/* a terminal to press them */
	double			 speed;
	double			 idle_limit;	/* 0: none */
	double			 clock;		/* where the recording is */
	bool			 paused;
	unsigned int		 steps;		/* events to go on, now */
	unsigned int		 marks;		/* and marks */
	bool			 resize;	/* the terminal follows */
	unsigned int		 cols;		/* the recording's largest */
	unsigned int		 rows;
	bool			 over;
	bool			 broken;	/* nothing can be shown */
	int			 code;
};

static double
monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
finish(struct play *p, int code)
{
	p->over = true;
	p->code = code;
}

static void
on_signal(struct play *p)
{
	struct signalfd_siginfo si;

	if (read(p->signal_fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGTSTP)
		rawterm_suspend();
	else if (si.ssi_signo == SIGCONT)
		rawterm_enter();
	else
		finish(p, 128 + (int)si.ssi_signo);
}

static void
on_keys(struct play *p)
{
	unsigned char keys[256];
	ssize_t i, n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0 && errno != EAGAIN && errno != EINTR)
		p->keys = false;
	for (i = 0; i < n; i++) {
		if (keys[i] == 'q' || keys[i] == 0x03)
			finish(p, CTL_OK);
		else if (keys[i] == ' ')
			p->paused = !p->paused;
		else if (keys[i] == '.')
			p->steps += p->paused;
		else if (keys[i] == ']')
			p->marks++;
		else if (keys[i] == 0x1a)
			rawterm_suspend();
	}
}

/* Keys, signals, and up to ms for them, or until there is room to write. */
static bool
look(struct play *p, int ms, bool write)
{
	struct pollfd pfds[] = {
		{ p->signal_fd, POLLIN, 0 },
		{ p->keys ? STDIN_FILENO : -1, POLLIN, 0 },
		{ write ? p->term->out_fd : -1, POLLOUT, 0 },
	};

	if (poll(pfds, 3, ms) == -1)
		return false;
	if (pfds[0].revents != 0)
		on_signal(p);
	if (pfds[1].revents != 0)
		on_keys(p);
	return pfds[2].revents != 0;
}

/* Waits for so many seconds, not counting pauses by the user. */
static void
rest(struct play *p, double seconds)
{
	double before, left = seconds;

	while (!p->over && p->steps == 0 && p->marks == 0 &&
	    (p->paused || left > 0)) {
		before = monotonic();
		look(p, p->paused ? -1 : left > 3600 ? 3600000 :
		    (int)ceil(left * 1000), false);
		if (!p->paused)
			left -= monotonic() - before;
	}
}

static void
put(struct play *p, const unsigned char *buf, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && !p->over) {
		if (!look(p, -1, true))
			continue;
		n = write(p->term->out_fd, buf + done, size - done <
		    p->term->piece ? size - done : p->term->piece);
		if (n > 0) {
			rawterm_shown(buf + done, (size_t)n);
			done += (size_t)n;
		} else if (errno != EAGAIN && errno != EINTR) {
			p->broken = true;
			finish(p, errno == EPIPE ? CTL_OK : usage_error(
			    "cannot write: %s", strerror(errno)));
		}
	}
}

static void
show_piece(struct play *p, const char *data, size_t len)
{
	unsigned char buf[PIECE + ESCAPE_FILTER_HELD];

	put(p, buf, escape_filter_feed(&p->filter,
	    (const unsigned char *)data, len, buf));
}

/* Asks the terminal to have that size. */
static void
ask_size(struct play *p, unsigned int cols, unsigned int rows)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "\033[8;%u;%ut", rows, cols);

	put(p, (const unsigned char *)text, (size_t)n);
}

static void
on_resize(struct play *p, unsigned int cols, unsigned int rows)
{
	if (cols > p->cols)
		p->cols = cols;
	if (rows > p->rows)
		p->rows = rows;
	if (p->resize)
		ask_size(p, cols, rows);
}

static void
show(struct play *p, const struct cast_event *e)
{
	size_t at, len;

	for (at = 0; at < e->len && !p->over; at += len) {
		len = e->len - at < PIECE ? e->len - at : PIECE;
		show_piece(p, e->data + at, len);
	}
}

static void
happen(struct play *p, const struct cast_event *e)
{
	unsigned int cols, rows;

	if (e->code == 'o')
		show(p, e);
	else if (cast_size(e, &cols, &rows))
		on_resize(p, cols, rows);
	else if (e->code == 'm' && p->marks > 0)
		p->marks--;
	if (p->steps > 0)
		p->steps--;
}

static void
play(struct play *p)
{
	struct cast_event e;
	double gap;
	int r = 0;

	while (!p->over && (r = cast_next(p->cast, &e)) == 1) {
		gap = e.at - p->clock;
		p->clock = e.at;
		if (p->idle_limit > 0 && gap > p->idle_limit)
			gap = p->idle_limit;
		/* where nobody looks nothing need take its time */
		if (p->term->out)
			rest(p, gap / p->speed);
		happen(p, &e);
	}
	if (r == -1)
		finish(p, CTL_USAGE);
}

/* A number above zero; -1 after a report. */
static int
factor(const struct client *c, unsigned int opt, double *np)
{
	const char *text = c->opts.value[opt];
	char *end;

	if (text == NULL)
		return 0;
	*np = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && *end == '\0' && isfinite(*np) &&
	    *np >= 0.001 && *np <= 1e6)
		return 0;
	report("--%s %s: give a number from 0.001 to 1000000",
	    opt_name(opt), text);
	return -1;
}

/* Warns if the terminal is too small: the recording plays but looks wrong. */
static void
check_size(const struct play *p, const char *when)
{
	unsigned int cols, rows;

	if (p->term->out && !p->resize && rawterm_size(&cols, &rows) &&
	    (cols < p->cols || rows < p->rows))
		report("this terminal has %ux%u, the recording %s %ux%u: make "
		    "it larger, or let --resize ask for that", cols, rows,
		    when, p->cols, p->rows);
}

/* A terminal that follows the recording has its own size again behind it. */
static void
play_on_terminal(struct play *p)
{
	unsigned int cols = 0, rows = 0;
	bool follows = p->term->out && p->resize && rawterm_size(&cols, &rows);

	p->resize = follows;
	if (p->term->out)
		rawterm_enter();
	report_hold();
	if (follows)
		ask_size(p, p->cols, p->rows);
	play(p);
	/* also when that was ended by a key or a signal */
	p->over = p->broken;
	if (follows)
		ask_size(p, cols, rows);
	rawterm_leave();
}

static int
play_file(struct play *p, bool from_stdin)
{
	static const int ours[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT,
	};
	unsigned int cols = p->cols, rows = p->rows;
	char *why;

	p->term = rawterm_begin();
	p->keys = p->term->in && p->term->out && !from_stdin;
	p->signal_fd = signals_take(ours, sizeof(ours) / sizeof(ours[0]));
	if (p->signal_fd == -1)
		return usage_error("signalfd: %s", strerror(errno));
	escape_filter_init(&p->filter,
	    strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	/* A file is written as it was recorded. */
	p->filter.on = p->term->out;
	check_size(p, "has");
	play_on_terminal(p);
	why = report_release();
	if (why != NULL)
		report("%s", why);
	free(why);
	if (p->cols > cols || p->rows > rows)
		check_size(p, "came to have");
	close(p->signal_fd);
	return p->code;
}

int
ctl_play(struct client *c, int argc, char **argv)
{
	bool from_stdin = strcmp(argv[0], "-") == 0;
	struct play p = { .speed = 1, .signal_fd = -1 };
	struct cast_header h;
	FILE *in;
	int code = CTL_USAGE;

	(void)argc;
	if (factor(c, OPT_SPEED, &p.speed) == -1)
		return CTL_USAGE;
	in = from_stdin ? stdin : fopen(argv[0], "re");
	if (in == NULL)
		return usage_error("%s: %s", argv[0], strerror(errno));
	p.cast = cast_open(in, from_stdin ? "standard input" : argv[0], &h);
	if (p.cast != NULL) {
		p.idle_limit = h.idle_limit;
		p.cols = h.cols;
		p.rows = h.rows;
		p.resize = opt_given(&c->opts, OPT_RESIZE);
		if (factor(c, OPT_IDLE_LIMIT, &p.idle_limit) == 0)
			code = play_file(&p, from_stdin);
		cast_close(p.cast);
	}
	if (!from_stdin)
		fclose(in);
	return code;
}
