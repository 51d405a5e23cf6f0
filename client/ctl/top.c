/* SPDX-License-Identifier: ISC */
/* top: all sessions, again and again. On a terminal it takes the screen and
 * gives it back whatever ends it; elsewhere it prints one table after the
 * other. */
#include <sys/signalfd.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"
#include "client/lib/stream.h"
#include "client/lib/term.h"
#include "session.h"
#include "switches.h"
#include "top.h"

#define DEFAULT_DELAY_S	2

struct top {
	struct client		*client;
	long long		 delay_s;
	long long		 count;		/* looks left, -1: no end */
	bool			 screen;	/* we own the terminal */
	int			 signal_fd;
	struct termios		 before;
	struct json_object	*list;
	char			*trouble;	/* why the list is old */
	bool			 quit;
	int			 code;
};

static void
count_states(struct json_object *list, char *buf, size_t size)
{
	static const char *const states[] = {
		"RUNNING", "DEBUGGING", "LOADED", "STOPPED",
	};
	size_t i, j, n, used = 0, total = json_object_array_length(list);
	const char *state;

	buf[0] = '\0';
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		for (j = n = 0; j < total; j++) {
			state = reply_str(json_object_array_get_idx(list, j),
			    "state", "");
			n += strcmp(state, states[i]) == 0;
		}
		if (n > 0 && used < size)
			used += (size_t)snprintf(buf + used, size - used,
			    ", %zu %s", n, states[i]);
	}
}

/* How many sessions there is room for; 0: for all. */
static size_t
room(void)
{
	size_t height = term_height(STDOUT_FILENO);

	return height == 0 ? 0 : height > 5 ? height - 5 : 1;
}

/* Draws a screen, of max_rows sessions or of all (0). */
static void
draw(struct top *t, FILE *out, size_t max_rows)
{
	size_t width = term_width(STDOUT_FILENO);
	char target[TARGET_TEXT], states[128], when[16];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	count_states(t->list, states, sizeof(states));
	fprintf(out, "%s  %s  %zu sessions%s\n%s\n",
	    target_text(&t->client->target, target), when,
	    json_object_array_length(t->list), states,
	    t->trouble != NULL ? t->trouble : "");
	if (json_object_array_length(t->list) > 0)
		session_print_table(t->list, out, width, max_rows,
		    term_colours(STDOUT_FILENO));
}

/* Built in memory, so that it is written without flicker. */
static void
show_screen(struct top *t)
{
	char *text = NULL, *line, *next;
	size_t size;
	FILE *out;

	if ((out = open_memstream(&text, &size)) == NULL)
		return;
	draw(t, out, room());
	fclose(out);
	fputs("\033[H", stdout);
	for (line = text; (next = strchr(line, '\n')) != NULL;
	    line = next + 1) {
		*next = '\0';
		printf("%s\033[K\r\n", line);
	}
	printf("\033[J\033[%zu;1Hq quits", term_height(STDOUT_FILENO));
	fflush(stdout);
	free(text);
}

/* NULL when that session was not there. */
static struct json_object *
row_of(struct json_object *list, const char *id)
{
	struct json_object *row;
	size_t i, n = list == NULL ? 0 : json_object_array_length(list);

	for (i = 0; i < n; i++) {
		row = json_object_array_get_idx(list, i);
		if (strcmp(reply_str(row, "id", ""), id) == 0)
			return row;
	}
	return NULL;
}

/*
 * How much of one processor, between two samples; while there is no later
 * one than at the last look, what it was then.
 */
static void
add_percent(struct json_object *s, struct json_object *before)
{
	int64_t ns, at_ms, old_ns, old_at_ms;
	struct json_object *old;

	if (before == NULL || !reply_int(s, "cpu_ns", &ns) ||
	    !reply_int(s, "at_ms", &at_ms) ||
	    !reply_int(before, "cpu_ns", &old_ns) ||
	    !reply_int(before, "at_ms", &old_at_ms))
		return;
	if (at_ms > old_at_ms && ns >= old_ns)
		json_object_object_add(s, "cpu_percent", json_object_new_double(
		    (double)(ns - old_ns) / 1e4 / (double)(at_ms - old_at_ms)));
	else
		json_object_object_add(s, "cpu_percent",
		    json_object_object_get_ex(before, "cpu_percent", &old) ?
		    json_object_get(old) : json_object_new_double(0));
}

/* Adds each session's usage to the session. */
static void
merge_usage(struct json_object *list, struct json_object *usage,
    struct json_object *before)
{
	static const char *const keys[] = { "cpu_ns", "memory", "at_ms" };
	struct json_object *s, *row, *v;
	size_t i, k;

	for (i = 0; i < json_object_array_length(list); i++) {
		s = json_object_array_get_idx(list, i);
		row = row_of(usage, reply_str(s, "id", ""));
		if (row == NULL || !json_object_is_type(s, json_type_object))
			continue;
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (json_object_object_get_ex(row, keys[k], &v))
				json_object_object_add(s, keys[k],
				    json_object_get(v));
		add_percent(s, row_of(before, reply_str(s, "id", "")));
	}
}

/* An older daemon does not know it: then there is nothing to show. */
static int
ask_usage(struct top *t, struct json_object *list)
{
	struct json_object *usage;
	int code = client_send(t->client, "USAGE", NULL);

	if (code == CTL_OK)
		code = client_read(t->client->conn, &usage);
	if (code != CTL_OK)
		return code;
	if (json_object_is_type(usage, json_type_array))
		merge_usage(list, usage, t->list);
	json_object_put(usage);
	return CTL_OK;
}

static int
ask(struct top *t)
{
	struct json_object *list;
	int code;

	code = client_ask(t->client, &list, "LIST", NULL);
	if (code == CTL_OK && !json_object_is_type(list, json_type_array)) {
		report("the answer to LIST is not a list");
		json_object_put(list);
		code = CTL_UNREACHABLE;
	}
	if (code == CTL_OK && (code = ask_usage(t, list)) != CTL_OK)
		json_object_put(list);
	if (code != CTL_OK)
		return code;
	json_object_put(t->list);
	t->list = list;
	return CTL_OK;
}

/*
 * A daemon that was there may come back: the screen keeps the last list and
 * says why it is old.
 */
static int
look(struct top *t)
{
	int code;

	free(t->trouble);
	t->trouble = NULL;
	client_again(t->client);
	if (!t->screen || t->list == NULL)
		return ask(t);
	report_hold();
	code = ask(t);
	t->trouble = report_release();
	if (code == CTL_OK)
		return CTL_OK;
	dconn_close(t->client->conn);
	t->client->conn = NULL;
	return CTL_OK;
}

static void
enter_screen(struct top *t)
{
	struct termios raw = t->before;

	/* Signals of the keyboard stay: they are how people leave. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l\033[H\033[2J", stdout);
	fflush(stdout);
}

static void
leave_screen(struct top *t)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
}

static void
on_signal(struct top *t)
{
	struct signalfd_siginfo si;

	if (read(t->signal_fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGTSTP) {
		leave_screen(t);
		raise(SIGSTOP);
		enter_screen(t);
	} else if (si.ssi_signo != SIGWINCH) {
		t->quit = true;
		/* q and Ctrl-C are how it is meant to end. */
		if (si.ssi_signo != SIGINT)
			t->code = 128 + (int)si.ssi_signo;
	}
}

static void
on_key(struct top *t)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
		t->quit = true;
}

/* Until the next look is due: keys, signals, a new window size. */
static void
idle(struct top *t)
{
	struct pollfd pfds[2] = {
		{ .fd = t->signal_fd, .events = POLLIN },
		{ .fd = t->screen ? STDIN_FILENO : -1, .events = POLLIN },
	};
	struct timespec ts;
	int64_t end, left;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_sec * 1000 + ts.tv_nsec / 1000000 + t->delay_s * 1000;
	while (!t->quit) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		left = end - ts.tv_sec * 1000 - ts.tv_nsec / 1000000;
		if (left <= 0 || poll(pfds, 2, (int)left) == 0)
			break;
		if (pfds[0].revents != 0)
			on_signal(t);
		if (pfds[1].revents != 0)
			on_key(t);
		if (t->screen && !t->quit)
			show_screen(t);
	}
}

static void
watch(struct top *t)
{
	while (t->code == CTL_OK) {
		if (t->screen)
			show_screen(t);
		else if (t->client->json)
			reply_print(t->list, stdout);
		else
			draw(t, stdout, room());
		if (!t->screen && (t->code = report_flush()) != CTL_OK)
			break;
		if (t->count != -1 && --t->count == 0)
			break;
		idle(t);
		if (t->quit)
			break;
		t->code = look(t);
	}
}

static int
take_signals(void)
{
	static const int ours[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGALRM,
		SIGUSR1, SIGUSR2
	};

	return signals_take(ours, sizeof(ours) / sizeof(ours[0]));
}

int
ctl_top(struct client *c, int argc, char **argv)
{
	struct top t = { .client = c, .delay_s = DEFAULT_DELAY_S,
	    .count = -1, .signal_fd = -1 };

	(void)argc;
	(void)argv;
	if (opt_given(&c->opts, OPT_DELAY) && opt_number(&c->opts, OPT_DELAY,
	    1, 86400, &t.delay_s) == -1)
		return CTL_USAGE;
	if (opt_given(&c->opts, OPT_COUNT) && opt_number(&c->opts, OPT_COUNT,
	    1, INT_MAX, &t.count) == -1)
		return CTL_USAGE;
	t.screen = isatty(STDOUT_FILENO) && !c->json &&
	    !opt_given(&c->opts, OPT_TABLE) &&
	    tcgetattr(STDIN_FILENO, &t.before) == 0;
	/* Ask first: an error at once should not flash over the screen. */
	if ((t.code = ask(&t)) != CTL_OK)
		return t.code;
	if (t.screen) {
		t.signal_fd = take_signals();
		stream_interruptible(t.signal_fd);
		enter_screen(&t);
	}
	watch(&t);
	if (t.screen)
		leave_screen(&t);
	/* with a count of looks, the user wants to see the last one */
	if (t.screen && t.count == 0) {
		draw(&t, stdout, 0);
		t.code = report_flush();
	}
	free(t.trouble);
	stream_interruptible(-1);
	if (t.signal_fd != -1)
		close(t.signal_fd);
	json_object_put(t.list);
	return t.code;
}
