/* SPDX-License-Identifier: ISC */
/*
 * debuglanternd: the parent.  It reads the configuration, makes what needs
 * root, gives root up, and from then on only starts its children again and
 * writes their log lines.  It never touches network data.
 */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "again.h"
#include "confine.h"
#include "log.h"
#include "parent.h"

/* All of a stop must be done in 5 s. */
#define STOP_LIMIT_MS	4500
/* Each role needs about forty before it serves anybody. */
#define FILES_LEAST	128
/* Files in memory count: what a terminal has written is one. */
#define FILE_LEAST	(1024 * 1024)

struct daemon		 d = { .fence_fd = -1, .diag_fd = -1 };

static struct loop_io	 signals = LOOP_IO_INIT;
static struct loop_timer stop_timer, idle_timer;
static bool		 reload_waits;	/* for the end of the start */
static uint32_t		 alive, clients;
static char		 mdns_state[256] = "not announced yet";

static void	reload(void);
static void	watch_idle(void);

int	parent_on_clients(struct msg *);
int	parent_on_mdns_state(struct msg *);
int	parent_on_sessions_alive(struct msg *);
int	parent_on_stopped_all(struct msg *);

/*
 * Opens /dev/null for standard fds that are closed.  Files that are opened
 * later would else take their numbers: lines that are meant for standard error
 * would be written into the audit file.
 */
static void
fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd == -1)
			fatal("/dev/null");
	} while (fd <= STDERR_FILENO);
	close(fd);
}

static void
find_libexec(void)
{
	char exe[PATH_LEN];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n == -1 || (size_t)n == sizeof(exe) - 1)
		fatal("cannot find the own executable (mount /proc)");
	exe[n] = '\0';
	/* .../bin/debuglanternd and .../libexec/debuglantern/ROLE */
	if ((slash = strrchr(exe, '/')) != NULL)
		*slash = '\0';
	if ((slash = strrchr(exe, '/')) != NULL)
		*slash = '\0';
	if (snprintf(d.libexec, sizeof(d.libexec), "%s/libexec/debuglantern",
	    exe) >= (int)sizeof(d.libexec) || access(d.libexec, X_OK) == -1)
		fatal("cannot find the other programs in %s (leave them there "
		    "by make, or by make install)", d.libexec);
}

/* The names by which browsers may call this host. */
static void
fill_hosts(struct settings *s, const struct conf *c)
{
	char host[HOST_NAME_MAX + 1] = "localhost";
	size_t i, len;

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(s->web_hosts, sizeof(s->web_hosts), "%s", host);
	for (i = 0; i < c->web_hosts.n; i++) {
		len = strlen(s->web_hosts);
		(void)snprintf(s->web_hosts + len, sizeof(s->web_hosts) - len,
		    ",%s", c->web_hosts.v[i]);
	}
}

static void
fill_debuggers(struct settings *s, const struct conf *c)
{
	size_t i, len = 0;

	s->debugger_idle = c->debugger_idle;
	s->debugger_output_events = c->debugger_output_events;
	s->debugger_output_bytes = c->debugger_output_bytes;
	s->tracer_idle = c->tracer_idle;
	s->tracer_budget = c->tracer_budget;
	s->tracer_calls = c->tracer_calls;
	s->tracer_output = c->tracer_output;
	s->tracer_user = c->tracer_user;
	s->dap_initialize = c->dap_initialize;
	s->dap_request = c->dap_request;
	s->dap_await = c->dap_await;
	s->debugger_adapters[0] = '\0';
	for (i = 0; i < c->nadapters; i++)
		len += (size_t)snprintf(s->debugger_adapters + len,
		    sizeof(s->debugger_adapters) - len, "%s\t%s\n",
		    c->adapters[i].name, c->adapters[i].command);
}

void
settings_fill(void)
{
	struct settings *s = &d.settings;
	const struct conf *c = d.conf;

	s->max_sessions = c->max_sessions;
	s->max_sessions_per_user = c->max_sessions_per_user;
	s->unstarted_timeout = c->unstarted_timeout;
	s->sum_users = d.sum_users;
	s->rlimit_users = d.rlimits_lifted ? 1 : d.sum_users;
	s->max_total_bytes = c->max_total_bytes;
	s->max_connections = c->max_connections;
	s->max_connections_per_user = c->max_connections_per_user;
	s->connection_memory = c->connection_memory;
	s->output_buffer = c->output_buffer;
	s->pty_scrollback = c->pty_scrollback;
	s->pty_idle_ttl = c->pty_idle_ttl;
	s->pty_max_clients = c->pty_max_clients;
	s->pty_grace = c->pty_grace;
	s->stop_timeout = c->stop_timeout;
	s->idle_timeout = c->idle_timeout;
	s->line_timeout = c->line_timeout;
	s->debug_timeout = c->debug_timeout;
	fill_debuggers(s, c);
	s->sandbox = c->sandbox;
	s->allow_sandbox = c->allow_sandbox;
	s->network = c->network;
	s->control = c->control;
	s->allow_32bit = c->allow_32bit;
	s->limit_cpu = c->limits.cpu;
	s->limit_as = c->limits.as;
	s->limit_nofile = c->limits.nofile;
	s->limit_nproc = c->limits.nproc;
	s->limit_core = c->limits.core;
	s->limit_memory = c->limits.memory;
	s->limit_pids = c->limits.pids;
	s->bundle_max_bytes = c->bundle_max_bytes;
	s->bundle_max_members = c->bundle_max_members;
	s->bundle_max_path = c->bundle_max_path;
	s->sysroot_max_bytes = c->sysroot_max_bytes;
	s->min_uid = c->min_uid;
	s->run_uid = d.run_id.uid;
	s->run_gid = d.run_id.gid;
	s->daemon_uid = getuid();
	s->weakened = (c->weaken_userns ? WEAKEN_USERNS : 0U) |
	    (c->weaken_seccomp ? WEAKEN_SECCOMP : 0U) |
	    (c->weaken_chroot ? WEAKEN_CHROOT : 0U);
	s->log_level = d.opt.verbose ? LOG_L_DEBUG : c->log_level;
	s->port = c->port;
	(void)snprintf(s->gdbserver, sizeof(s->gdbserver), "%s",
	    c->gdbserver);
	(void)snprintf(s->pty_default_shell, sizeof(s->pty_default_shell),
	    "%s", c->pty_default_shell);
	(void)snprintf(s->state_dir, sizeof(s->state_dir), "%s", d.state_dir);
	(void)snprintf(s->run_dir, sizeof(s->run_dir), "%s", d.run_dir);
	(void)snprintf(s->version, sizeof(s->version), "%s", DL_VERSION);
	s->has_tls = listen_has_tls();
	s->has_shadow = gate_is_wanted();
	s->web_port = listen_web_port();
	s->web_tls = listen_web_is_tls();
	listen_web_address(s->web_address, sizeof(s->web_address));
	fill_hosts(s, c);
	(void)snprintf(s->tls_certificate, sizeof(s->tls_certificate), "%s",
	    c->tls_certificate);
	(void)snprintf(s->tls_key, sizeof(s->tls_key), "%s", c->tls_key);
	(void)snprintf(s->tls_client_ca, sizeof(s->tls_client_ca), "%s",
	    c->tls_client_ca);
	access_commit();
}

/* For DEPS and VERSION; empty when all is well. */
void
tell_mdns_state(void)
{
	struct msg_out *o = msg_new(MSG_MDNS, NULL, 0, 0);

	msg_put_str(o, d.conf->mdns ? mdns_state : "switched off by mdns no");
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
	int landlock = landlock_abi();

	if (landlock < LANDLOCK_SCOPES)
		log_info("without Landlock %d (this kernel has %d) less is "
		    "confined; debuglanternctl deps says what it lacks",
		    LANDLOCK_SCOPES, landlock);
	if (d.mode == MODE_SYSTEM && !gate_is_wanted())
		log_info("accounts that are locked or expired are let in, as "
		    "no group but root's may read /etc/shadow; give it one "
		    "(chgrp shadow /etc/shadow; chmod g+r /etc/shadow) and "
		    "start debuglanternd again");
	if (d.settings.weakened != 0)
		log_warnx("isolation is weakened by the configuration:%s%s%s",
		    d.conf->weaken_userns ? " weaken-userns" : "",
		    d.conf->weaken_seccomp ? " weaken-seccomp" : "",
		    d.conf->weaken_chroot ? " weaken-chroot" : "");
	if (d.mode == MODE_USER && geteuid() == 0 &&
	    d.conf->sandbox != CONF_SANDBOX_TMPFS)
		log_warnx("sessions run as root and may change the host's "
		    "files; use sandbox tmpfs, or system mode");
}

/* Every role has said READY: only now is there anything to connect to. */
void
parent_started(void)
{
	d.started = true;
	listen_hand_out(ROLE_IDPROC);
	listen_hand_out(ROLE_NETPROC);
	listen_hand_out(ROLE_TLSPROC);
	announce_send();
	parent_filter();
	listen_describe(say_listening);
	flags_warn();
	say_weaker();
	log_info("debuglanternd %s is ready (%s mode)", DL_VERSION,
	    d.mode == MODE_SYSTEM ? "system" : "user");
	daemon_ready();
	notify_watchdog();
	watch_idle();
	if (reload_waits)
		reload();
}

static bool
same_groups(const struct conf *a, const struct conf *b)
{
	size_t i;

	if (a->allow_groups.n != b->allow_groups.n)
		return false;
	for (i = 0; i < a->allow_groups.n; i++)
		if (strcmp(a->allow_groups.v[i], b->allow_groups.v[i]) != 0)
			return false;
	return true;
}

/*
 * Returns a setting that has changed and needs a restart, or NULL: a running
 * process cannot get its users, places and isolation again.
 */
static const char *
needs_restart(const struct conf *c)
{
	if (strcmp(c->state_dir, d.conf->state_dir) != 0)
		return "state-dir";
	if (strcmp(c->run_dir, d.conf->run_dir) != 0)
		return "run-dir";
	if (c->min_uid != d.conf->min_uid)
		return "min-uid";
	if (!same_groups(c, d.conf))
		return "allow-group";
	if (c->weaken_userns != d.conf->weaken_userns ||
	    c->weaken_seccomp != d.conf->weaken_seccomp ||
	    c->weaken_chroot != d.conf->weaken_chroot)
		return "weaken-";
	/* nobody could be told from a session, and so nobody be served */
	if (d.mode == MODE_SYSTEM && !c->control &&
	    d.settings.cgroup[0] == '\0')
		return "control (to no, without cgroups)";
	return NULL;
}

/* The last step of these is the one that changes something. */
static bool
can_become(const struct conf *c)
{
	const char *key = needs_restart(c);

	if (key != NULL)
		log_error("the configuration was not reloaded: %s changes at "
		    "a restart only", key);
	else if (access_find(c) == -1)
		log_error("the configuration was not reloaded: it names "
		    "somebody that cannot be meant");
	else if (audit_find(c) == -1)
		log_error("the configuration was not reloaded: there is no "
		    "audit-file that could be written");
	else if (listen_reload(c) == -1)
		log_error("the configuration was not reloaded: a listener "
		    "could not be opened");
	else
		return true;
	return false;
}

static void
reload(void)
{
	struct conf *c = flags_load();

	if (c == NULL) {
		log_error("the configuration was not reloaded");
		return;
	}
	if (!can_become(c)) {
		conf_free(c);
		return;
	}
	conf_free(d.conf);
	d.conf = c;
	audit_commit();
	settings_fill();
	log_set_level((enum log_level)d.settings.log_level);
	children_settings();
	access_tell();
	/* a present announcement stays: nobody sees it go and come */
	if (!d.conf->mdns)
		(void)child_send(ROLE_ANNOUNCER, msg_new(MSG_WITHDRAW, NULL,
		    0, 0), -1);
	announce_send();
	tell_mdns_state();
	if (tls_files_changed())
		children_try_tls();
	children_wanted();
	tls_tell();
	log_info("the configuration was reloaded");
	flags_warn();
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
void
parent_stop(void)
{
	if (!d.stopping) {
		d.stopping = true;
		notify_send("STOPPING=1");
		if (!d.failed)
			log_info("stopping");
		listen_close();
		children_go_on();
		loop_timer_set(&stop_timer, STOP_LIMIT_MS, stop_late, NULL);
		children_shutdown();
	}
	if (children_gone())
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
	else if (si.ssi_signo == SIGHUP && !d.stopping)
		reload();
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
	log_info("nobody has used the daemon for %u s (exit-idle)",
	    d.conf->exit_idle);
	parent_stop();
}

/* Arms exit-idle while no client is connected and no session is alive. */
static void
watch_idle(void)
{
	if (d.conf->exit_idle == 0 || clients > 0 || alive > 0 || d.stopping)
		loop_timer_unset(&idle_timer);
	else if (idle_timer.slot == 0)
		loop_timer_set(&idle_timer, d.conf->exit_idle * 1000ULL,
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
raise_limit(int which, rlim_t least, const char *before, const char *after,
    const char *how)
{
	struct rlimit rl;

	if (getrlimit(which, &rl) == -1)
		return;
	if (rl.rlim_max < least)
		fatalx("%s %llu %s, and %llu are needed for anything "
		    "(raise the hard limit: %s)", before,
		    (unsigned long long)rl.rlim_max, after,
		    (unsigned long long)least, how);
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(which, &rl);
}

static void
raise_limits(void)
{
	struct rlimit rl;

	/* connections, rings, pidfds: children need many fds */
	raise_limit(RLIMIT_NOFILE, FILES_LEAST, "at most", "files may be open",
	    "ulimit -n, LimitNOFILE=");
	raise_limit(RLIMIT_FSIZE, FILE_LEAST, "files may have at most", "bytes",
	    "ulimit -f, LimitFSIZE=");
	/* the hard limit is for sessions whose owner asks for core files */
	if (getrlimit(RLIMIT_CORE, &rl) == 0) {
		rl.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &rl);
	}
}

int
main(int argc, char **argv)
{
	fill_standard_fds();
	/* ignored, as a starter may leave it, children's ends would be lost */
	(void)signal(SIGCHLD, SIG_DFL);
	flags_parse(argc, argv);
	log_init("debuglanternd", LOG_L_WARN, NULL);
	if (close_range(3, ~0U, 0) == -1)
		fatal("close_range");
	raise_limits();
	find_libexec();
	notify_init();
	daemon_fork();
	users_find();
	if (access_find(d.conf) == -1)
		return 1;
	places_make();
	if (audit_find(d.conf) == -1)
		return 1;
	audit_commit();
	listen_open();
	state_open();
	d.diag_fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	if (d.diag_fd == -1)
		fatal("cannot ask the kernel about sockets (it needs "
		    "CONFIG_INET_DIAG)");
	fence_make();
	children_find();
	gate_make();
	settings_fill();
	tls_note_files();
	if (loop_init() == -1)
		fatal("epoll");
	catch_signals();
	sink_find();
	users_drop();
	sink_init();
	children_start();
	if (loop_run() == -1)
		fatal("event loop");
	gate_end();
	places_remove();
	if (!d.failed)
		log_info("stopped");
	sink_end();
	return d.failed ? 1 : 0;
}
