/* SPDX-License-Identifier: ISC */
/*
 * All that a logger is handed: the links by which roles and the parent speak to
 * it, the audit file, a connection to the host's log.  The parent keeps both
 * ends of the links and reads from none, so that a logger's end loses no line.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"
#include "wire/logline.h"

#define HOSTLOG_PATH	"/dev/log"
/* The parent's own link. */
#define OWN_LINK	0

static struct {
	enum role	 role;
	int		 role_fd, logger_fd;	/* both or none */
} links[LOG_LINKS];

static bool	to_stderr;		/* there is no host's log, or -d */
static bool	lived;			/* a logger has said READY */
static int	audit_fd = -1;		/* -1 = none */

int	parent_on_hostlog_lost(struct msg *);

static int
hostlog_connect(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX,
	    .sun_path = HOSTLOG_PATH };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
give_hostlog(void)
{
	int fd = to_stderr ? -1 : hostlog_connect();

	if (fd != -1)
		(void)child_send(ROLE_LOGGER, msg_new(MSG_HOSTLOG, NULL, 0, 0),
		    fd);
}

/* It can connect to nothing itself. */
int
parent_on_hostlog_lost(struct msg *m)
{
	give_hostlog();
	return msg_end(m);
}

static void
give_audit_file(void)
{
	if (audit_fd == -1)
		(void)child_send(ROLE_LOGGER, msg_new(MSG_AUDIT_FILE_GONE,
		    NULL, 0, 0), -1);
	else
		(void)child_lend(ROLE_LOGGER, msg_new(MSG_AUDIT_FILE, NULL, 0,
		    0), audit_fd);
}

static void
give_link(uint32_t i)
{
	struct msg_out *o = msg_new(MSG_LOG_LINK, NULL, 0, 0);

	msg_put_u32(o, i);
	msg_put_u32(o, links[i].role);
	(void)child_lend(ROLE_LOGGER, o, links[i].logger_fd);
}

/* A role that was taken over may have shut its link down for who comes next. */
static bool
is_shut(uint32_t i)
{
	struct pollfd p = { .fd = links[i].logger_fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP)) != 0;
}

int
logger_link(uint32_t i, enum role role)
{
	int fds[2];

	if (links[i].role_fd != -1 && !is_shut(i))
		goto give;
	if (chan_pair(fds) == -1)
		return -1;
	if (links[i].role_fd != -1) {
		close(links[i].role_fd);
		close(links[i].logger_fd);
	}
	links[i].role = role;
	links[i].role_fd = fds[0];
	links[i].logger_fd = fds[1];
give:
	if (child_runs(ROLE_LOGGER))
		give_link(i);
	return links[i].role_fd;
}

void
logger_forget(enum role role)
{
	uint32_t i;

	for (i = 0; i < LOG_LINKS; i++)
		if (links[i].role_fd != -1 && links[i].role == role) {
			close(links[i].role_fd);
			close(links[i].logger_fd);
			links[i].role_fd = links[i].logger_fd = -1;
		}
}

void
logger_tell_place(void)
{
	struct msg_out *o = msg_new(MSG_LOG_PLACE, NULL, 0, 0);

	msg_put_u32(o, (to_stderr ? LOG_TO_STDERR : 0U) |
	    (d.foreground ? LOG_FOREGROUND : 0U) |
	    (d.started ? LOG_STARTED : 0U));
	(void)child_send(ROLE_LOGGER, o, -1);
}

void
logger_introduce(void)
{
	uint32_t i;

	(void)child_lend(ROLE_LOGGER, msg_new(MSG_LOG_KEPT, NULL, 0, 0),
	    given_fd(GIVEN_LOG_KEPT));
	give_hostlog();
	if (audit_fd != -1)
		give_audit_file();
	for (i = 0; i < LOG_LINKS; i++)
		if (links[i].role_fd != -1)
			give_link(i);
	/* the last, which it waits for */
	logger_tell_place();
}

/*
 * Without a logger: the line may be the last, and say why there is none.  A
 * terminal or pipe that nobody reads is not waited for.
 */
static void
say_alone(enum log_level level, const char *line)
{
	const int terminal_fd = given_fd(GIVEN_TERMINAL);
	struct pollfd p = { .events = POLLOUT,
	    .fd = terminal_fd != -1 ? terminal_fd : STDERR_FILENO };
	int fd = to_stderr ? -1 : hostlog_connect();
	char out[LOG_LINE_MAX + 64];

	(void)level;
	(void)snprintf(out, sizeof(out), "<%d>debuglanternd[%d]: %s",
	    LOG_DAEMON | LOG_ERR, getpid(), line);
	if (fd != -1) {
		(void)send(fd, out, strlen(out), MSG_NOSIGNAL);
		close(fd);
	}
	if (poll(&p, 1, 0) == 1)
		(void)dprintf(p.fd, "debuglanternd: %s\n", line);
}

void
logger_init(void)
{
	int fd = d.foreground ? -1 : hostlog_connect();
	uint32_t i;

	for (i = 0; i < LOG_LINKS; i++)
		links[i].role_fd = links[i].logger_fd = -1;
	to_stderr = fd == -1;
	if (fd != -1)
		close(fd);
	log_init("debuglanternd", (enum log_level)d.plan->settings.log_level,
	    say_alone);
	/* standard error is the starter's for this one line more */
	if (to_stderr && given_fd(GIVEN_READY) != -1 && !d.local)
		log_warn("the log is lost from here on: start a syslog, or "
		    "use -d: /dev/log");
	fd = logger_link(OWN_LINK, ROLE_PARENT);
	if (fd == -1 || logline_open(ROLE_PARENT, fd) == -1)
		fatal("cannot make the link to the logger");
}

void
logger_lives(void)
{
	lived = true;
	log_init("parent", (enum log_level)d.plan->settings.log_level,
	    logline_send);
}

void
logger_end(void)
{
	bool done;

	/* while it ends it can ask for no other */
	give_hostlog();
	done = child_end_logger();
	log_init("debuglanternd", LOG_L_WARN, say_alone);
	if (lived && !done)
		log_warnx("the logger has ended before it was done: the last "
		    "lines of the log are lost");
}

bool
audit_is_open(void)
{
	return audit_fd != -1;
}

void
audit_which(uint64_t *dev, uint64_t *ino)
{
	struct stat st;

	if (audit_fd == -1 || fstat(audit_fd, &st) == -1)
		return;
	*dev = st.st_dev;
	*ino = st.st_ino;
}

void
audit_commit(void)
{
	if (d.plan->audit == AUDIT_KEPT)
		return;
	if (audit_fd != -1)
		close(audit_fd);
	audit_fd = d.plan->audit_fd;
	d.plan->audit_fd = -1;
	/* without O_APPEND the logger would write where the file is now */
	if (audit_fd != -1)
		(void)lseek(audit_fd, 0, SEEK_END);
	if (child_runs(ROLE_LOGGER))
		give_audit_file();
}
