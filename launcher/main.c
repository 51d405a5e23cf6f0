/* SPDX-License-Identifier: ISC */
/*
 * launcher: acts for the spawner.  It starts, signals and attaches on the
 * spawner's word, as owners that it checks itself, and decides nothing.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "cgroup.h"
#include "confine/caps.h"
#include "confine/sessfilter.h"
#include "facts_read.h"
#include "find.h"
#include "launcher.h"
#include "launcher/base/child.h"
#include "launcher/base/filters.h"
#include "launcher/owner/archive_start.h"
#include "launcher/owner/attach.h"
#include "launcher/owner/instrument.h"
#include "launcher/owner/loader.h"
#include "launcher/owner/session.h"
#include "pending_start.h"
#include "probe.h"
#include "usage.h"
#include "waiting_start.h"
#include "wire/role.h"

/* All that it has, and only inside the fence, where there is no root. */
#define LAUNCHER_CAPS	(CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) |	\
			 CAP_BIT(CAP_KILL))
#define CHANNEL_FD	3
/* As many users as the spawner knows; all of them fit into one message. */
#define USERS_MAX	4096

int	launch_on_archiver(struct msg *);
int	launch_on_attach(struct msg *);
int	launch_on_chain(struct msg *);
int	launch_on_find(struct msg *);
int	launch_on_instrument(struct msg *);
int	launch_on_instrument_file(struct msg *);
int	launch_on_pack(struct msg *);
int	launch_on_send_signal(struct msg *);
int	launch_on_probe(struct msg *);
int	launch_on_run(struct msg *);
int	launch_on_sample(struct msg *);
int	launch_on_sweep(struct msg *);
int	launch_on_unpack(struct msg *);
int	launch_on_user_limits(struct msg *);
int	launch_on_user_use(struct msg *);

static int	 self_fd = -1;		/* this binary, for CHAIN */

bool
owner_allowed(const struct run_owner *w)
{
	uint32_t i;

	errno = EPERM;
	if (role_mode == MODE_USER)
		return w->uid == getuid() && w->gid == getgid();
	if (w->uid == 0 || w->gid == 0 ||
	    (w->uid < settings.min_uid && w->uid != settings.run_uid))
		return false;
	for (i = 0; i < w->ngroups; i++)
		if (w->groups[i] == 0)
			return false;
	return true;
}

static bool
run_allowed(const struct msg *m, const struct run_spec *r)
{
	bool own = role_mode == MODE_USER && r->adapter;

	errno = EPERM;
	/* a debugger of its user's other processes is where they are */
	if (!(settings.allow_sandbox >> r->sandbox & 1) &&
	    !(own && r->sandbox == SANDBOX_NONE))
		return false;
	errno = EBADF;
	return (m->fd == -1) == r->command && !(r->adapter && r->debug) &&
	    owner_allowed(&r->owner);
}

static struct cgroup_leaf
leaf_of(const struct msg *m, uint32_t uid, enum leaf_of of)
{
	return (struct cgroup_leaf){ uid, m->hdr.session, of };
}

static int
make_cgroup(const struct msg *m, const struct run_spec *r, int *cgroup_fd)
{
	const struct cgroup_leaf leaf = leaf_of(m, r->owner.uid, LEAF_SESSION);
	const struct cgroup_limits user = { r->user_memory,
	    r->user_processes }, session = { r->memory, r->pids };

	return cgroup_make(&leaf, &user, &session, cgroup_fd);
}

/* By it the spawner sees why the kernel has killed a program. */
static void
send_events(const struct msg *m, const struct run_spec *r, int cgroup_fd)
{
	struct msg_out *o;
	int fd;

	if (cgroup_fd == -1 || !(settings.controllers & CONTROLLER_MEMORY) ||
	    (r->memory == LIMIT_UNLIMITED &&
	    r->user_memory == LIMIT_UNLIMITED))
		return;
	fd = openat(cgroup_fd, "memory.events", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	o = msg_new(MSG_RUN_FD, &m->hdr.session, m->hdr.conn, m->hdr.request);
	msg_put_u32(o, RUN_FD_EVENTS);
	(void)chan_send(&spawner_chan, o, fd);
}

int
launch_on_run(struct msg *m)
{
	static struct run_spec r;
	void *text = (void *)(uintptr_t)m->next;
	size_t len = m->left;
	int cgroup_fd = -1;

	run_get(m, &r);
	if (msg_end(m) == -1)
		return -1;
	if (!run_allowed(m, &r))
		pending_refuse(m, PENDING_RUN, STEP_IDS);
	else if (make_cgroup(m, &r, &cgroup_fd) == -1) {
		if (errno != EBUSY || !waiting_start_add(m, text, len,
		    r.owner.uid, launch_on_run))
			pending_refuse(m, PENDING_RUN, STEP_CGROUP);
	} else {
		send_events(m, &r, cgroup_fd);
		pending_begin(m, &(struct pending_order){ .kind = PENDING_RUN,
		    .owner = &r.owner, .fn = session_first, .arg = &r,
		    .keep_fds = { m->fd, -1 }, .cgroup_fd = cgroup_fd });
	}
	if (cgroup_fd != -1)
		close(cgroup_fd);
	/* the next child is another owner's: no variables are left for it */
	explicit_bzero(text, len);
	explicit_bzero(&r, sizeof(r));
	return 0;
}

static void
attach(const struct msg *m, const struct attach_spec *a)
{
	const struct cgroup_leaf leaf = leaf_of(m, a->owner.uid, LEAF_SESSION);
	int cgroup_fd = cgroup_open(&leaf);

	/* it would be a session's process that no session is said to have */
	if (cgroup_fd == -1 && settings.cgroup[0] != '\0') {
		pending_refuse(m, PENDING_ATTACH, STEP_CGROUP);
		return;
	}
	pending_begin(m, &(struct pending_order){ .kind = PENDING_ATTACH,
	    .owner = &a->owner, .fn = attach_first, .arg = a,
	    .keep_fds = { m->fd, -1 }, .cgroup_fd = cgroup_fd });
	if (cgroup_fd != -1)
		close(cgroup_fd);
}

int
launch_on_attach(struct msg *m)
{
	void *text = (void *)(uintptr_t)m->next;
	size_t len = m->left;
	struct attach_spec a;
	int i;

	owner_get(m, &a.owner);
	a.pid = msg_get_u32(m);
	a.flags = msg_get_u32(m);
	a.argv = msg_get_strings(m, &a.argv_len);
	a.envp = msg_get_strings(m, &a.envp_len);
	a.processes = msg_get_u64(m);
	for (i = 0; i < LIMIT_COUNT; i++)
		a.limits[i] = msg_get_u64(m);
	if (msg_end(m) == -1 || a.argv_len == 0)
		return -1;
	if (owner_allowed(&a.owner))
		attach(m, &a);
	else
		pending_refuse(m, PENDING_ATTACH, STEP_IDS);
	/* as above: an adapter gets the session's variables, too */
	explicit_bzero(text, len);
	return 0;
}

static int
on_job(struct msg *m, owner_fn fn)
{
	struct job_spec j;

	job_get(m, &j);
	if (msg_end(m) == -1)
		return -1;
	if (!owner_allowed(&j.owner))
		pending_refuse(m, PENDING_JOB, STEP_IDS);
	else
		pending_begin(m, &(struct pending_order){ .kind = PENDING_JOB,
		    .owner = &j.owner, .fn = fn, .arg = &j,
		    .keep_fds = { m->fd, archiver_fd }, .cgroup_fd = -1 });
	return 0;
}

int
launch_on_unpack(struct msg *m)
{
	return on_job(m, archiver_unpack);
}

int
launch_on_pack(struct msg *m)
{
	return on_job(m, archiver_pack);
}

int
launch_on_send_signal(struct msg *m)
{
	static const int to_stub[] = { [SIGNAL_TREE_TERM] = SIGTERM,
	    [SIGNAL_TREE_KILL] = SIGUSR1, [SIGNAL_TREE_HUP] = SIGHUP };
	uint32_t sig = msg_get_u32(m), whom = msg_get_u32(m), error = 0;
	struct cgroup_leaf leaf = leaf_of(m, msg_get_u32(m), LEAF_SESSION);
	struct msg_out *o;

	if (msg_end(m) == -1 || sig >= NSIG || whom >= SIGNAL_TARGETS)
		return -1;
	if (whom != SIGNAL_ONE)
		sig = (uint32_t)to_stub[whom];
	if (syscall(SYS_pidfd_send_signal, m->fd, sig, NULL, 0) == -1)
		error = (uint32_t)errno;
	/* a program without a pid namespace may have ended its stub first */
	if (whom == SIGNAL_TREE_KILL && (error == ESRCH || find_ended(m->fd)))
		cgroup_sweep(&leaf);
	o = msg_new(MSG_SIGNAL_SENT, &m->hdr.session, m->hdr.conn,
	    m->hdr.request);
	msg_put_u32(o, error);
	(void)chan_send(&spawner_chan, o, -1);
	return 0;
}

/* Finds the program that a debugger names, for its owner to signal. */
int
launch_on_find(struct msg *m)
{
	pid_t pid = (pid_t)msg_get_u32(m), inner = 0;
	struct cgroup_leaf leaf = leaf_of(m, msg_get_u32(m), LEAF_SESSION);
	uint32_t any = msg_get_u32(m);
	struct msg_out *o;
	int fd = -1, proc_fd;

	if (msg_end(m) == -1 || pid <= 0 || any > 1 ||
	    (any && role_mode != MODE_USER))
		return -1;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd != -1) {
		fd = find_process(proc_fd, pid, any ? NULL : &leaf, m->fd,
		    &inner);
		close(proc_fd);
	}
	o = msg_new(fd == -1 ? MSG_NOT_FOUND : MSG_FOUND, &m->hdr.session, 0,
	    m->hdr.request);
	if (fd != -1)
		msg_put_u32(o, (uint32_t)inner);
	(void)chan_send(&spawner_chan, o, fd);
	return 0;
}

/*
 * The last reference to an image of a gigabyte or to a bundle of 40,000
 * files takes long to go.  A process of its own holds it until it is the
 * only one, and goes with it.
 */
static void
let_go(struct msg *m)
{
	int wait[2], pidfd = -1;
	pid_t pid;
	char c;

	if (m->fd == -1 || pipe2(wait, O_CLOEXEC) == -1)
		return;
	pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		close(wait[1]);
		_exit(read_again(wait[0], &c, 1) == 0 ? 0 : 1);
	}
	close(msg_take_fd(m));
	close(wait[0]);
	close(wait[1]);
	if (pidfd != -1)
		close(pidfd);
}

int
launch_on_sweep(struct msg *m)
{
	struct cgroup_leaf leaf = leaf_of(m, msg_get_u32(m), LEAF_SESSION);
	uint32_t of = msg_get_u32(m);

	if (msg_end(m) == -1 || of >= LEAF_COUNT)
		return -1;
	leaf.of = of;
	let_go(m);
	cgroup_sweep(&leaf);
	return 0;
}

int
launch_on_user_limits(struct msg *m)
{
	uint32_t uid = msg_get_u32(m);
	struct cgroup_limits l;

	l.memory = msg_get_u64(m);
	l.pids = msg_get_u64(m);
	if (msg_end(m) == -1)
		return -1;
	if (!cgroup_limit_user(uid, &l))
		log_warn("the limits of uid %u's sessions", uid);
	return 0;
}

int
launch_on_user_use(struct msg *m)
{
	static struct cgroup_use use[USERS_MAX];
	uint32_t uid = msg_get_u32(m);
	struct msg_out *o;
	size_t i, n;

	if (msg_end(m) == -1)
		return -1;
	n = cgroup_users(uid, use, USERS_MAX);
	o = msg_new(MSG_USER_USED, NULL, m->hdr.conn, m->hdr.request);
	msg_put_u32(o, (uint32_t)n);
	for (i = 0; i < n; i++) {
		msg_put_u32(o, use[i].uid);
		msg_put_u64(o, use[i].memory);
		msg_put_u64(o, use[i].pids);
	}
	(void)chan_send(&spawner_chan, o, -1);
	return 0;
}

int
launch_on_probe(struct msg *m)
{
	struct msg_out *o = msg_new(MSG_PROBED, &m->hdr.session, m->hdr.conn,
	    m->hdr.request);

	probe_put(o);
	(void)chan_send(&spawner_chan, o, -1);
	return msg_end(m);
}

int
launch_on_sample(struct msg *m)
{
	struct usage u = { USAGE_UNKNOWN, USAGE_UNKNOWN };
	struct cgroup_leaf leaf = leaf_of(m, msg_get_u32(m), LEAF_SESSION);
	int leaf_fd = cgroup_open(&leaf);
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = leaf_fd == -1 ? find_pid(proc_fd, m->fd) : 0;
	struct msg_out *o;

	if (leaf_fd != -1) {
		usage_of_leaf(leaf_fd, proc_fd, &u);
		close(leaf_fd);
	} else if (pid > 0)
		usage_of_tree(pid, proc_fd, &u);
	if (proc_fd != -1)
		close(proc_fd);
	o = msg_new(MSG_SAMPLED, &m->hdr.session, 0, m->hdr.request);
	msg_put_u64(o, u.cpu_ns);
	msg_put_u64(o, u.memory);
	(void)chan_send(&spawner_chan, o, -1);
	return msg_end(m);
}

static const enum leaf_of instrument_leaves[ROLE_END] = {
	[ROLE_DEBUGGER] = LEAF_DEBUGGER,
	[ROLE_TRACER] = LEAF_TRACER,
	[ROLE_SYMBOLS] = LEAF_TRACER,
};

static bool
is_instrument(uint32_t role)
{
	return role >= ROLE_INSTRUMENT && role < ROLE_INSTRUMENT_END;
}

/*
 * Where no cgroup counts, the kernel counts the owner's processes when the ids
 * change and again at exec, which fails then: this process is the last that the
 * owner may have.
 */
static void
begin_instrument(const struct msg *m, const struct instrument_spec *i,
    uint64_t processes, int cgroup_fd)
{
	if (processes != LIMIT_UNLIMITED && processes > 0)
		processes--;
	pending_begin(m, &(struct pending_order){ .kind = PENDING_INSTRUMENT,
	    .owner = &i->owner, .processes = &processes,
	    .fn = instrument_first, .arg = i,
	    .keep_fds = { -1, instrument_fds[i->role] },
	    .cgroup_fd = cgroup_fd });
}

int
launch_on_instrument(struct msg *m)
{
	const struct cgroup_limits own = { LIMIT_UNLIMITED, LIMIT_UNLIMITED };
	struct instrument_spec i;
	struct cgroup_limits user;
	struct cgroup_leaf leaf;
	const uint8_t *payload = m->next;
	size_t len = m->left;
	int cgroup_fd = -1;

	owner_get(m, &i.owner);
	i.role = msg_get_u32(m);
	user.memory = msg_get_u64(m);
	user.pids = msg_get_u64(m);
	if (msg_end(m) == -1 || !is_instrument(i.role))
		return -1;
	leaf = leaf_of(m, i.owner.uid, instrument_leaves[i.role]);
	if (!owner_allowed(&i.owner))
		pending_refuse(m, PENDING_INSTRUMENT, STEP_IDS);
	else if (cgroup_make(&leaf, &user, &own, &cgroup_fd) == -1) {
		if (errno != EBUSY || !waiting_start_add(m, payload, len,
		    i.owner.uid, launch_on_instrument))
			pending_refuse(m, PENDING_INSTRUMENT, STEP_CGROUP);
	} else
		begin_instrument(m, &i, user.pids, cgroup_fd);
	if (cgroup_fd != -1)
		close(cgroup_fd);
	return 0;
}

int
launch_on_instrument_file(struct msg *m)
{
	uint32_t role = msg_get_u32(m);

	if (msg_end(m) == -1 || !is_instrument(role))
		return -1;
	if (instrument_fds[role] != -1)
		close(instrument_fds[role]);
	instrument_fds[role] = msg_take_fd(m);
	return 0;
}

int
launch_on_archiver(struct msg *m)
{
	if (archiver_fd != -1)
		close(archiver_fd);
	archiver_fd = msg_take_fd(m);
	return msg_end(m);
}

static void __attribute__((noreturn))
chained(int fd)
{
	/* tells it that the filter is on already: they would pile up */
	char *argv[] = { (char *)(uintptr_t)role_name(ROLE_LAUNCHER),
	    (char *)(uintptr_t)"chained", NULL };
	char *envp[] = { NULL };

	if (dup2(fd, CHANNEL_FD) == -1 || (role_mode == MODE_SYSTEM &&
	    caps_ambient(LAUNCHER_CAPS) == -1))
		_exit(126);
	(void)execveat(self_fd, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

/* A new launcher, as the parent's child. */
int
launch_on_chain(struct msg *m)
{
	int pidfd = -1;
	pid_t pid = child_clone(CLONE_PARENT, -1, &pidfd);

	if (pid == 0)
		chained(m->fd);
	/* the parent asks again: no answer is an answer */
	if (pid == -1)
		log_warn("cannot start a launcher");
	else
		(void)chan_send(&parent_chan,
		    msg_new(MSG_CHAINED, NULL, 0, m->hdr.request), pidfd);
	return msg_end(m);
}

static void
spawner_gone(struct channel *c, const char *why)
{
	pending_drop_all();
	role_peer_gone(c, why);
}

static void
on_peer(enum role peer, int fd, uint32_t gen)
{
	if (peer != ROLE_SPAWNER) {
		close(fd);
		return;
	}
	pending_drop_all();
	chan_close(&spawner_chan);
	if (chan_open(&spawner_chan, fd, gen) == -1)
		role_peer_gone(&spawner_chan, NULL);
}

static void
prepare(void)
{
	loader_probe();
	self_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (self_fd == -1)
		role_cannot("open its own binary", "/proc must be mounted");
	filters_compile();
	chan_init(&spawner_chan, ROLE_LAUNCHER, ROLE_SPAWNER, spawner_gone,
	    NULL);
}

static void
confine(void)
{
	uint64_t keep = child_root_caps();
	uid_t uid;
	gid_t gid;

	if (role_mode == MODE_SYSTEM) {
		role_service_ids(&uid, &gid);
		keep = LAUNCHER_CAPS;
		if (confine_ids(uid, gid) == -1)
			role_cannot("become its service user",
			    "start debuglanternd as root");
	}
	if (caps_set(keep, keep) == -1)
		role_cannot("drop its capabilities",
		    "this must always work: report it");
}

static void
start(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	facts_read();
	userns_errno = probe_userns();
	proc_errno = probe_proc();
	errno = userns_errno;
	if (userns_errno != 0 && settings.sandbox != SANDBOX_NONE)
		role_cannot("make a user namespace for sessions",
		    "allow them (user.max_user_namespaces, kernel."
		    "unprivileged_userns_clone, AppArmor), or set "
		    "sandbox none");
	/* nobody waits for children here: pidfds tell of them elsewhere */
	(void)sigaction(SIGCHLD, &sa, NULL);
}

static void
shut_down(void)
{
	if (settings.cgroup[0] != '\0')
		cgroup_sweep_all();
	_exit(0);
}

int
main(int argc, char **argv)
{
	static struct role_desc desc = {
		.self = ROLE_LAUNCHER,
		.prepare = prepare,
		.confine = confine,
		.keep_root = true,
		.fsize = -1,
		.nproc = -1,
		.core = true,
		.filter = &launcher_filter,
		.start = start,
		.peer = on_peer,
		.shutdown = shut_down,
	};

	(void)argv;
	if (argc > 1)
		desc.filter = NULL;
	role_main(&desc);
}
