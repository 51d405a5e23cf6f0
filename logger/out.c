/* SPDX-License-Identifier: ISC */
/* Lines in the form of syslog(3) or with their time, and where they go. */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/utc.h"
#include "kept.h"
#include "out.h"
#include "wire/start.h"

/*
 * While a log takes nothing, each pause is twice as long as the one before, in
 * ms; from LOG_DEAD_MS on roles do not wait for the log any more.
 */
#define RETRY_MS	10
#define RETRY_MOST_MS	1000
#define LOG_DEAD_MS	320
/* A log that takes nothing for so long at the end does not get the rest. */
#define END_MS		300

static const struct out_hooks *hooks;
static struct loop_timer timer;
static struct loop_io	 room = LOOP_IO_INIT;	/* of host_fd, while it moves */
static unsigned int	 retry_ms = RETRY_MS;
static uint32_t		 place;
static int		 err_fd = STDERR_FILENO, host_fd = -1;
static pid_t		 daemon_pid;
static bool		 busy;			/* flush() runs */

static void	flush(void);
static void	on_timer(void *);

void
out_init(const struct out_hooks *h)
{
	hooks = h;
	/* opened now: later there is no right to */
	tzset();
	daemon_pid = getppid();
}

/*
 * In the background standard error is the starter's only until the daemon has
 * started.  The first call comes while descriptors may still be copied.
 */
void
out_place(uint32_t bits)
{
	bool lent = (bits & LOG_FOREGROUND) == 0;

	if (lent && err_fd == STDERR_FILENO) {
		err_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		(void)dup2(STDIN_FILENO, STDERR_FILENO);
	}
	if (lent && bits & LOG_STARTED && err_fd != -1) {
		close(err_fd);
		err_fd = -1;
	}
	place = bits;
	if (kept_len() > 0)
		loop_timer_set(&timer, 0, on_timer, NULL);
}

static void
drop_host(void)
{
	loop_del(&room);
	if (host_fd != -1)
		close(host_fd);
	host_fd = -1;
}

void
out_hostlog(int fd)
{
	drop_host();
	host_fd = fd;
	/* not at once: it may refuse lines as the one before did */
	if (kept_len() > 0)
		loop_timer_set(&timer, retry_ms, on_timer, NULL);
}

bool
out_is_full(void)
{
	return kept_len() > KEPT_TEXT / 2 && retry_ms < LOG_DEAD_MS;
}

/* Bytes of the lines that go at once: as many as a pipe takes as a whole. */
static size_t
whole_lines(const char *text, size_t len)
{
	size_t n = len < PIPE_BUF ? len : PIPE_BUF;

	while (n > 0 && text[n - 1] != '\n')
		n--;
	return n;
}

/*
 * Bytes that were taken.  Never blocks: a pipe that is not read would stop the
 * log of all roles.  A terminal and a full disk take parts of lines, and the
 * rest waits.
 */
static size_t
put_stderr(const char *text, size_t len)
{
	struct pollfd p = { .fd = err_fd, .events = POLLOUT };
	ssize_t n;

	if (err_fd == -1)
		return len;
	if (poll(&p, 1, 0) == 0)
		return 0;
	n = write(err_fd, text, whole_lines(text, len));
	return n > 0 ? (size_t)n : 0;
}

static size_t
put_host(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);
	size_t n = end == NULL ? len : (size_t)(end - text);

	if (host_fd != -1 && send(host_fd, text, n, MSG_NOSIGNAL) != -1)
		return end == NULL ? n : n + 1;
	if (host_fd != -1 && (errno == EAGAIN || errno == ENOBUFS))
		return 0;
	/* another one has taken the place of the one that was there */
	drop_host();
	hooks->lost();
	return 0;
}

static void
on_timer(void *arg)
{
	(void)arg;
	flush();
}

static void
on_room(uint32_t events, void *arg)
{
	(void)events;
	(void)arg;
	flush();
}

/*
 * Many hosts queue only ten lines for a log.  A log daemon that reads is sent
 * more as soon as it has room, since lines that come fast would be left out
 * otherwise.  A log that has taken nothing is tried again by timer.
 */
static void
wait_for_room(bool moved)
{
	if (kept_len() == 0 || !moved)
		loop_del(&room);
	else if (!room.active && host_fd != -1)
		(void)loop_add(&room, host_fd, EPOLLOUT, on_room, NULL);
	if (kept_len() == 0)
		loop_timer_unset(&timer);
	else
		loop_timer_set(&timer, retry_ms, on_timer, NULL);
	if (!out_is_full())
		hooks->room();
}

static void
flush(void)
{
	size_t n = 1, took = 0;
	unsigned long lost;

	if (busy)
		return;
	busy = true;
	for (; kept_len() > 0 && n > 0; took += n) {
		n = (place & LOG_TO_STDERR ? put_stderr : put_host)(kept->text +
		    kept->at, kept_len());
		kept_took(n);
	}
	retry_ms = took > 0 ? RETRY_MS : retry_ms < RETRY_MOST_MS / 2 ?
	    retry_ms * 2 : RETRY_MOST_MS;
	busy = false;
	wait_for_room(took > 0);
	if (kept_len() > 0 || kept->lost == 0)
		return;
	lost = kept->lost;
	kept->lost = 0;
	log_warnx("%lu lines were left out: %s", lost, place & LOG_TO_STDERR ?
	    "the log was not read" : "the host's log did not take them");
}

/* As syslog(3) has it, with the time of the host's zone. */
static void
add_for_host(enum log_level level, const char *line)
{
	static const int prio[] = {
		[LOG_L_ERROR] = LOG_ERR, [LOG_L_WARN] = LOG_WARNING,
		[LOG_L_INFO] = LOG_INFO, [LOG_L_DEBUG] = LOG_DEBUG,
		[LOG_L_AUDIT] = LOG_NOTICE,
	};
	char out[KEPT_LINE_MAX], when[32];
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) == NULL ||
	    strftime(when, sizeof(when), "%h %e %T", &tm) == 0)
		when[0] = '\0';
	(void)snprintf(out, sizeof(out), "<%d>%s debuglanternd[%d]: %s",
	    prio[level] | (level == LOG_L_AUDIT ? LOG_AUTH : LOG_DAEMON), when,
	    daemon_pid, line);
	(void)kept_add(out);
}

void
out_line(enum log_level level, const char *line)
{
	char out[LOG_LINE_MAX + 128], when[UTC_TEXT];
	bool first = kept_len() == 0;

	if (place & LOG_TO_STDERR) {
		(void)snprintf(out, sizeof(out), "%s %s",
		    utc_text(time(NULL), when), line);
		(void)kept_add(out);
	} else
		add_for_host(level, line);
	/* the first that waits; the others come when it is tried again */
	if (first) {
		retry_ms = RETRY_MS;
		loop_timer_set(&timer, 0, on_timer, NULL);
	}
}

void
out_own(enum log_level level, const char *line)
{
	char out[LOG_LINE_MAX + 16];

	(void)snprintf(out, sizeof(out), "logger: %s", line);
	out_line(level, out);
	flush();
}

void
out_end(void)
{
	struct pollfd p = { .events = POLLOUT };
	size_t left = kept_len();

	while (left > 0) {
		p.fd = place & LOG_TO_STDERR ? err_fd : host_fd;
		(void)poll(&p, 1, END_MS);
		flush();
		if (kept_len() >= left)
			break;
		left = kept_len();
	}
	/* the rest is counted: a log that is dead is not waited for again */
	if (left > 0)
		retry_ms = RETRY_MOST_MS;
}
