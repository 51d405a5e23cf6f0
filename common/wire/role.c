/* SPDX-License-Identifier: ISC */
/* Start-up of a role, and the messages that every role takes. */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "confine/caps.h"
#include "logline.h"
#include "role.h"

#define PARENT_FD	3

int	role_on_setup(struct msg *);
int	role_on_settings(struct msg *);
int	role_on_peer(struct msg *);
int	role_on_shutdown(struct msg *);

struct settings		 settings;
enum mode		 role_mode;
struct channel		 parent_chan;

static const struct role_desc *desc;
static uid_t		 service_uid;
static gid_t		 service_gid;
static bool		 have_setup;

void
role_cannot(const char *what, const char *remedy)
{
	const char *why = strerrordesc_np(errno);

	fatalx("%s cannot %s: %s; %s", role_name(desc->self), what,
	    why == NULL ? "unknown error" : why, remedy);
}

void
role_peer_gone(const struct channel *c, const char *why)
{
	struct msg_out *o = msg_new(why == NULL ? MSG_LINK_LOST :
	    MSG_VIOLATION, NULL, 0, 0);

	msg_put_u32(o, c->peer);
	msg_put_u32(o, c->generation);
	if (why != NULL)
		msg_put_str(o, why);
	(void)chan_send(&parent_chan, o, -1);
}

/* Without its parent a role has no purpose and nobody to tell. */
static void
parent_gone(struct channel *c, const char *why)
{
	(void)c;
	if (desc->orphaned != NULL)
		desc->orphaned();
	_exit(why == NULL ? 0 : 1);
}

int
role_on_setup(struct msg *m)
{
	if (have_setup)
		return -1;
	role_mode = msg_get_u32(m);
	service_uid = msg_get_u32(m);
	service_gid = msg_get_u32(m);
	settings_get(m, &settings);
	have_setup = true;
	return msg_end(m) == -1 ||
	    logline_open(desc->self, msg_take_fd(m)) == -1 ? -1 : 0;
}

int
role_on_settings(struct msg *m)
{
	settings_get(m, &settings);
	if (msg_end(m) == -1)
		return -1;
	log_set_level((enum log_level)settings.log_level);
	if (desc->settings != NULL)
		desc->settings();
	return 0;
}

int
role_on_peer(struct msg *m)
{
	uint32_t peer = msg_get_u32(m);
	uint32_t gen = msg_get_u32(m);

	if (msg_end(m) == -1 || peer >= ROLE_COUNT || desc->peer == NULL)
		return -1;
	desc->peer(peer, msg_take_fd(m), gen);
	return 0;
}

int
role_on_shutdown(struct msg *m)
{
	if (desc->shutdown == NULL)
		_exit(0);
	desc->shutdown();
	return msg_end(m);
}

void
role_service_ids(uid_t *uid, gid_t *gid)
{
	*uid = service_uid;
	*gid = service_gid;
}

/*
 * By system call: what an ancestor had ignored of the two signals that libc
 * keeps for itself, libc would not touch, and sessions would inherit.
 */
static void
reset_signals(void)
{
	/* the kernel's structure, all zero: SIG_DFL, no flags, no mask */
	static const uint64_t dfl[8];
	int sig;

	for (sig = 1; sig < _NSIG; sig++)
		(void)syscall(SYS_rt_sigaction, sig, dfl, NULL, _NSIG / 8);
}

static void
reset_process(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };
	sigset_t none;

	if (close_range(PARENT_FD + 1, ~0U, 0) == -1)
		fatal("close_range");
	umask(077);
	reset_signals();
	(void)sigaction(SIGPIPE, &sa, NULL);
	/* nor does a file, or one in memory, that is too large end anybody */
	(void)sigaction(SIGXFSZ, &sa, NULL);
	/* the parent stops its children by message, not by terminal */
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
system_confine(void)
{
	char dir[sizeof(settings.run_dir) + 8];

	(void)snprintf(dir, sizeof(dir), "%s/empty", settings.run_dir);
	if (!desc->keep_root && !(settings.weakened & WEAKEN_CHROOT) &&
	    confine_chroot(dir) == -1)
		role_cannot("change its root directory",
		    "the run directory must hold an empty directory \"empty\" "
		    "of root's; or set weaken-chroot yes");
	if (confine_ids(service_uid, service_gid) == -1)
		role_cannot("become its service user",
		    "start debuglanternd as root");
}

static void
user_confine(void)
{
	if (desc->keep_root || settings.weakened & WEAKEN_USERNS)
		return;
	if (confine_userns() == -1)
		role_cannot("make an empty root in a user namespace",
		    "allow unprivileged user namespaces "
		    "(user.max_user_namespaces, kernel.unprivileged_userns_"
		    "clone, AppArmor), or set weaken-userns yes");
}

static void
confine(void)
{
	void *prog = NULL;
	size_t ninstr = 0;

	if (desc->confine != NULL)
		desc->confine();
	else {
		if (role_mode == MODE_SYSTEM)
			system_confine();
		else
			user_confine();
		if (caps_set(0, 0) == -1)
			role_cannot("drop its capabilities",
			    "this must always work: report it");
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		role_cannot("give up new privileges",
		    "this must always work: report it");
	if (desc->landlock && confine_landlock(desc->landlock_level) == -1)
		role_cannot("enter a Landlock domain",
		    "the kernel offers Landlock but refuses it");
	/* compiling writes to a memfd, which RLIMIT_FSIZE would forbid */
	if (desc->filter != NULL && !(settings.weakened & WEAKEN_SECCOMP) &&
	    filter_compile(desc->filter, &prog, &ninstr) == -1)
		role_cannot("compile its system call filter",
		    "this must always work: report it");
	if (confine_rlimits(desc->fsize, desc->nproc, desc->core) == -1)
		role_cannot("set its resource limits",
		    "this must always work: report it");
	if (prog != NULL && filter_install(prog, ninstr) == -1)
		role_cannot("load its system call filter",
		    "the kernel needs CONFIG_SECCOMP_FILTER, or set "
		    "weaken-seccomp yes");
	free(prog);
}

void
role_main(const struct role_desc *d)
{
	desc = d;
	log_init(role_name(d->self), LOG_L_INFO, NULL);
	/* executed by fd, its name would be the fd's number */
	(void)prctl(PR_SET_NAME, role_name(d->self), 0, 0, 0);
	reset_process();
	if (caps_ambient_clear() == -1)
		fatal("ambient capabilities");
	if (loop_init() == -1)
		fatal("epoll");
	chan_init(&parent_chan, d->self, ROLE_PARENT, parent_gone, NULL);
	if (chan_open(&parent_chan, PARENT_FD, 0) == -1)
		fatalx("fd 3 is not a channel; %s is started by debuglanternd",
		    role_name(d->self));
	if (chan_recv_one(&parent_chan) == -1 || !have_setup)
		fatalx("the first message was not SETUP");
	log_init(role_name(d->self), (enum log_level)settings.log_level,
	    logline_send);
	if (d->prepare != NULL)
		d->prepare();
	confine();
	if (d->start != NULL)
		d->start();
	if (chan_send(&parent_chan, msg_new(MSG_READY, NULL, 0, 0), -1) == -1)
		_exit(1);
	if (loop_run() == -1)
		fatal("event loop");
	_exit(0);
}
