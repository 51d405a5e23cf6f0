/* SPDX-License-Identifier: ISC */
/*
 * START: policy, the owner's account, the order to the launcher, and its
 * answer.  A session whose start fails is as it was before.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "exit.h"
#include "expiry.h"
#include "output.h"
#include "run_hooks.h"
#include "runspec.h"
#include "spawner/link/peers.h"
#include "spawner/policy/quota.h"
#include "spawner/session/push.h"
#include "start.h"
#include "tty.h"
#include "warn.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define START_MS	30000

static const char *const sandbox_names[SANDBOX_COUNT] = {
	[SANDBOX_NONE] = "none",
	[SANDBOX_NAMESPACES] = "namespaces",
	[SANDBOX_TMPFS] = "tmpfs",
};

/* Has a debugger ordered it?  A tracer orders a program like others. */
static bool
is_adapter(const struct session *s)
{
	return s->start.order != NULL && !s->start.order->traced;
}

static void
start_reset(struct session *s)
{
	size_t i;

	loop_timer_unset(&s->start.timer);
	/* the stub of a start that is given up sees its status pipe go */
	for (i = 0; i < RUN_FD_COUNT; i++)
		fd_close(&s->start.fds[i]);
	ring_close(&s->start.ring);
	tty_free(s->start.tty);
	s->start.tty = NULL;
	free(s->start.order);
	s->start.order = NULL;
	s->start.serial = 0;
	s->start.asker.owner = NULL;
}

void
start_fail(struct session *s, enum err code, const char *message)
{
	struct asker a = s->start.asker;
	bool ordered = s->start.order != NULL, adapter = is_adapter(s);

	session_set_state(s, s->start.before);
	start_reset(s);
	if (ordered)
		run_hooks->failed(s, adapter, code, message);
	answer(&a, &s->id, code, message == NULL ? NULL : "%s", message);
}

static void
on_timeout(void *arg)
{
	start_fail(arg, ERR_FORK_FAILED,
	    "the program was not started within 30 seconds");
}

void
start_launcher_lost(void)
{
	struct session *s;

	SESSION_FOREACH(s)
		if (s->start.serial != 0)
			start_fail(s, ERR_TRY_AGAIN, NULL);
}

static struct session *
find_start(const struct sid *id, uint64_t serial)
{
	struct session *s = session_find(id);

	return s != NULL && serial != 0 && s->start.serial == serial ?
	    s : NULL;
}

bool
start_allowed(struct asker *a, const struct session *s, uint32_t *sandbox,
    uint32_t *network)
{
	const struct sid *id = s == NULL ? NULL : &s->id;

	if (*sandbox == SANDBOX_DEFAULT)
		*sandbox = (uint32_t)settings.sandbox;
	if (*network == NETWORK_DEFAULT)
		*network = (uint32_t)settings.network;
	if (!(settings.allow_sandbox & (1U << *sandbox))) {
		answer(a, id, ERR_NOT_PERMITTED, "the configuration does "
		    "not allow sandbox %s (allow-sandbox)",
		    sandbox_names[*sandbox]);
		return false;
	}
	/* the stricter one is the greater */
	if (*network < settings.network) {
		answer(a, id, ERR_NOT_PERMITTED, "the configuration does "
		    "not allow the host's network (network none)");
		return false;
	}
	if (*network == NETWORK_NONE && *sandbox == SANDBOX_NONE) {
		answer(a, id, ERR_NOT_PERMITTED, "network none needs "
		    "sandbox namespaces or tmpfs");
		return false;
	}
	return true;
}

static uint64_t
ring_size(const struct session *s)
{
	if (s->start.tty != NULL)
		return settings.pty_scrollback;
	return is_adapter(s) ? settings.debugger_output_bytes :
	    settings.output_buffer;
}

static void
order(struct session *s, const struct account *acc)
{
	struct run_spec spec;
	struct msg_out *o;
	int fd;

	quota_tell(s->owner);
	runspec_fill(&spec, s, acc);
	memcpy(s->start.limits, spec.limits, sizeof(s->start.limits));
	o = msg_new(MSG_RUN, &s->id, 0, s->start.serial);
	run_put(o, &spec);
	fd = s->view.command ? -1 : fd_copy(s->image_fd);
	if (fd == -1 && !s->view.command)
		start_fail(s, ERR_FORK_FAILED,
		    "the spawner has no file descriptor left");
	else if (chan_send(&launcher_chan, o, fd) == -1)
		start_fail(s, ERR_TRY_AGAIN, NULL);
	/*
	 * A ring of its own: should the start fail, the last output stays.
	 * The launcher is at work by now; without a ring its fds are refused.
	 */
	else if (ring_create(&s->start.ring, ring_size(s)) == -1)
		start_fail(s, ERR_FORK_FAILED,
		    "no memory for the program's output");
	session_tell_alive();
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct session *s;
	char text[160];

	/* by number: the session may have been deleted meanwhile */
	SESSION_FOREACH(s)
		if (s->start.serial == serial)
			break;
	if (s == NULL)
		return;
	if (acc != NULL) {
		order(s, acc);
		return;
	}
	if (account_unasked()) {
		start_fail(s, ERR_TRY_AGAIN, NULL);
		return;
	}
	(void)snprintf(text, sizeof(text), "the account of %s (uid %u) could "
	    "not be read; it must exist on this host", s->owner->name,
	    s->owner->uid);
	start_fail(s, ERR_FORK_FAILED, account_fault(s->owner, text));
}

static bool
is_on_tty(const struct session *s)
{
	return s->on_tty || (s->start.flags & START_TTY) != 0;
}

/* The size asked for, else the one before, else what terminals have. */
static uint32_t
size_of(uint32_t asked, uint32_t before, uint32_t usual)
{
	return tty_clamp(asked == 0 ? before : asked, usual);
}

static bool
streams_allowed(struct asker *a, struct session *s)
{
	if (!is_on_tty(s) || !(s->start.flags & START_SPLIT))
		return true;
	answer(a, &s->id, ERR_INVALID_ARGUMENT, "a terminal has one stream; "
	    "give --split only to sessions without one");
	return false;
}

static void
order_refused(struct session *s, enum err code)
{
	bool adapter = is_adapter(s);

	free(s->start.order);
	s->start.order = NULL;
	run_hooks->failed(s, adapter, code, NULL);
}

static void
start_begin(struct session *s, struct asker *a)
{
	struct start *st = &s->start;

	if (is_on_tty(s) && (st->tty = tty_new(s)) == NULL) {
		answer(a, &s->id, ERR_INTERNAL, "out of memory");
		if (st->order != NULL)
			order_refused(s, ERR_INTERNAL);
		return;
	}
	st->asker = *a;
	st->serial = next_serial();
	st->before = s->state;
	session_set_state(s, STATE_STARTING);
	loop_timer_set(&st->timer, START_MS, on_timeout, s);
	if (account_want(s->owner, on_account, st->serial) == -1)
		start_fail(s, ERR_TRY_AGAIN, NULL);
}

int
spawn_on_start(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t flags = msg_get_u32(m);
	uint32_t sandbox = msg_get_u32(m), network = msg_get_u32(m);
	uint32_t cols = msg_get_u32(m), rows = msg_get_u32(m);
	struct asker a;

	if (msg_end(m) == -1 || sandbox > SANDBOX_DEFAULT ||
	    network > NETWORK_DEFAULT || !asker_init(&a, m, "START"))
		return -1;
	if (flags & ~(uint32_t)(START_DEBUG | START_SPLIT | START_DEBUG_PIPE |
	    START_TTY))
		return -1;
	if (shutting_down || !chan_is_open(&launcher_chan)) {
		answer(&a, &s->id, ERR_TRY_AGAIN, NULL);
		return 0;
	}
	if (!start_allowed(&a, s, &sandbox, &network) ||
	    (flags & START_DEBUG && run_hooks->in_way(s, &a)))
		return 0;
	s->start.flags = flags;
	s->start.sandbox = sandbox;
	s->start.network = network;
	s->start.cols = size_of(cols, s->view.cols, TTY_COLS);
	s->start.rows = size_of(rows, s->view.rows, TTY_ROWS);
	if (streams_allowed(&a, s))
		start_begin(s, &a);
	return 0;
}

void
start_ordered(struct session *s, const struct adapter_order *a,
    uint32_t sandbox, uint32_t network, bool host)
{
	struct adapter_order *own = malloc(sizeof(*own) + a->argv_len +
	    a->envp_len);
	struct asker nobody;
	char *text;

	if (own == NULL) {
		run_hooks->failed(s, !a->traced, ERR_INTERNAL, "out of memory");
		return;
	}
	*own = *a;
	text = (char *)(own + 1);
	memcpy(text, a->argv, a->argv_len);
	memcpy(text + a->argv_len, a->envp, a->envp_len);
	own->argv = text;
	own->envp = text + a->argv_len;
	memset(&nobody, 0, sizeof(nobody));
	s->start.order = own;
	/* the configuration may be another than when it was made */
	if (!host && !start_allowed(&nobody, s, &sandbox, &network)) {
		order_refused(s, ERR_NOT_PERMITTED);
		return;
	}
	s->start.sandbox = sandbox;
	s->start.network = network;
	s->start.cols = size_of(0, s->view.cols, TTY_COLS);
	s->start.rows = size_of(0, s->view.rows, TTY_ROWS);
	start_begin(s, &nobody);
}

/* Kind and mode that each fd of a run must have. */
struct wanted {
	enum msg_fd	 kind;		/* FD_NONE = there may be none */
	int		 mode;		/* of open(); -1 = any */
};
static const struct wanted run_fds[RUN_FD_COUNT] = {
	[RUN_FD_STDIN]	= { FD_PIPE, O_WRONLY },
	[RUN_FD_STDOUT]	= { FD_PIPE, O_RDONLY },
	[RUN_FD_STDERR]	= { FD_PIPE, O_RDONLY },
	[RUN_FD_STATUS]	= { FD_PIPE, O_RDONLY },
	[RUN_FD_STUB]	= { FD_PIDFD, -1 },
	[RUN_FD_TARGET]	= { FD_PIDFD, -1 },
	[RUN_FD_EVENTS]	= { FD_FILE, -1 },
	[RUN_FD_ADAPTER_IN] = { FD_PIPE, O_WRONLY },
	[RUN_FD_ADAPTER_OUT] = { FD_PIPE, O_RDONLY },
	[RUN_FD_ADAPTER_ERR] = { FD_PIPE, O_RDONLY },
};
/* The same where standard input, output and errors are one terminal. */
static const struct wanted tty_fds[RUN_FD_COUNT] = {
	[RUN_FD_STDOUT]	= { FD_PTY, O_RDWR },
	[RUN_FD_STATUS]	= { FD_PIPE, O_RDONLY },
	[RUN_FD_STUB]	= { FD_PIDFD, -1 },
	[RUN_FD_TARGET]	= { FD_PIDFD, -1 },
	[RUN_FD_EVENTS]	= { FD_FILE, -1 },
	[RUN_FD_ADAPTER_IN] = { FD_PIPE, O_WRONLY },
	[RUN_FD_ADAPTER_OUT] = { FD_PIPE, O_RDONLY },
	[RUN_FD_ADAPTER_ERR] = { FD_PIPE, O_RDONLY },
};

static bool
good_run_fd(const struct wanted *want, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || want->kind == FD_NONE ||
	    fdkind_check(want->kind, fd) != NULL)
		return false;
	if (want->mode == -1)
		return true;
	return (flags & O_ACCMODE) == want->mode &&
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

int
spawn_on_run_fd(struct msg *m)
{
	struct session *s = find_start(&m->hdr.session, m->hdr.request);
	uint32_t kind = msg_get_u32(m);

	if (msg_end(m) == -1 || kind >= RUN_FD_COUNT)
		return -1;
	/* a start that was given up: closing its fds ends what was begun */
	if (s == NULL)
		return 0;
	if (!good_run_fd(s->start.tty != NULL ? &tty_fds[kind] :
	    &run_fds[kind], m->fd) || s->start.fds[kind] != -1)
		return -1;
	s->start.fds[kind] = msg_take_fd(m);
	return 0;
}

static bool
has_all_fds(const struct session *s)
{
	const struct wanted *want = s->start.tty != NULL ? tty_fds : run_fds;
	bool split = (s->start.flags & START_SPLIT) != 0;
	bool adapter = is_adapter(s);
	size_t i;

	for (i = 0; i < RUN_FD_ADAPTER_IN; i++)
		if (s->start.fds[i] == -1 && i != RUN_FD_STDERR &&
		    i != RUN_FD_EVENTS && want[i].kind != FD_NONE)
			return false;
	for (; i < RUN_FD_COUNT; i++)
		if ((s->start.fds[i] != -1) != adapter)
			return false;
	/* a second pipe that nobody asked for would be read by nobody */
	return (s->start.fds[RUN_FD_STDERR] != -1) == split;
}

static int
take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static int64_t
wall_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void
view_of_new_run(struct session *s, uint32_t pid)
{
	struct session_view *v = &s->view;

	/* of an adapter's program its debugger tells */
	v->pid = s->adapter ? 0 : (int32_t)pid;
	v->run++;
	v->split = (s->start.flags & START_SPLIT) != 0;
	v->tty = s->tty != NULL;
	v->cols = v->tty ? s->start.cols : 0;
	v->rows = v->tty ? s->start.rows : 0;
	v->sandbox = s->start.sandbox;
	v->network = s->start.network;
	memcpy(v->limits, s->start.limits, sizeof(v->limits));
	v->has_exit_code = false;
	v->out_of_memory = false;
	v->exit_code = v->signal = v->debug_port = 0;
	v->started_ns = wall_ns();
	v->exited_ns = 0;
	warn_fill(s);
}

/* -1 with errno: it is not watched, and ends.  Nothing has changed then. */
static int
watch(struct session *s)
{
	int *fds = s->start.fds;

	if ((s->start.tty != NULL ?
	    tty_watch(s, take(&fds[RUN_FD_STDOUT])) :
	    output_watch(s, take(&fds[RUN_FD_STDOUT]),
	    take(&fds[RUN_FD_STDERR]))) == -1)
		return -1;
	if (exit_watch(s, take(&fds[RUN_FD_STATUS]),
	    take(&fds[RUN_FD_STUB])) == 0)
		return 0;
	output_drop(s);
	return -1;
}

/* The new run takes the place of the last one.  Its ring is the caller's. */
static void
adopt(struct session *s, uint32_t pid, uint32_t inner_pid)
{
	int *fds = s->start.fds;

	s->ring = s->start.ring;
	s->start.ring = (struct ring)RING_INIT;
	tty_free(s->tty);
	s->tty = s->start.tty;
	s->start.tty = NULL;
	s->armed = false;
	flow_begin(s);
	s->inner_pid = inner_pid;
	s->sandbox = s->start.sandbox;
	s->adapter = is_adapter(s);
	s->elsewhere = false;
	s->stdin_fd = take(&fds[RUN_FD_STDIN]);
	s->target_fd = s->adapter ? -1 : take(&fds[RUN_FD_TARGET]);
	exit_watch_memory(s, take(&fds[RUN_FD_EVENTS]));
	view_of_new_run(s, pid);
	session_set_state(s, STATE_RUNNING);
	expiry_begin(s);
}

int
spawn_on_ran(struct msg *m)
{
	struct session *s = find_start(&m->hdr.session, m->hdr.request);
	uint32_t pid = msg_get_u32(m), inner_pid = msg_get_u32(m);
	uint32_t flags;
	struct asker a;
	struct ring last;

	if (msg_end(m) == -1 || pid == 0 || pid > INT32_MAX || inner_pid == 0)
		return -1;
	if (s == NULL)
		return 0;
	if (!has_all_fds(s))
		return -1;
	if (watch(s) == -1) {
		start_fail(s, ERR_FORK_FAILED, "the spawner cannot watch one "
		    "more program; see sysctl fs.epoll.max_user_watches");
		return 0;
	}
	a = s->start.asker;
	flags = s->start.flags;
	last = s->ring;
	/* under a debugger nobody watches the loader */
	if ((flags & START_DEBUG) == 0 && s->start.order == NULL)
		s->proven |= 1U << s->start.sandbox;
	adopt(s, pid, inner_pid);
	run_hooks->ran(s, pid, inner_pid, s->start.order != NULL);
	start_reset(s);
	push_session(s);
	if (s->tty != NULL)
		tty_started(s);
	if (flags & START_DEBUG)
		run_hooks->debug(s, &a, (flags & START_DEBUG_PIPE) != 0);
	else
		answer(&a, &s->id, ERR_OK, NULL);
	/* who waits for the answer needs no ring yet */
	push_ring(s);
	ring_close(&last);
	return 0;
}

/* exec's errors that need more words than their own. */
static const struct {
	int		 errnum;
	const char	*text;
} exec_errors[] = {
	{ ENOEXEC, "the kernel does not know this format or architecture; "
	    "32-bit programs need a kernel with CONFIG_IA32_EMULATION, not "
	    "booted with ia32_emulation=0" },
	{ ENOENT, "the program's interpreter (PT_INTERP) does not exist in "
	    "the sandbox; link it statically, upload it as a bundle, or "
	    "install the interpreter" },
	{ EACCES, "the program or its interpreter is not executable" },
	{ ELIBBAD, "the program's interpreter (PT_INTERP) is damaged or for "
	    "another architecture" },
	{ ELOOP, "the path of the program leads through a symbolic link" },
	{ EXDEV, "the path of the program leads out of the bundle" },
	{ E2BIG, "arguments and environment are too long" },
	{ ENOMEM, "there is not enough memory for it; limits as= and memory "
	    "may be too low" },
	{ EPERM, "the host forbids it; see sysctl vm.memfd_noexec" },
};

#define MANY_PROCESSES	"there are too many processes: stop some, or raise " \
			"limit pids, limit nproc or sysctl kernel.pid_max"
#define FORBIDDEN	"a security module forbids mounts in user namespaces; " \
			"with AppArmor load share/debuglantern/apparmor.d/" \
			"debuglantern, or sysctl kernel.apparmor_restrict_" \
			"unprivileged_userns=0"

/*
 * Other steps whose errno alone does not say what would help; the first that
 * fits counts.
 */
static const struct {
	uint32_t	 step;
	int		 errnum;	/* 0: any */
	const char	*remedy;
} remedies[] = {
	{ STEP_PENDING, 0, "try again when one of them is done" },
	{ STEP_PENDING_ALL, 0, "try again when one of them is done" },
	{ STEP_FORK, 0, MANY_PROCESSES },
	{ STEP_USERNS, EAGAIN, MANY_PROCESSES },
	{ STEP_NAMESPACES, EAGAIN, MANY_PROCESSES },
	{ STEP_PROC, EPERM, "parts of /proc are hidden on this host, as in a "
	    "container; DEPS says how to show them" },
	{ STEP_MOUNT, EACCES, FORBIDDEN },
	{ STEP_PROC, EACCES, FORBIDDEN },
	{ STEP_CGROUP, 0, "DEPS says whether a cgroup is delegated" },
	{ STEP_IDS, 0, "the user's uid and groups must be among those that the "
	    "daemon may use (min-uid, allow-group)" },
	{ STEP_USERNS, 0, "this host restricts user namespaces; DEPS says how "
	    "to allow them" },
	{ STEP_NAMESPACES, 0, "this host restricts namespaces; DEPS says how "
	    "to allow them" },
	{ STEP_TTY, 0, "the host must have /dev/ptmx and /dev/pts, and a "
	    "terminal to spare (sysctl kernel.pty.max)" },
	{ STEP_CWD, 0, "it must exist in the sandbox, and its owner must be "
	    "allowed to enter it" },
	{ STEP_COMMAND, 0, "it must be in the session's PATH, or given by a path "
	    "that exists in the sandbox" },
	{ STEP_LIMITS, 0, "a limit is above that of the daemon itself" },
};

static void
run_failure(uint32_t step, uint32_t errnum, char *text, size_t size)
{
	const char *why = strerrordesc_np((int)errnum);
	const char *remedy = NULL;
	size_t i;

	if (step == STEP_EXEC || step == STEP_INTERP)
		for (i = 0; i < sizeof(exec_errors) / sizeof(*exec_errors); i++)
			if (exec_errors[i].errnum == (int)errnum) {
				(void)snprintf(text, size, "cannot execute the "
				    "program: %s", exec_errors[i].text);
				return;
			}
	for (i = 0; i < sizeof(remedies) / sizeof(*remedies); i++)
		if (remedy == NULL && remedies[i].step == step &&
		    (remedies[i].errnum == 0 ||
		    remedies[i].errnum == (int)errnum))
			remedy = remedies[i].remedy;
	(void)snprintf(text, size, "cannot %s: %s%s%s", step_text(step),
	    why == NULL ? "unknown error" : why, remedy == NULL ? "" : "; ",
	    remedy == NULL ? "" : remedy);
}

bool
start_used_up(const struct session *s, uint32_t step, uint32_t errnum,
    char *text, size_t size)
{
	struct quota q;

	quota_of(s->owner, &q);
	if (errnum != EAGAIN || q.most[QUOTA_PROCESSES] == LIMIT_UNLIMITED ||
	    (step != STEP_NAMESPACES && step != STEP_STUB &&
	    step != STEP_FORK && step != STEP_INSTRUMENT))
		return false;
	(void)snprintf(text, size, "your sessions have all %" PRIu64
	    " processes that you may have (%s processes); end one first",
	    q.most[QUOTA_PROCESSES], q.title);
	return true;
}

/* Puts the loader's last line, from what it left in its pipe, into text. */
static void
loader_said(const struct session *s, char *text, size_t size)
{
	int fd = s->start.fds[RUN_FD_STDERR] != -1 ?
	    s->start.fds[RUN_FD_STDERR] : s->start.fds[RUN_FD_STDOUT];
	char said[512], line[300];
	const char *last;
	ssize_t n;

	n = fd == -1 ? 0 : read_again(fd, said, sizeof(said) - 1);
	if (n <= 0)
		return;
	while (n > 0 && said[n - 1] == '\n')
		n--;
	said[n] = '\0';
	last = strrchr(said, '\n');
	last = last == NULL ? said : last + 1;
	(void)snprintf(text, size, "cannot load the program's libraries: %s",
	    log_escape(line, sizeof(line), last, strlen(last)));
}

int
spawn_on_run_failed(struct msg *m)
{
	struct session *s = find_start(&m->hdr.session, m->hdr.request);
	uint32_t step = msg_get_u32(m), errnum = msg_get_u32(m);
	bool exec = step == STEP_EXEC || step == STEP_INTERP ||
	    step == STEP_LOADER || step == STEP_COMMAND || step == STEP_CWD;
	char text[400];

	if (msg_end(m) == -1 || step == STEP_NONE || step >= STEP_COUNT ||
	    errnum > INT32_MAX)
		return -1;
	if (s == NULL)
		return 0;
	if (!start_used_up(s, step, errnum, text, sizeof(text)))
		run_failure(step, errnum, text, sizeof(text));
	if (step == STEP_LOADER)
		loader_said(s, text, sizeof(text));
	start_fail(s, step_code(step, exec ? ERR_EXEC_FAILED :
	    ERR_FORK_FAILED), text);
	return 0;
}
