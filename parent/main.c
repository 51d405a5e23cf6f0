/* SPDX-License-Identifier: ISC */
/*
 * parent: what setup becomes when the start no longer needs root.  It starts
 * the roles and starts them again.  It reads neither the configuration, nor
 * the roles' log lines, nor anything from the network.
 */
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "confine/confine.h"
#include "parent.h"

/* All of a stop must be done in 5 s. */
#define STOP_LIMIT_MS	4500

static struct loop_io	 signals = LOOP_IO_INIT;
static struct loop_timer stop_timer, idle_timer;
static bool		 reload_waits;	/* for the end of the start */
static uint32_t		 alive, clients;
static char		 mdns_state[256] = "not announced yet";

static void	watch_idle(void);

int	parent_on_clients(struct msg *);
int	parent_on_mdns_state(struct msg *);
int	parent_on_sessions_alive(struct msg *);
int	parent_on_stopped_all(struct msg *);

/* For DEPS and VERSION; empty when all is well. */
static void
tell_mdns_state(void)
{
	struct msg_out *o = msg_new(MSG_MDNS, NULL, 0, 0);

	msg_put_str(o, d.plan->mdns ? mdns_state : "switched off by mdns no");
	(void)child_send(ROLE_NETPROC, o, -1);
}

static void
say_listening(const char *text)
{
	log_info("listening on %s", text);
}

/* Logs which confinement this host or the configuration prevents. */
static void
say_weaker(void)
{
	const uint64_t weak = d.plan->settings.weakened;
	int landlock = landlock_abi();

	if (landlock < LANDLOCK_SCOPES)
		log_info("without Landlock %d (this kernel has %d) less is "
		    "confined; debuglanternctl deps says what it lacks",
		    LANDLOCK_SCOPES, landlock);
	if (d.mode == MODE_SYSTEM && !d.plan->settings.has_shadow)
		log_info("accounts that are locked or expired are let in, as "
		    "no group but root's may read /etc/shadow; give it one "
		    "(chgrp shadow /etc/shadow; chmod g+r /etc/shadow) and "
		    "start debuglanternd again");
	if (weak != 0)
		log_warnx("isolation is weakened by the configuration:%s%s%s",
		    weak & WEAKEN_USERNS ? " weaken-userns" : "",
		    weak & WEAKEN_SECCOMP ? " weaken-seccomp" : "",
		    weak & WEAKEN_CHROOT ? " weaken-chroot" : "");
	if (d.mode == MODE_USER && geteuid() == 0 &&
	    d.plan->settings.sandbox != SANDBOX_TMPFS)
		log_warnx("sessions run as root and may change the host's "
		    "files; use sandbox tmpfs, or system mode");
}

/* Before anybody can ask it for something. */
static void
child_runs_now(enum role role)
{
	if (role == ROLE_LOGGER)
		logger_introduce();
	if (role == ROLE_SPAWNER)
		plan_tell_quotas();
}

static void
child_is_ready(enum role role)
{
	if (role == ROLE_LOGGER)
		logger_lives();
}

static void
child_linked(enum role role)
{
	if (!d.started)
		return;
	listen_hand_out(role);
	if (role == ROLE_ANNOUNCER)
		announce_send();
}

static void
parent_started(void)
{
	d.started = true;
	listen_hand_out(ROLE_IDPROC);
	listen_hand_out(ROLE_NETPROC);
	listen_hand_out(ROLE_TLSPROC);
	announce_send();
	parent_filter();
	listen_describe(say_listening);
	plan_warn();
	say_weaker();
	log_info("debuglanternd %s is ready (%s mode)", DL_VERSION,
	    d.mode == MODE_SYSTEM ? "system" : "user");
	daemon_ready();
	notify_watchdog();
	watch_idle();
	if (reload_waits)
		reload_start();
}

static void
parent_reloaded(void)
{
	listen_hand_out(ROLE_IDPROC);
	listen_hand_out(ROLE_NETPROC);
	listen_hand_out(ROLE_TLSPROC);
	log_set_level((enum log_level)d.plan->settings.log_level);
	children_settings();
	plan_tell_quotas();
	/* a present announcement stays: nobody sees it go and come */
	if (!d.plan->mdns)
		(void)child_send(ROLE_ANNOUNCER, msg_new(MSG_WITHDRAW, NULL,
		    0, 0), -1);
	announce_send();
	tell_mdns_state();
	if (tls_files_changed())
		children_try_tls();
	children_wanted();
	tls_tell();
	reload_done();
	log_info("the configuration was reloaded");
	plan_warn();
	loop_timer_unset(&idle_timer);
	watch_idle();
}

static void
stop_late(void *arg)
{
	(void)arg;
	log_warnx("the stop takes too long; children are killed");
	children_kill();
}

/* Called for the signal, and again as each child goes. */
static void
parent_stop(void)
{
	if (!d.stopping) {
		d.stopping = true;
		notify_send("STOPPING=1");
		if (!d.failed)
			log_info("stopping");
		listen_close();
		reload_stop();
		loop_timer_set(&stop_timer, STOP_LIMIT_MS, stop_late, NULL);
		children_shutdown();
	}
	if (children_gone() && !reload_runs())
		loop_stop();
}

/* Launchers' children that were left over are reaped here. */
static void
reap_strays(void)
{
	siginfo_t si;

	for (;;) {
		memset(&si, 0, sizeof(si));
		if (waitid_again(P_ALL, 0, &si,
		    WEXITED | WNOHANG | WNOWAIT) == -1 || si.si_pid == 0 ||
		    children_own(si.si_pid))
			return;
		(void)waitid_again(P_PID, (id_t)si.si_pid, &si,
		    WEXITED | WNOHANG);
	}
}

static void
on_signal(uint32_t events, void *arg)
{
	struct signalfd_siginfo si;

	(void)events;
	(void)arg;
	if (read(signals.fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGHUP && !d.started)
		reload_waits = true;
	else if (si.ssi_signo == SIGHUP)
		reload_start();
	else if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGINT)
		parent_stop();
	else if (si.ssi_signo == SIGCHLD)
		reap_strays();
}

static void
catch_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	(void)signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1 ||
	    loop_add(&signals, fd, EPOLLIN, on_signal, NULL) == -1)
		fatal("signals");
}

static void
on_idle(void *arg)
{
	(void)arg;
	log_info("the daemon was not used for %u s (exit-idle)",
	    d.plan->exit_idle);
	parent_stop();
}

/* Arms exit-idle while no client is connected and no session is alive. */
static void
watch_idle(void)
{
	if (d.plan->exit_idle == 0 || clients > 0 || alive > 0 || d.stopping)
		loop_timer_unset(&idle_timer);
	else if (idle_timer.slot == 0)
		loop_timer_set(&idle_timer, d.plan->exit_idle * 1000ULL,
		    on_idle, NULL);
}

static void
report_load(void)
{
	char state[96];

	watch_idle();

	(void)snprintf(state, sizeof(state),
	    "STATUS=serving, %u running sessions, %s", alive,
	    clients > 0 ? "clients connected" : "no client");
	notify_send(state);
}

int
parent_on_clients(struct msg *m)
{
	clients = msg_get_u32(m);
	report_load();
	return msg_end(m);
}

int
parent_on_sessions_alive(struct msg *m)
{
	alive = msg_get_u32(m);
	report_load();
	return msg_end(m);
}

int
parent_on_mdns_state(struct msg *m)
{
	msg_get_str(m, mdns_state, sizeof(mdns_state));
	if (msg_end(m) == -1)
		return -1;
	tell_mdns_state();
	return 0;
}

int
parent_on_stopped_all(struct msg *m)
{
	if (d.stopping)
		children_end();
	return msg_end(m);
}

static void
setup_gone(struct channel *c, const char *why)
{
	(void)c;
	fatalx("setup did not say all that the parent needs%s%s",
	    why == NULL ? "" : ": ", why == NULL ? "" : why);
}

/* All that setup says is in the channel already. */
static void
hear_setup(void)
{
	static struct channel chan;

	chan_init(&chan, ROLE_PARENT, ROLE_SETUP, setup_gone, NULL);
	if (chan_open(&chan, given_fd(GIVEN_CHANNEL), 0) == -1)
		fatalx("fd %d is not a channel; parent is started by "
		    "debuglanternd", GIVEN_CHANNEL);
	while (d.plan == NULL)
		(void)chan_recv_one(&chan);
	chan_close(&chan);
}

static const struct parent_hooks hooks = {
	.runs = child_runs_now,
	.linked = child_linked,
	.ready = child_is_ready,
	.log_link = logger_link,
	.log_forget = logger_forget,
	.owns = reload_owns,
	.tell_mdns = tell_mdns_state,
	.started = parent_started,
	.reloaded = parent_reloaded,
	.stop = parent_stop,
};

int
main(int argc, char **argv)
{
	(void)argc;
	log_init("debuglanternd", LOG_L_WARN, NULL);
	rights_take();
	given_take();
	d.argv = argv;
	parent_hooks = &hooks;
	if (loop_init() == -1)
		fatal("epoll");
	hear_setup();
	tls_note_files();
	catch_signals();
	logger_init();
	children_start();
	if (loop_run() == -1)
		fatal("event loop");
	acctproc_end();
	if (!d.failed)
		log_info("stopped");
	logger_end();
	/* the logger was in it */
	tree_remove();
	return d.failed ? 1 : 0;
}
