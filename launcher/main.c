/* SPDX-License-Identifier: ISC */
/*
 * launcher: acts for the spawner.  It starts, signals and attaches on the
 * spawner's word, as owners that it checks itself, and decides nothing.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "cgroup.h"
#include "confine/caps.h"
#include "confine/sessfilter.h"
#include "launcher.h"
#include "launcher/base/child.h"
#include "launcher/base/ended.h"
#include "launcher/base/facts.h"
#include "launcher/base/filters.h"
#include "launcher/owner/archive_start.h"
#include "launcher/owner/attach.h"
#include "launcher/owner/instrument.h"
#include "launcher/owner/session.h"
#include "observe.h"
#include "pending_start.h"
#include "waiting_start.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* All that it has, and only inside the fence, where there is no root. */
#define LAUNCHER_CAPS	(CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) |	\
			 CAP_BIT(CAP_KILL))
#define CHANNEL_FD	3

/* The archiver's binary, and those of instruments, -1 until they are sent. */
static int	 archiver_fd = -1;
static int	 instrument_fds[ROLE_END] = { [0 ... ROLE_END - 1] = -1 };
static int	 self_fd = -1;		/* this binary, for CHAIN */

/* May this launcher make a process for that owner?  False with errno. */
static bool
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

/* By it the spawner sees why the kernel has killed a program. */
static void
send_events(const struct msg *m, const struct run_spec *r, int cgroup_fd)
{
	struct msg_out *o;
	int fd;

	if (r == NULL || cgroup_fd == -1 ||
	    !(settings.controllers & CONTROLLER_MEMORY) ||
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

/* In its cgroup; order, as it came, is given again when that is not free yet. */
static void
begin_in(const struct cgroup_leaf *leaf, const struct cgroup_limits limits[2],
    const struct msg *order, struct pending_order *o, const struct run_spec *r)
{
	if (cgroup_make(leaf, &limits[0], &limits[1], &o->cgroup_fd) == 0) {
		send_events(order, r, o->cgroup_fd);
		pending_begin(order, o);
	} else if (errno != EBUSY || !waiting_start_add(order, leaf->uid))
		pending_refuse(order, o->kind, STEP_CGROUP);
	if (o->cgroup_fd != -1)
		close(o->cgroup_fd);
}

int
launch_on_run(struct msg *m)
{
	static struct run_spec r;
	const struct msg order = *m;
	struct pending_order o = { .kind = PENDING_RUN, .owner = &r.owner,
	    .fn = session_first, .arg = &r, .keep_fds = { m->fd, -1 } };

	run_get(m, &r);
	if (msg_end(m) == -1)
		return -1;
	if (!run_allowed(m, &r))
		pending_refuse(m, PENDING_RUN, STEP_IDS);
	else
		begin_in(&(struct cgroup_leaf){ r.owner.uid, m->hdr.session,
		    LEAF_SESSION }, (const struct cgroup_limits[]){
		    { r.user_memory, r.user_processes },
		    { r.memory, r.pids } }, &order, &o, &r);
	/* the next child is another owner's: no variables are left for it */
	explicit_bzero((void *)(uintptr_t)order.next, order.left);
	explicit_bzero(&r, sizeof(r));
	return 0;
}

static void
attach(const struct msg *m, const struct attach_spec *a)
{
	const struct cgroup_leaf leaf = { a->owner.uid, m->hdr.session,
	    LEAF_SESSION };
	int cgroup_fd = leaf_open(&leaf);

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

int
launch_on_job(struct msg *m)
{
	const owner_fn fn = m->hdr.type == MSG_UNPACK ? archiver_unpack :
	    archiver_pack;
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
launch_on_send_signal(struct msg *m)
{
	static const int to_stub[] = { [SIGNAL_TREE_TERM] = SIGTERM,
	    [SIGNAL_TREE_KILL] = SIGUSR1, [SIGNAL_TREE_HUP] = SIGHUP };
	uint32_t sig = msg_get_u32(m), whom = msg_get_u32(m), error = 0;
	struct cgroup_leaf leaf = { msg_get_u32(m), m->hdr.session,
	    LEAF_SESSION };
	struct msg_out *o;

	if (msg_end(m) == -1 || sig >= NSIG || whom >= SIGNAL_TARGETS)
		return -1;
	if (whom != SIGNAL_ONE)
		sig = (uint32_t)to_stub[whom];
	if (syscall(SYS_pidfd_send_signal, m->fd, sig, NULL, 0) == -1)
		error = (uint32_t)errno;
	/* a program without a pid namespace may have ended its stub first */
	if (whom == SIGNAL_TREE_KILL && (error == ESRCH || has_ended(m->fd)))
		cgroup_sweep(&leaf);
	o = msg_new(MSG_SIGNAL_SENT, &m->hdr.session, m->hdr.conn,
	    m->hdr.request);
	msg_put_u32(o, error);
	(void)chan_send(&spawner_chan, o, -1);
	return 0;
}

/* Questions that no right is needed for. */
int
launch_on_question(struct msg *m)
{
	observe_ask(m);
	return 0;
}

/* Finds the program that a debugger names, for its owner to signal. */
int
launch_on_find(struct msg *m)
{
	struct msg fields = *m;
	uint32_t pid = msg_get_u32(&fields), any;

	(void)msg_get_u32(&fields);
	any = msg_get_u32(&fields);
	if (msg_end(&fields) == -1 || pid == 0 || pid > INT32_MAX || any > 1 ||
	    (any == 1 && role_mode != MODE_USER))
		return -1;
	return launch_on_question(m);
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
	struct cgroup_leaf leaf = { msg_get_u32(m), m->hdr.session,
	    LEAF_SESSION };
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

int
launch_on_instrument(struct msg *m)
{
	struct cgroup_limits limits[2] = { [1] = { LIMIT_UNLIMITED,
	    LIMIT_UNLIMITED } };
	const struct msg order = *m;
	struct instrument_spec i;
	uint64_t processes;
	struct pending_order o = { .kind = PENDING_INSTRUMENT,
	    .owner = &i.owner, .processes = &processes,
	    .fn = instrument_first, .arg = &i };

	owner_get(m, &i.owner);
	i.role = msg_get_u32(m);
	limits[0].memory = msg_get_u64(m);
	limits[0].pids = processes = msg_get_u64(m);
	if (msg_end(m) == -1 || !is_instrument(i.role))
		return -1;
	/*
	 * Where no cgroup counts, the kernel counts the owner's processes when
	 * the ids change and again at exec, which fails then: this process is
	 * the last that the owner may have.
	 */
	if (processes != LIMIT_UNLIMITED && processes > 0)
		processes--;
	o.keep_fds[0] = -1;
	o.keep_fds[1] = instrument_fds[i.role];
	if (!owner_allowed(&i.owner))
		pending_refuse(m, PENDING_INSTRUMENT, STEP_IDS);
	else
		begin_in(&(struct cgroup_leaf){ i.owner.uid, m->hdr.session,
		    instrument_leaves[i.role] }, limits, &order, &o, NULL);
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

	if (!observe_start())
		role_cannot("start its observer",
		    "it needs a process, and a socket pair");
	errno = facts.userns_errno;
	if (errno != 0 && settings.sandbox != SANDBOX_NONE)
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
		.settings = observe_settings,
		.shutdown = shut_down,
	};

	(void)argv;
	if (argc > 1)
		desc.filter = NULL;
	role_main(&desc);
}
