/* SPDX-License-Identifier: ISC */
/* The children: starting them, and starting them again. */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "parent.h"

#define BACKOFF_FIRST_MS	100
#define BACKOFF_MOST_MS		30000
#define QUIET_MS		60000
/* A child that says nothing for so long while starting has failed. */
#define READY_MS		10000
/* Until another launcher in reserve is asked for, when none has come. */
#define CHAIN_MS		1000
/* Messages read from a child that has died: more than its socket holds. */
#define LAST_WORDS		4096
/* Time for the logger at the end; the whole stop is to be done in 5 s. */
#define LAST_LINES_MS		3000

/*
 * The reserve launcher is a child like the others, with a slot of its own;
 * so is a tlsproc that tries new files while the old one serves.
 */
enum { SLOT_RESERVE = ROLE_COUNT, SLOT_TRIAL, SLOT_COUNT };

_Static_assert(SLOT_COUNT == LOG_LINKS, "each has a link to the logger");
/* The logger is ended last, when all others have said what they had to say. */
#define FIRST_TO_END	(ROLE_LOGGER + 1)

struct child {
	enum role	 role;
	pid_t		 pid;		/* 0 = not running */
	int		 pidfd;
	struct loop_io	 io;		/* of pidfd */
	struct channel	 chan;
	struct loop_timer timer;	/* restart, or limit of the start */
	uint64_t	 since_ms;
	uint32_t	 backoff_ms;	/* 0 = the next restart is at once */
	bool		 ready;
};

static struct child children[SLOT_COUNT];

int	parent_on_ready(struct msg *);
int	parent_on_violation(struct msg *);
int	parent_on_chained(struct msg *);

static void	start_child(struct child *);
static void	cannot_start(struct child *);
static void	restart_later(struct child *);
static void	launcher_died(struct child *);
static void	trial_over(struct child *);

/* The launcher that serves; the other takes its place when it dies. */
static size_t serving_launcher = ROLE_LAUNCHER;

static struct child *
serving(enum role role)
{
	return &children[role == ROLE_LAUNCHER ? serving_launcher : role];
}

static struct child *
in_reserve(void)
{
	return &children[serving_launcher == ROLE_LAUNCHER ? SLOT_RESERVE :
	    ROLE_LAUNCHER];
}

bool
child_send(enum role role, struct msg_out *o, int fd)
{
	return chan_send(&serving(role)->chan, o, fd) == 0;
}

bool
child_lend(enum role role, struct msg_out *o, int fd)
{
	return chan_lend(&serving(role)->chan, o, fd) == 0;
}

bool
child_runs(enum role role)
{
	return serving(role)->pid != 0;
}

/* Two of them serve what a configuration or a host may be without. */
static bool
is_wanted(enum role role)
{
	return role == ROLE_TLSPROC ? d.plan->settings.has_tls != 0 :
	    role != ROLE_ACCTPROC || d.plan->settings.has_shadow != 0;
}

static struct child *
child_of(struct channel *c)
{
	size_t i;

	for (i = 0; i < SLOT_COUNT; i++)
		if (&children[i].chan == c)
			return &children[i];
	fatalx("a channel without a child");
}

static void
kill_child(struct child *c)
{
	if (c->pidfd != -1)
		(void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL,
		    0);
}

/* The table is broken or the pipe is: either way this process must go. */
static void
chan_gone(struct channel *chan, const char *why)
{
	(void)why;
	kill_child(child_of(chan));
}

static void
tell_backoff(const struct child *c, uint32_t ms)
{
	struct msg_out *o = msg_new(MSG_BACKOFF, NULL, 0, 0);

	msg_put_u32(o, c->role);
	msg_put_u32(o, ms);
	(void)child_send(ROLE_NETPROC, o, -1);
}

/* Sends a new child, once it runs, what it needs beyond SETUP. */
static void
introduce(struct child *c)
{
	struct msg_out *o;

	if (c->role == ROLE_IDPROC) {
		o = msg_new(MSG_DIAG, NULL, 0, 0);
		(void)child_lend(c->role, o, given_fd(GIVEN_DIAG));
	}
	parent_hooks->runs(c->role);
	links_make(c->role);
	parent_hooks->linked(c->role);
}

static void
send_setup(struct child *c, int log_fd)
{
	struct msg_out *o = msg_new(MSG_SETUP, NULL, 0, 0);

	msg_put_u32(o, d.mode);
	msg_put_u32(o, d.role_id[c->role].uid);
	msg_put_u32(o, d.role_id[c->role].gid);
	settings_put(o, c == &children[ROLE_TLSPROC] ? tls_settings() :
	    &d.plan->settings);
	(void)chan_lend(&c->chan, o, log_fd);
}

static void
on_exit_io(uint32_t events, void *arg)
{
	struct child *c = arg;
	siginfo_t si;

	(void)events;
	memset(&si, 0, sizeof(si));
	if (waitid_again(P_PIDFD, (id_t)c->pidfd, &si, WEXITED) == -1)
		log_warn("waitid %s", role_name(c->role));
	/* what it said last tells why it died, and is kept nowhere else */
	loop_del(&c->io);
	chan_pause(&c->chan, false);
	chan_drain(&c->chan, LAST_WORDS);
	close(c->pidfd);
	c->pidfd = -1;
	c->pid = 0;
	loop_timer_unset(&c->timer);
	chan_close(&c->chan);
	if (d.stopping) {
		parent_hooks->stop();
		return;
	}
	if (c == &children[SLOT_TRIAL]) {
		trial_over(c);
		return;
	}
	if (!d.started) {
		/* one line says why: its own, which fatal() has logged */
		if (si.si_code != CLD_EXITED || si.si_status != 1)
			log_error("%s failed during the start",
			    role_name(c->role));
		d.failed = true;
		parent_hooks->stop();
		return;
	}
	if (!is_wanted(c->role))
		return;
	log_warnx("%s %s %d", role_name(c->role), si.si_code == CLD_EXITED ?
	    "exited with" : "was ended by signal", si.si_status);
	if (c->role == ROLE_TLSPROC && !c->ready)
		log_warnx("TLS is not served: the lines above say what is "
		    "wrong with its files; SIGHUP tries them at once when they "
		    "are repaired");
	if (c->role == ROLE_LAUNCHER) {
		launcher_died(c);
		return;
	}
	links_end(c->role);
	restart_later(c);
}

static void
ready_late(void *arg)
{
	struct child *c = arg;

	log_warnx("%s is not ready after %d s", role_name(c->role),
	    READY_MS / 1000);
	kill_child(c);
}

/* Sends a launcher the binaries of processes that are no children of ours. */
static void
send_binaries(struct child *c)
{
	struct msg_out *o = msg_new(MSG_ARCHIVER, NULL, 0, 0);
	uint32_t i;

	(void)chan_lend(&c->chan, o, given_fd(GIVEN_ARCHIVER));
	for (i = ROLE_INSTRUMENT; i < ROLE_INSTRUMENT_END; i++) {
		o = msg_new(MSG_INSTRUMENT_FILE, NULL, 0, 0);
		msg_put_u32(o, i);
		(void)chan_lend(&c->chan, o,
		    given_fd(GIVEN_BINARY + (int)i));
	}
}

/* The spawner reads it before it confines itself, so it is SETUP's next. */
static void
send_state(struct child *c)
{
	struct msg_out *o = msg_new(MSG_STATE_FILE, NULL, 0, 0);

	msg_put_u32(o, STATE_TOKENS);
	(void)chan_lend(&c->chan, o, given_fd(GIVEN_TOKENS));
}

/* Takes both fds.  False: it is ended, and was never ours. */
static bool
adopt(struct child *c, int sock_fd, int pidfd, pid_t pid)
{
	int log_fd = parent_hooks->log_link((uint32_t)(c - children),
	    c->role);

	c->pid = pid;
	c->pidfd = pidfd;
	c->ready = false;
	c->since_ms = loop_now_ms();
	chan_init(&c->chan, ROLE_PARENT, c->role, chan_gone, NULL);
	if (chan_open(&c->chan, sock_fd, 0) == -1 || log_fd == -1 ||
	    loop_add(&c->io, pidfd, EPOLLIN, on_exit_io, c) == -1) {
		log_warn("cannot watch %s", role_name(c->role));
		chan_close(&c->chan);
		kill_child(c);
		close(pidfd);
		c->pidfd = -1;
		c->pid = 0;
		return false;
	}
	loop_timer_set(&c->timer, READY_MS, ready_late, c);
	send_setup(c, log_fd);
	if (c->role == ROLE_LAUNCHER)
		send_binaries(c);
	if (c->role == ROLE_SPAWNER)
		send_state(c);
	return true;
}

int
child_standard_fds(bool logs)
{
	const int null_fd = given_fd(GIVEN_NULL);

	/* in the background nobody's terminal or pipe is kept open */
	if (logs && d.foreground && given_fd(GIVEN_TERMINAL) != -1 &&
	    dup2(GIVEN_TERMINAL, STDERR_FILENO) == -1)
		return -1;
	return dup2(null_fd, STDIN_FILENO) == -1 ||
	    dup2(null_fd, STDOUT_FILENO) == -1 ||
	    (!d.foreground && (!logs || d.started) &&
	    dup2(null_fd, STDERR_FILENO) == -1) ? -1 : 0;
}

int
child_channel(int sock_fd)
{
	/* fd 3 itself would keep close-on-exec if it was the socket */
	return dup2(sock_fd, GIVEN_CHANNEL) == -1 ||
	    fcntl(GIVEN_CHANNEL, F_SETFD, 0) == -1 ? -1 : 0;
}

/* In a new process: becomes that role, with sock_fd as its channel. */
static void __attribute__((noreturn))
child_exec(enum role role, int sock_fd)
{
	char *argv[] = { (char *)(uintptr_t)role_name(role), NULL };
	char *envp[] = { NULL, NULL };
	char bus[PATH_LEN + 32];

	/* the one variable that a library of a role goes by */
	if (d.bus[0] != '\0' && role == ROLE_ANNOUNCER) {
		(void)snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s",
		    d.bus);
		envp[0] = bus;
	}
	if (child_standard_fds(role == ROLE_LOGGER) == -1 ||
	    child_channel(sock_fd) == -1 ||
	    rights_lend(role == ROLE_LAUNCHER) == -1)
		_exit(126);
	(void)execveat(GIVEN_BINARY + (int)role, "", argv, envp,
	    AT_EMPTY_PATH);
	log_error("cannot execute %s/%s: %s (every user must be able to run "
	    "it: chmod a+rx, on a file system that is not mounted noexec)",
	    d.libexec, role_name(role), strerrordesc_np(errno));
	_exit(126);
}

static void
cannot_start(struct child *c)
{
	if (!d.started)
		fatal("cannot start %s (raise the limits of processes and "
		    "open files)", role_name(c->role));
	log_warn("cannot start %s", role_name(c->role));
	c->ready = false;
	/* counts as a short life: the next try has to wait */
	c->since_ms = loop_now_ms();
	if (c == &children[SLOT_TRIAL])
		trial_over(c);
	else
		restart_later(c);
}

static void
start_child(struct child *c)
{
	int fds[2], pidfd;
	pid_t pid;

	if (chan_pair(fds) == -1) {
		cannot_start(c);
		return;
	}
	pid = c->role == ROLE_ACCTPROC ? acctproc_start(fds[1]) : fork();
	if (pid == 0)
		child_exec(c->role, fds[1]);
	close(fds[1]);
	if (pid == -1 ||
	    (pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) == -1) {
		close(fds[0]);
		cannot_start(c);
		return;
	}
	if (!adopt(c, fds[0], pidfd, pid))
		cannot_start(c);
	else if (c != &children[SLOT_TRIAL])
		introduce(c);
}

/*
 * Only launchers start launchers once the parent is under its filter: the
 * reserve takes the place of one that died, after it has made another
 * reserve.  The socket given to the new one comes back as its channel when
 * CHAINED brings its pidfd.
 */
static int chain_fd = -1;
static uint64_t chain_serial;
static struct loop_timer chain_timer;
/*
 * The working launcher has not heard from anybody yet: not before there is
 * another one in reserve, which the same words would not reach.
 */
static bool launcher_waits;

static void
let_launcher_serve(void)
{
	if (launcher_waits)
		introduce(serving(ROLE_LAUNCHER));
	launcher_waits = false;
}

static void	chain_again(void *);

static void
chain_reserve(void)
{
	struct msg_out *o;
	int fds[2];

	if (d.stopping)
		return;
	loop_timer_set(&chain_timer, CHAIN_MS, chain_again, NULL);
	if (chan_pair(fds) == -1) {
		log_warn("cannot start a launcher in reserve");
		let_launcher_serve();
		return;
	}
	if (chain_fd != -1)
		close(chain_fd);
	chain_fd = fds[0];
	/* of those that were asked for, one that comes late is none */
	o = msg_new(MSG_CHAIN, NULL, 0, ++chain_serial);
	(void)child_send(ROLE_LAUNCHER, o, fds[1]);
}

/* Sessions must not wait for it longer. */
static void
chain_again(void *arg)
{
	(void)arg;
	let_launcher_serve();
	chain_reserve();
}

/*
 * A launcher makes its successor our child.  Anybody else's pidfd would be
 * that of a process which we then end on the launcher's word.
 */
static bool
is_our_child(int pidfd)
{
	siginfo_t si;

	return waitid_again(P_PIDFD, (id_t)pidfd, &si,
	    WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * 0 when /proc cannot be read; the pidfd is what names the process.  -1 when
 * it has ended and was reaped.
 */
static pid_t
pid_of(int pidfd)
{
	char path[64], line[128];
	pid_t pid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return pid;
}

int
parent_on_chained(struct msg *m)
{
	struct child *c = in_reserve();
	const pid_t pid = pid_of(m->fd);

	if (msg_end(m) == -1)
		return -1;
	/* one that ended at once was reaped with the strays: chain_again() */
	if (pid == -1)
		return 0;
	if (!is_our_child(m->fd) || children_own(pid))
		return -1;
	if (chain_fd == -1 || m->hdr.request != chain_serial || c->pid != 0 ||
	    pid == 0) {
		(void)syscall(SYS_pidfd_send_signal, m->fd, SIGKILL, NULL, 0);
		return 0;
	}
	if (adopt(c, chain_fd, msg_take_fd(m), pid))
		loop_timer_unset(&chain_timer);
	chain_fd = -1;
	let_launcher_serve();
	return 0;
}

/*
 * No back-off here: a launcher is started by the other one, and soon there may
 * be none left to do so.  So the other serves at once, and the start of its
 * reserve is delayed only to tell a reserve that cannot live from one that
 * died.
 */
static void
launcher_died(struct child *c)
{
	bool lives = loop_now_ms() - c->since_ms >= CHAIN_MS;

	if (c == serving(ROLE_LAUNCHER)) {
		if (in_reserve()->pid == 0)
			/* under its filter the parent cannot start one */
			fatalx("both launchers are gone; the daemon must be "
			    "started again");
		links_end(ROLE_LAUNCHER);
		serving_launcher = (size_t)(in_reserve() - children);
		launcher_waits = true;
		lives = true;
	}
	if (lives)
		chain_reserve();
	else
		loop_timer_set(&chain_timer, CHAIN_MS, chain_again, NULL);
}

static void
restart_now(void *arg)
{
	struct child *c = arg;

	if (d.stopping)
		return;
	start_child(c);
	tell_backoff(c, 0);
}

/* The first time at once, then after 100 ms, doubling to 30 s. */
static void
restart_later(struct child *c)
{
	uint32_t wait = c->backoff_ms;

	if (loop_now_ms() - c->since_ms >= QUIET_MS)
		wait = 0;
	c->backoff_ms = wait == 0 ? BACKOFF_FIRST_MS :
	    wait * 2 > BACKOFF_MOST_MS ? BACKOFF_MOST_MS : wait * 2;
	if (wait == 0) {
		restart_now(c);
		return;
	}
	log_warnx("%s starts again in %u ms", role_name(c->role), wait);
	tell_backoff(c, wait);
	loop_timer_set(&c->timer, wait, restart_now, c);
}

/* -- a certificate is tried before it replaces another -- */

static bool	trial_again;

void
children_try_tls(void)
{
	struct child *c = &children[ROLE_TLSPROC];
	struct child *trial = &children[SLOT_TRIAL];

	/* nothing serves that could go on: children_wanted() starts it */
	if (c->pid == 0 || !is_wanted(c->role)) {
		tls_tried(true);
		if (c->pid == 0)
			loop_timer_unset(&c->timer);
		return;
	}
	trial_again = trial->pid != 0;
	if (trial_again)
		kill_child(trial);
	else
		start_child(trial);
}

static void
trial_over(struct child *c)
{
	if (!is_wanted(c->role))
		trial_again = false;
	else if (trial_again) {
		trial_again = false;
		start_child(c);
	} else if (!c->ready) {
		log_warnx("the certificate is not replaced: TLS goes on with "
		    "the old one until SIGHUP finds files that are good");
		tls_forget_files();
		tls_tried(false);
	}
}

static void
trial_passed(struct child *c)
{
	bool news = tls_is_news();

	kill_child(c);
	if (trial_again || !is_wanted(c->role))
		return;
	tls_tried(true);
	if (!news)
		return;
	log_info("the certificate is read again; connections over TLS end");
	children[ROLE_TLSPROC].backoff_ms = 0;
	kill_child(&children[ROLE_TLSPROC]);
}

bool
child_serves(const struct channel *chan)
{
	return chan != &children[SLOT_TRIAL].chan;
}

int
parent_on_ready(struct msg *m)
{
	struct child *c = child_of(m->chan);

	if (msg_end(m) == -1 || c->ready)
		return -1;
	c->ready = true;
	loop_timer_unset(&c->timer);
	parent_hooks->ready(c->role);
	if (c == &children[SLOT_TRIAL]) {
		trial_passed(c);
		return 0;
	}
	/* the last may say so when all of them have been ended */
	if (!d.started && !d.stopping && children_ready())
		parent_hooks->started();
	return 0;
}

/*
 * If two roles disagree, one of them lies or has broken the table, and no third
 * role has seen the message.  The spawner's end is the end of all users'
 * sessions: only the launcher, which nothing outside can talk to, is believed
 * about the spawner.  tlsproc faces the network and is believed about no role.
 * netproc faces it as well: the role that netproc accuses is ended, but netproc
 * too, so that netproc cannot keep a role in a back-off without being in one
 * itself.  tlsproc is the exception: no role needs tlsproc more than netproc
 * does.  If an accusation does not count, the accuser is ended, which gives
 * both a new link.  acctproc serves idproc alone, and is not believed about it.
 * The logger reads all roles' words, and ends with each role that it accuses:
 * its own end costs nothing, and of the two that hold sessions it is not
 * believed.
 */
static const struct blame {
	enum role	 from, accused;
	bool		 accuser, other;	/* who is ended */
} blames[] = {
	{ ROLE_LAUNCHER, ROLE_SPAWNER, false, true },
	{ ROLE_NETPROC, ROLE_SPAWNER, true, false },
	{ ROLE_IDPROC, ROLE_SPAWNER, true, false },
	{ ROLE_NETPROC, ROLE_IDPROC, true, true },
	{ ROLE_TLSPROC, ROLE_IDPROC, true, false },
	{ ROLE_TLSPROC, ROLE_NETPROC, true, false },
	{ ROLE_ACCTPROC, ROLE_IDPROC, true, false },
	{ ROLE_LOGGER, ROLE_SPAWNER, true, false },
	{ ROLE_LOGGER, ROLE_LAUNCHER, true, false },
	{ ROLE_LOGGER, ROLE_NETPROC, true, true },
	{ ROLE_LOGGER, ROLE_IDPROC, true, true },
	{ ROLE_LOGGER, ROLE_TLSPROC, true, true },
	{ ROLE_LOGGER, ROLE_ACCTPROC, true, true },
	{ ROLE_LOGGER, ROLE_ANNOUNCER, true, true },
};

static void
end_for(enum role guilty, enum role from, enum role accused, const char *why)
{
	log_warnx("%s is ended: %s says that %s sent %s", role_name(guilty),
	    role_name(from), role_name(accused), why);
	kill_child(serving(guilty));
}

static void
blame(enum role from, enum role accused, const char *why)
{
	const struct blame *b = NULL;
	size_t i;

	for (i = 0; i < sizeof(blames) / sizeof(blames[0]); i++)
		if (blames[i].from == from && blames[i].accused == accused)
			b = &blames[i];
	if (b != NULL && b->accuser)
		end_for(from, from, accused, why);
	if (b != NULL && !b->other)
		return;
	end_for(accused, from, accused, why);
	if (from == ROLE_LOGGER)
		parent_hooks->log_forget(accused);
}

/* A log link is there for as long as the daemon: it has no generations. */
static bool
may_accuse(enum role from, uint32_t role, uint32_t gen)
{
	if (from == ROLE_LOGGER)
		return role > ROLE_LOGGER && role < ROLE_COUNT;
	return link_is(from, role, gen);
}

/*
 * A child accuses a peer.  It is believed only about links that exist, and
 * only for their present generation.
 */
int
parent_on_violation(struct msg *m)
{
	struct child *from = child_of(m->chan);
	uint32_t role = msg_get_u32(m);
	uint32_t gen = msg_get_u32(m);
	char why[256];

	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1)
		return -1;
	if (may_accuse(from->role, role, gen))
		blame(from->role, role, why);
	return 0;
}

bool
children_ready(void)
{
	size_t i;

	for (i = 0; i < SLOT_COUNT; i++)
		if (!children[i].ready && i != SLOT_TRIAL &&
		    is_wanted(children[i].role))
			return false;
	return true;
}

void
children_start(void)
{
	size_t i;

	/* a launcher's child that outlives it comes to us to be reaped */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
		fatal("subreaper");
	for (i = 0; i < SLOT_COUNT; i++) {
		children[i].role = i == SLOT_RESERVE ? ROLE_LAUNCHER :
		    i == SLOT_TRIAL ? ROLE_TLSPROC : (enum role)i;
		children[i].pidfd = -1;
		chan_init(&children[i].chan, ROLE_PARENT, children[i].role,
		    chan_gone, NULL);
	}
	children[ROLE_PARENT].ready = true;
	for (i = ROLE_PARENT + 1; i < ROLE_COUNT; i++)
		if (is_wanted((enum role)i))
			start_child(&children[i]);
	/* not introduced: it talks to nobody until it is needed */
	chain_reserve();
}

void
children_wanted(void)
{
	struct child *c;
	size_t i;

	for (i = ROLE_PARENT + 1; i < ROLE_COUNT; i++) {
		c = &children[i];
		if (!is_wanted(c->role)) {
			if (c->pid == 0)
				loop_timer_unset(&c->timer);
			(void)chan_send(&c->chan, msg_new(MSG_SHUTDOWN, NULL,
			    0, 0), -1);
		} else if (c->pid == 0 && c->timer.slot == 0) {
			c->backoff_ms = 0;
			start_child(c);
			tell_backoff(c, 0);
		}
	}
}

void
children_settings(void)
{
	struct msg_out *o;
	size_t i;

	for (i = ROLE_PARENT + 1; i < SLOT_COUNT; i++) {
		o = msg_new(MSG_SETTINGS, NULL, 0, 0);
		settings_put(o, &d.plan->settings);
		(void)chan_send(&children[i].chan, o, -1);
	}
}

/* Sessions end first; the roles that serve them go when that is done. */
void
children_shutdown(void)
{
	if (!d.started) {
		children_kill();
		return;
	}
	(void)child_send(ROLE_ANNOUNCER, msg_new(MSG_WITHDRAW, NULL, 0, 0),
	    -1);
	(void)child_send(ROLE_NETPROC, msg_new(MSG_SHUTDOWN, NULL, 0, 0), -1);
	if (!child_send(ROLE_SPAWNER, msg_new(MSG_SHUTDOWN, NULL, 0, 0), -1))
		children_kill();
}

/* The sessions have ended: launchers take the cgroups away as they go. */
void
children_end(void)
{
	size_t i;

	for (i = FIRST_TO_END; i < SLOT_COUNT; i++)
		if (i != ROLE_SPAWNER && i != ROLE_NETPROC)
			(void)chan_send(&children[i].chan,
			    msg_new(MSG_SHUTDOWN, NULL, 0, 0), -1);
	kill_child(&children[ROLE_SPAWNER]);
}

void
children_kill(void)
{
	size_t i;

	for (i = FIRST_TO_END; i < SLOT_COUNT; i++)
		kill_child(&children[i]);
}

bool
children_gone(void)
{
	size_t i;

	for (i = FIRST_TO_END; i < SLOT_COUNT; i++)
		if (children[i].pid != 0)
			return false;
	return true;
}

bool
child_end_logger(void)
{
	struct child *c = &children[ROLE_LOGGER];
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };
	siginfo_t si = { 0 };

	if (c->pid == 0)
		return false;
	(void)chan_send(&c->chan, msg_new(MSG_SHUTDOWN, NULL, 0, 0), -1);
	if (poll(&p, 1, LAST_LINES_MS) != 1)
		kill_child(c);
	(void)waitid_again(P_PIDFD, (id_t)c->pidfd, &si, WEXITED);
	return si.si_code == CLD_EXITED && si.si_status == 0;
}

bool
children_own(pid_t pid)
{
	size_t i;

	/* one that has ended; an empty slot has the same number */
	if (pid == 0)
		return false;
	for (i = ROLE_PARENT + 1; i < SLOT_COUNT; i++)
		if (children[i].pid == pid)
			return true;
	return parent_hooks->owns(pid);
}
