/* SPDX-License-Identifier: ISC */
/*
 * The host's log.  syslog(3) waits for one that does not read, and with it
 * would all that the parent is there for: roles that are to be started again,
 * the stop, the service manager's watchdog.  Here it is the lines that wait,
 * and those for which there is no room are counted.
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

#define HOSTLOG_PATH	"/dev/log"
#define BACKLOG_SIZE	(256 * 1024)
/* Twice as long each time that nothing is taken. */
#define RETRY_MS	10
#define RETRY_MOST_MS	1000
/* Tries to send what is left at the end; the whole stop has 5 s. */
#define END_TRIES	30

static char		 backlog[BACKLOG_SIZE];	/* lines, each with its NUL */
static size_t		 backlog_len;
static unsigned long	 lost;
static struct loop_timer retry;
static unsigned int	 retry_ms = RETRY_MS;
static int		 log_fd = -1;
static struct loop_io	 room = LOOP_IO_INIT;	/* of log_fd, while it moves */

static int
reach(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX,
	    .sun_path = HOSTLOG_PATH };

	loop_del(&room);
	if (log_fd != -1)
		close(log_fd);
	log_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (log_fd == -1)
		return -1;
	if (connect(log_fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		return 0;
	close(log_fd);
	log_fd = -1;
	return -1;
}

/* -1: it has to wait. */
static int
put(const char *text)
{
	size_t len = strlen(text);

	if (log_fd != -1 && send(log_fd, text, len, MSG_NOSIGNAL) != -1)
		return 0;
	if (log_fd != -1 && (errno == EAGAIN || errno == ENOBUFS))
		return -1;
	/* another one has taken the place of the one that was there */
	if (reach() == -1 || send(log_fd, text, len, MSG_NOSIGNAL) == -1)
		return -1;
	return 0;
}

static void	again(void *);

static void
on_room(uint32_t events, void *arg)
{
	(void)events;
	again(arg);
}

bool
hostlog_is_full(void)
{
	return backlog_len > sizeof(backlog) / 2 && retry_ms < LOG_DEAD_MS;
}

/*
 * Many hosts queue only ten lines for a log.  A log daemon that reads is sent
 * more as soon as it has room, since lines that come fast would be left out
 * otherwise.  A log daemon that has taken nothing is tried again by timer.
 */
static void
wait_for_room(bool moved)
{
	if (backlog_len == 0 || !moved)
		loop_del(&room);
	else if (!room.active && log_fd != -1)
		(void)loop_add(&room, log_fd, EPOLLOUT, on_room, NULL);
	if (backlog_len == 0)
		loop_timer_unset(&retry);
	else
		loop_timer_set(&retry, retry_ms, again, NULL);
	if (!hostlog_is_full())
		children_go_on();
}

static void
flush(void)
{
	size_t at = 0;

	while (at < backlog_len && put(backlog + at) == 0)
		at += strlen(backlog + at) + 1;
	backlog_len -= at;
	memmove(backlog, backlog + at, backlog_len);
	retry_ms = at > 0 ? RETRY_MS : retry_ms < RETRY_MOST_MS / 2 ?
	    retry_ms * 2 : RETRY_MOST_MS;
	wait_for_room(at > 0);
}

static void
again(void *arg)
{
	unsigned long n = lost;

	(void)arg;
	flush();
	if (backlog_len > 0 || n == 0)
		return;
	lost = 0;
	log_warnx("%lu lines were left out: the host's log did not take them",
	    n);
}

int
hostlog_open(void)
{
	return reach();
}

/* As syslog(3) has it, with the time of the host's zone. */
void
hostlog_line(int priority, const char *line)
{
	char out[LOG_LINE_MAX + 256], when[32];
	time_t now = time(NULL);
	struct tm tm;
	size_t len;

	if (localtime_r(&now, &tm) == NULL ||
	    strftime(when, sizeof(when), "%h %e %T", &tm) == 0)
		when[0] = '\0';
	(void)snprintf(out, sizeof(out), "<%d>%s debuglanternd[%d]: %s",
	    priority, when, getpid(), line);
	if (backlog_len == 0 && put(out) == 0)
		return;
	len = strlen(out) + 1;
	if (len > sizeof(backlog) - backlog_len) {
		lost++;
		return;
	}
	/* the first that waits; the others come when it is tried again */
	if (backlog_len == 0)
		loop_timer_set(&retry, retry_ms = RETRY_MS, again, NULL);
	memcpy(backlog + backlog_len, out, len);
	backlog_len += len;
}

void
hostlog_end(void)
{
	struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
	int tries;

	for (tries = 0; backlog_len > 0 && tries < END_TRIES; tries++) {
		(void)nanosleep(&pause, NULL);
		again(NULL);
	}
}
