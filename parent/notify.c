/* SPDX-License-Identifier: ISC */
/*
 * Messages of the parent to the outside: systemd's readiness protocol
 * (sd_notify(3), without its library), the log, and readiness for the shell
 * that waits.
 */
#include <sys/socket.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utc.h"
#include "parent.h"

/* Lines of one role per second; the rest is counted and said once. */
#define LINES_PER_SECOND	50

static struct loop_timer watchdog;
static bool		 to_stderr;

int	parent_on_log(struct msg *);

void
notify_send(const char *state)
{
	const int fd = given_fd(GIVEN_NOTIFY);

	if (fd != -1 && send(fd, state, strlen(state), MSG_NOSIGNAL) == -1)
		log_warn("notify");
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	notify_send("WATCHDOG=1");
	notify_watchdog();
}

void
notify_watchdog(void)
{
	if (d.watchdog_ms > 0)
		loop_timer_set(&watchdog, d.watchdog_ms, on_watchdog, NULL);
}

/* Lines of this turn of the loop, and those that nobody has taken yet. */
#define HELD_SIZE	(64 * 1024)
/* Twice as long each time that nobody reads. */
#define HELD_MS		10
#define HELD_MOST_MS	1000
/* A reader that stalls for so long at the end does not get the rest. */
#define END_MS		300

static char		 held[HELD_SIZE];
static size_t		 held_len;
static unsigned long	 held_lost;
static unsigned int	 held_ms = HELD_MS;
static struct loop_timer held_timer;
static int		 err_fd = STDERR_FILENO;

/* As many as a pipe takes as a whole. */
static size_t
whole_lines(void)
{
	size_t n = held_len < PIPE_BUF ? held_len : PIPE_BUF;

	while (n > 0 && held[n - 1] != '\n')
		n--;
	return n;
}

/*
 * The log is read, but more slowly than roles write it: a role that went on
 * would lose the lines that tell what it does.
 */
static bool
log_is_full(void)
{
	return to_stderr ? held_len > sizeof(held) / 2 &&
	    held_ms < LOG_DEAD_MS : hostlog_is_full();
}

/*
 * Never blocks: a pipe that is not read would stop the whole daemon.  A
 * terminal and a full disk take parts of lines, and the rest waits.
 */
static void
flush_held(void *arg)
{
	struct pollfd p = { .fd = err_fd, .events = POLLOUT };
	unsigned long lost = held_lost;
	size_t before = held_len;
	ssize_t n = 1;

	(void)arg;
	while (held_len > 0 && n > 0 && poll(&p, 1, 0) != 0) {
		n = write(err_fd, held, whole_lines());
		if (n <= 0)
			break;
		held_len -= (size_t)n;
		memmove(held, held + n, held_len);
	}
	held_ms = held_len < before ? HELD_MS : held_ms < HELD_MOST_MS / 2 ?
	    held_ms * 2 : HELD_MOST_MS;
	if (held_len > 0)
		loop_timer_set(&held_timer, held_ms, flush_held, NULL);
	if (!log_is_full())
		children_go_on();
	if (held_len > 0 || lost == 0)
		return;
	held_lost = 0;
	log_warnx("%lu lines were left out: nobody has read the log", lost);
}

/* Written at the end of this turn, or before what comes after it. */
static void
hold(const char *text, size_t len)
{
	if (len > sizeof(held) - held_len)
		flush_held(NULL);
	if (len > sizeof(held) - held_len) {
		held_lost++;
		return;
	}
	memcpy(held + held_len, text, len);
	held_len += len;
	loop_timer_set(&held_timer, 0, flush_held, NULL);
}

static void
write_line(enum log_level level, const char *line, bool relayed)
{
	static const int prio[] = {
		[LOG_L_ERROR] = LOG_ERR, [LOG_L_WARN] = LOG_WARNING,
		[LOG_L_INFO] = LOG_INFO, [LOG_L_DEBUG] = LOG_DEBUG,
		[LOG_L_AUDIT] = LOG_NOTICE,
	};
	char out[LOG_LINE_MAX + 128], when[UTC_TEXT];
	int n;

	if (!to_stderr) {
		hostlog_line(prio[level] | (level == LOG_L_AUDIT ? LOG_AUTH :
		    LOG_DAEMON), line);
		return;
	}
	n = snprintf(out, sizeof(out), "%s %s\n", utc_text(time(NULL), when),
	    line);
	if (n > 0)
		hold(out, (size_t)n);
	/* of its own it may be the last */
	if (!relayed)
		flush_held(NULL);
}

void
sink_line(enum log_level level, const char *line)
{
	char out[LOG_LINE_MAX + 16];

	(void)snprintf(out, sizeof(out), "parent: %s", line);
	write_line(level, out, false);
}

void
sink_end(void)
{
	struct pollfd p = { .fd = err_fd, .events = POLLOUT };
	size_t before = SIZE_MAX;

	if (!to_stderr) {
		hostlog_end();
		return;
	}
	while (held_len > 0 && held_len < before) {
		before = held_len;
		(void)poll(&p, 1, END_MS);
		flush_held(NULL);
	}
}

void
sink_init(void)
{
	/* opened now: later there may be no right to */
	tzset();
	to_stderr = d.foreground || hostlog_open() == -1;
	if (given_fd(GIVEN_TERMINAL) != -1)
		err_fd = GIVEN_TERMINAL;
	/* standard error is the starter's for this one line more */
	if (to_stderr && given_fd(GIVEN_READY) != -1 && !d.local)
		log_warn("the log is lost from here on: start a syslog, or "
		    "use -d: /dev/log");
	log_init("parent", (enum log_level)d.plan->settings.log_level,
	    sink_line);
}

/*
 * A line of a child, which may be in an attacker's hands: escaped once more,
 * marked with the role's name, and only so many a second.
 */
int
parent_on_log(struct msg *m)
{
	static struct {
		uint64_t	second;
		unsigned int	lines, lost;
	} quota[ROLE_COUNT];
	enum role who = m->chan->peer;
	uint32_t level = msg_get_u32(m);
	uint64_t second = loop_now_ms() / 1000;
	char raw[LOG_LINE_MAX + 1], line[LOG_LINE_MAX], out[LOG_LINE_MAX + 32];
	size_t i, n;

	msg_get_str(m, raw, sizeof(raw));
	/* who did what is the spawner's to say, and nobody else's */
	if (msg_end(m) == -1 || level > LOG_L_AUDIT ||
	    (level == LOG_L_AUDIT && who != ROLE_SPAWNER))
		return -1;
	chan_calm(m->chan);
	if (level == LOG_L_ERROR && !child_complains(m->chan))
		return 0;
	if (quota[who].second != second) {
		if (quota[who].lost > 0)
			log_warnx("%s: %u lines were left out",
			    role_name(who), quota[who].lost);
		quota[who].second = second;
		quota[who].lines = quota[who].lost = 0;
	}
	/* the audit trail is complete or it is none */
	if (++quota[who].lines > LINES_PER_SECOND && level != LOG_L_AUDIT) {
		quota[who].lost++;
		return 0;
	}
	for (i = n = 0; raw[i] != '\0' && n < sizeof(line) - 1; i++)
		line[n++] = raw[i] < 0x20 || raw[i] >= 0x7f ? '?' : raw[i];
	line[n] = '\0';
	if (level == LOG_L_AUDIT)
		audit_line(line);
	(void)snprintf(out, sizeof(out), "%s: %s", role_name(who), line);
	write_line((enum log_level)level, out, true);
	if (log_is_full())
		child_hold(m->chan);
	return 0;
}

void
daemon_ready(void)
{
	const int null_fd = given_fd(GIVEN_NULL);

	notify_send("READY=1\nSTATUS=serving");
	if (given_fd(GIVEN_READY) == -1)
		return;
	/* errors of the start went to the terminal; from here on the log */
	(void)dup2(null_fd, STDOUT_FILENO);
	(void)dup2(null_fd, STDERR_FILENO);
	if (write(GIVEN_READY, "", 1) != 1)
		log_warn("the process that started the daemon no longer waits "
		    "for it");
	given_close(GIVEN_READY);
}
