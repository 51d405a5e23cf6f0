/* SPDX-License-Identifier: ISC */
/* From the first process to the program: owner, namespaces, exec. */
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "base/again.h"
#include "command.h"
#include "confine/confine.h"
#include "image.h"
#include "loader.h"
#include "mounts.h"
#include "session.h"
#include "steps.h"
#include "stub.h"
#include "tty.h"
#include "wire/role.h"

/* longer than the launcher waits for a start */
#define NETWORK_SECONDS	30
#define STUB_STACK	(128 * 1024)
#define TARGET_STACK	(64 * 1024)
/* every byte a string of its own, and the NULL */
#define ARGV_MAX	(ARGS_MAX_BYTES + 2)
#define ENVP_MAX	(ENV_MAX_COUNT + 64)

/* The program's ends of its pipes, the stub's, and what goes up. */
struct ends {
	int	in_fd, out_fd, err_fd, status_fd;
	int	adapter_fds[3];
	int	up_fds[RUN_FD_COUNT];
};

/* Makes a pipe; the end that is not the program's goes up as that kind. */
static int
make_pipe(struct ends *e, enum run_fd kind, bool read_up)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) == -1)
		child_die(STEP_PIPES);
	e->up_fds[kind] = read_up ? p[0] : p[1];
	return read_up ? p[1] : p[0];
}

static void
make_pipes(struct ends *e, const struct run_spec *r)
{
	int i;

	for (i = 0; i < RUN_FD_COUNT; i++)
		e->up_fds[i] = -1;
	e->status_fd = make_pipe(e, RUN_FD_STATUS, true);
	if (r->adapter) {
		e->adapter_fds[0] = make_pipe(e, RUN_FD_ADAPTER_IN, false);
		e->adapter_fds[1] = make_pipe(e, RUN_FD_ADAPTER_OUT, true);
		e->adapter_fds[2] = make_pipe(e, RUN_FD_ADAPTER_ERR, true);
	}
	if (r->tty)
		return;
	e->in_fd = make_pipe(e, RUN_FD_STDIN, false);
	e->out_fd = make_pipe(e, RUN_FD_STDOUT, true);
	e->err_fd = r->split ? make_pipe(e, RUN_FD_STDERR, true) : e->out_fd;
}

/* The same rule as the archiver's check; O_PATH does not wait for a FIFO. */
static int
open_in_bundle(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static void
exec_image(const struct run_spec *r, char **argv, char **envp)
{
	int fd = KEPT_FD;

	if (r->command || r->adapter)
		child_die(command_exec(argv, envp));
	if (r->bundle) {
		fd = open_in_bundle(r->exec_path);
		if (fd == -1)
			child_die(STEP_EXEC);
		/* by its name, so that ps and argv tell the same */
		(void)execve(r->exec_path, argv, envp);
	} else {
		/* the errno of the fd tells what is wrong with the image */
		if (image_path()[0] != '\0')
			(void)execve(image_path(), argv, envp);
		(void)execveat(fd, "", argv, envp, AT_EMPTY_PATH);
	}
	/* the file is there: what is missing is what it names */
	child_die(errno == ENOENT ? STEP_INTERP : STEP_EXEC);
}

static void
go_to_start(const struct run_spec *r)
{
	char dir[sizeof(settings.state_dir) + sizeof(BUNDLE_NAME) + 1];

	if (r->cwd[0] != '\0') {
		if (chdir(r->cwd) == -1)
			child_die(STEP_CWD);
	} else if (r->bundle) {
		(void)snprintf(dir, sizeof(dir), "%s/%s", settings.state_dir,
		    BUNDLE_NAME);
		if (chdir(dir) == -1)
			child_die(STEP_BUNDLE);
	} else if ((r->home[0] == '\0' || chdir(r->home) == -1) &&
	    chdir("/") == -1)
		child_die(STEP_MOUNT);
}

static void
mark_first_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, FIRST_STOP_MARK);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Arguments of stub() and target(), as clone() passes only one. */
struct start {
	const struct run_spec	*r;
	struct ends		 e;
	/* of the session's network namespace, 0 until it is made */
	_Atomic int		 net_fd;
	/* 1 when its loopback device is up, which takes a while longer */
	_Atomic int		 net_up;
};

/*
 * For what the first process makes meanwhile.  Should it fail, the launcher
 * ends this one too, if it has heard of it by then.
 */
static int
await(_Atomic int *value)
{
	const struct timespec most = { .tv_sec = NETWORK_SECONDS };

	while (*value == 0)
		if (syscall(SYS_futex, value, FUTEX_WAIT, 0, &most) == -1 &&
		    errno == ETIMEDOUT)
			child_die(STEP_NETWORK);
	return *value;
}

static void
tell(_Atomic int *value, int v)
{
	*value = v;
	(void)syscall(SYS_futex, value, FUTEX_WAKE, INT_MAX);
}

/* The program's streams are not an adapter's own: it passes them on. */
static void
take_fds(const struct run_spec *r, const struct ends *e)
{
	const int fds[] = { e->adapter_fds[0], e->adapter_fds[1],
	    e->adapter_fds[2], [ADAPTER_STDIN_FD] = e->in_fd,
	    [ADAPTER_STDOUT_FD] = e->out_fd, [ADAPTER_STDERR_FD] = e->err_fd,
	    [ADAPTER_IMAGE_FD] = r->command || r->bundle ? -1 : KEPT_FD };

	if (r->adapter) {
		child_last_fds(fds, sizeof(fds) / sizeof(fds[0]));
		return;
	}
	child_last(e->in_fd, e->out_fd, e->err_fd);
	if (r->tty)
		tty_control();
}

static int
target(void *arg)
{
	static char *argv[ARGV_MAX], *envp[ENVP_MAX];
	struct start *s = arg;
	const struct run_spec *r = s->r;
	const struct ends *e = &s->e;
	int self_fd;

	child_vector(argv, ARGV_MAX, r->argv, r->argv_len);
	child_vector(envp, ENVP_MAX, r->envp, r->envp_len);
	go_to_start(r);
	/* without a pid namespace it would outlive a stub that was killed */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		child_die(STEP_STUB);
	if ((r->debug || r->watch_loader) && ptrace(PTRACE_TRACEME, 0, 0, 0) == -1)
		child_die(STEP_TRACE);
	take_fds(r, e);
	child_limits(r->limits);
	if (r->debug)
		mark_first_stop();
	self_fd = pidfd_open(getpid(), 0);
	if (self_fd == -1)
		child_die(STEP_STUB);
	child_up_pid(RUN_FD_TARGET, self_fd);
	/* no program meets a network that is half made */
	if (r->network == NETWORK_NONE)
		(void)await(&s->net_up);
	exec_image(r, argv, envp);
	return 1;
}

/*
 * The program's process shares the stub's memory until it executes, which
 * saves a copy of it; one to be debugged is traced by the stub meanwhile, so
 * the stub must not be held up.
 */
static pid_t
fork_target(struct start *s)
{
	static _Alignas(16) char stack[TARGET_STACK];
	int flags = SIGCHLD;

	if (!s->r->debug && !s->r->watch_loader && !s->r->adapter)
		flags |= CLONE_VM | CLONE_VFORK;
	else if (s->r->network == NETWORK_NONE)
		/* a copy would not hear of it */
		(void)await(&s->net_up);
	return clone(target, stack + sizeof(stack), flags, s);
}

/*
 * The program traps at its first instruction.  Let go with a SIGSTOP it stays
 * there, in a stop that any debugger may take over.
 */
static void
stop_at_first(pid_t pid)
{
	siginfo_t si;

	for (;;) {
		if (waitid_again(P_PID, (id_t)pid, &si,
		    WSTOPPED | WEXITED | WNOWAIT) == -1)
			child_die(STEP_TRACE);
		/* it has told why itself, and the stub will reap it */
		if (si.si_code != CLD_TRAPPED && si.si_code != CLD_STOPPED)
			return;
		if (si.si_status == SIGTRAP)
			break;
		if (ptrace(PTRACE_CONT, pid, 0, si.si_status) == -1)
			child_die(STEP_TRACE);
	}
	if (ptrace(PTRACE_DETACH, pid, 0, SIGSTOP) == -1 ||
	    waitid_again(P_PID, (id_t)pid, &si,
	    WSTOPPED | WEXITED | WNOWAIT) == -1)
		child_die(STEP_TRACE);
}

static void
prepare_inside(struct start *s)
{
	const struct run_spec *r = s->r;

	if (r->sandbox == SANDBOX_NONE) {
		/* an adapter's program would begin after the link has gone */
		if (!r->adapter)
			image_link(r);
		if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
			child_die(STEP_STUB);
		return;
	}
	/*
	 * The first process leaves these to this one, as the network takes it
	 * longer than all that is done here.  A bundle brings its maps.
	 */
	if (!r->bundle)
		child_map_ids();
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) == -1)
		child_die(STEP_NAMESPACES);
	mounts_session(r);
	if (r->network != NETWORK_NONE)
		return;
	child_unbound();
	child_up_fds(s->e.up_fds, RUN_FD_COUNT);
	if (setns(await(&s->net_fd), CLONE_NEWNET) == -1)
		child_die(STEP_NETWORK);
}

/*
 * In the session's own devpts where it has one.  The stub's copies go when it
 * begins to wait: once the last program has closed the terminal, it is over.
 */
static void
make_tty(struct start *s)
{
	struct ends *e = &s->e;
	int fd = tty_open(s->r, &e->in_fd);

	e->out_fd = e->err_fd = e->in_fd;
	child_up_fd(RUN_FD_STDOUT, fd);
}

/*
 * Abstract sockets know no users, and a network that is shared has them all.
 * Here and not in child_lock(): a debugger in a domain of its own would not
 * get at the program in this one.
 */
static void
scope(void)
{
	if (landlock_abi() >= LANDLOCK_SCOPES && confine_scope() == -1)
		child_die(STEP_LANDLOCK);
}

static int
stub(void *arg)
{
	struct start *s = arg;
	const struct run_spec *r = s->r;
	bool whole = r->sandbox != SANDBOX_NONE;
	pid_t pid;

	stub_signals();
	prepare_inside(s);
	if (r->tty)
		make_tty(s);
	/* the program inherits it: a filter is dear to load */
	child_lock(whole);
	if (whole)
		scope();
	pid = fork_target(s);
	if (pid == -1) {
		image_unlink();
		child_die(STEP_STUB);
	}
	if (r->debug)
		stop_at_first(pid);
	else if (r->watch_loader)
		loader_watch(pid);
	image_unlink();
	/* the launcher answers while this process settles, or before */
	close(UP_SOCK);
	(void)sched_yield();
	stub_run(pid, s->e.status_fd, whole);
}

/* A bundle brings the mounts that it was unpacked in, and their owner. */
static void
enter_bundle(void)
{
	int user_fd = ioctl(KEPT_FD, NS_GET_USERNS);

	if (user_fd == -1 || setns(user_fd, CLONE_NEWUSER) == -1 ||
	    setns(KEPT_FD, CLONE_NEWNS) == -1)
		child_die(STEP_BUNDLE);
	close(user_fd);
}

/*
 * The stub takes over the memory of the first process, which saves a copy,
 * and tearing one down.  They are the same user's, and the first one only
 * does what session_first() still has to.
 */
static pid_t
fork_stub(struct start *s)
{
	static _Alignas(16) char stack[STUB_STACK];
	int flags = CLONE_PARENT | CLONE_PIDFD | CLONE_VM;

	if (s->r->sandbox != SANDBOX_NONE)
		flags |= CLONE_NEWPID;
	/* the namespace that is made meanwhile comes as an fd */
	if (s->r->network == NETWORK_NONE)
		flags |= CLONE_FILES;
	return clone(stub, stack + sizeof(stack), flags, s,
	    &s->e.up_fds[RUN_FD_STUB]);
}

/* The dearest namespace, while the stub makes the mounts. */
static void
make_network(struct start *s)
{
	int sock_fd;

	tell(&s->net_fd, mounts_network(&sock_fd));
	mounts_network_up(sock_fd);
	tell(&s->net_up, 1);
}

void
session_first(const void *arg)
{
	/* not on the stack, as the stub goes on with it */
	static struct start s;

	s.r = arg;
	/* the owner's pipes: else /dev/stderr could not be opened again */
	child_count(s.r->user_processes);
	make_pipes(&s.e, s.r);
	if (s.r->bundle)
		enter_bundle();
	else if (s.r->sandbox != SANDBOX_NONE && unshare(CLONE_NEWUSER) == -1)
		child_die(STEP_USERNS);
	if (fork_stub(&s) == -1)
		child_die(STEP_NAMESPACES);
	/* who has the longer way does not stop to talk */
	if (s.r->network == NETWORK_NONE)
		make_network(&s);
	else
		child_up_fds(s.e.up_fds, RUN_FD_COUNT);
	_exit(0);
}
