/* SPDX-License-Identifier: ISC */
/*
 * A reload: setup is started once more, by the fd that it left, as who the
 * parent is and without its capabilities.  It is told what is in force, reads
 * the configuration, and sends a plan or lines that say why there is none.
 * Roles are served meanwhile.
 */
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "parent.h"
#include "wire/logline.h"
#include "wire/start.h"

/* A directory service that is away may take a minute for each of its tries. */
#define LIMIT_S		300
/* Lines of one reload: a configuration's faults and its listeners. */
#define LINES_MOST	256
/* Messages that one that has ended may have left. */
#define LAST_WORDS	1024
/* Begins the line that says why, whoever says it. */
#define NO_RELOAD	"the configuration was not reloaded"

int	parent_on_plan_log(struct msg *);

static pid_t		 pid;			/* 0 = none runs */
static int		 pidfd = -1;
static struct loop_io	 ended = LOOP_IO_INIT;	/* of pidfd */
static struct channel	 chan;
static struct loop_timer limit;
static bool		 again;		/* another SIGHUP has come meanwhile */
static bool		 said;		/* why there is no plan */
static bool		 done;		/* the plan is in force */
static unsigned int	 lines;

static void
kill_it(void)
{
	if (pidfd != -1)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* Once why is known no other words are needed. */
static void
no_reload(const char *why)
{
	if (!said && !done && !d.stopping)
		log_error(NO_RELOAD ": %s", why);
	said = true;
}

static void
on_gone(struct channel *c, const char *why)
{
	(void)c;
	if (why != NULL)
		no_reload("the plan of setup breaks the message table");
	kill_it();
}

static void
on_limit(void *arg)
{
	(void)arg;
	no_reload("reading it and finding its users takes too long");
	kill_it();
}

/*
 * A line is setup's, which may be in the hands of a file's or a module's
 * writer; it goes by the parent's name, as the reload is the parent's.
 */
int
parent_on_plan_log(struct msg *m)
{
	uint32_t level = msg_get_u32(m);
	char line[LOG_LINE_MAX + 1];
	char *p;

	msg_get_str(m, line, sizeof(line));
	if (msg_end(m) == -1 || level > LOG_L_DEBUG || !d.started ||
	    ++lines > LINES_MOST)
		return -1;
	for (p = line; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
	said |= strncmp(line, NO_RELOAD, strlen(NO_RELOAD)) == 0;
	logline_send((enum log_level)level, line);
	return 0;
}

static void
tell(void)
{
	struct msg_out *o = msg_new(MSG_RELOAD, NULL, 0, 0);
	const struct listener *l = d.plan->listeners;
	uint64_t dev = 0, ino = 0;

	audit_which(&dev, &ino);
	msg_put_u32(o, d.mode);
	msg_put_u64(o, dev);
	msg_put_u64(o, ino);
	msg_put_str(o, d.plan->audit_file);
	msg_put_str(o, d.conf_file);
	msg_put_str(o, d.fixed);
	settings_put(o, &d.plan->settings);
	(void)chan_send(&chan, o, -1);
	for (; l < d.plan->listeners + d.plan->nlisteners; l++) {
		o = msg_new(MSG_RELOAD_LISTENER, NULL, 0, 0);
		msg_put_str(o, l->text);
		msg_put_bytes(o, &l->addr, l->len);
		(void)chan_send(&chan, o, -1);
	}
	(void)chan_send(&chan, msg_new(MSG_RELOAD_END, NULL, 0, 0), -1);
}

static void __attribute__((noreturn))
become_setup(int sock_fd)
{
	/* by this name it knows that it is not the start */
	d.argv[0] = (char *)(uintptr_t)role_name(ROLE_SETUP);
	if (child_standard_fds(false) == -1 || child_channel(sock_fd) == -1 ||
	    rights_drop() == -1)
		_exit(126);
	(void)execveat(GIVEN_SETUP, "", d.argv, environ, AT_EMPTY_PATH);
	fatal("cannot execute setup (every user must be able to run it: chmod "
	    "a+rx debuglanternd)");
}

static void
on_end(uint32_t events, void *arg)
{
	siginfo_t si;

	(void)events;
	(void)arg;
	memset(&si, 0, sizeof(si));
	if (waitid_again(P_PIDFD, (id_t)pidfd, &si, WEXITED) == -1)
		log_warn("waitid setup");
	loop_del(&ended);
	if (!d.stopping)
		chan_drain(&chan, LAST_WORDS);
	chan_close(&chan);
	close(pidfd);
	pidfd = -1;
	pid = 0;
	loop_timer_unset(&limit);
	plan_drop();
	no_reload("setup has ended before it was done");
	if (d.stopping)
		parent_hooks->stop();
	else if (again)
		reload_start();
}

static int
start(void)
{
	int fds[2];

	if (chan_pair(fds) == -1)
		return -1;
	pid = fork();
	if (pid == 0)
		become_setup(fds[1]);
	close(fds[1]);
	if (pid == -1 ||
	    (pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) == -1) {
		close(fds[0]);
		return -1;
	}
	chan_init(&chan, ROLE_PARENT, ROLE_SETUP, on_gone, NULL);
	if (chan_open(&chan, fds[0], 0) == -1 ||
	    loop_add(&ended, pidfd, EPOLLIN, on_end, NULL) == -1)
		return -1;
	return 0;
}

/* Ends the part that was begun; the process is reaped as strays are. */
static void
undo(void)
{
	kill_it();
	chan_close(&chan);
	if (pidfd != -1)
		close(pidfd);
	pidfd = -1;
	pid = 0;
}

void
reload_start(void)
{
	again = pid != 0;
	if (again || d.stopping)
		return;
	said = done = false;
	lines = 0;
	if (start() == -1) {
		log_warn("cannot start setup");
		undo();
		no_reload("setup could not be started");
		return;
	}
	loop_timer_set(&limit, LIMIT_S * 1000, on_limit, NULL);
	tell();
}

void
reload_done(void)
{
	done = true;
}

bool
reload_owns(pid_t p)
{
	return pid != 0 && pid == p;
}

bool
reload_runs(void)
{
	return pid != 0;
}

void
reload_stop(void)
{
	again = false;
	kill_it();
}
