/* SPDX-License-Identifier: ISC */
/* Debuggers beside a session's program, in its namespaces. */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "base/again.h"
#include "command.h"
#include "confine/xstate.h"
#include "launcher/preload/preload.h"
#include "steps.h"
#include "wire/role.h"

/* of an adapter with all that it is given */
#define ARGV_MAX	512
#define ENVP_MAX	(ENV_MAX_COUNT + 64)

#define ALL_BUT_NET	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |	\
			 CLONE_NEWIPC | CLONE_NEWUTS)

/*
 * Joining is all or nothing, and a namespace that is shared with the host
 * refuses: the kinds of sandbox, from the most to the least.  The program's
 * pidfd serves, not the stub's, which lets nobody look inside.  Returns
 * whether there was anything to join.
 */
static bool
join(int pidfd)
{
	static const int kinds[] = { ALL_BUT_NET | CLONE_NEWNET, ALL_BUT_NET,
	    CLONE_NEWUSER | CLONE_NEWNS };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (setns(pidfd, kinds[i]) == 0)
			return true;
	/* only one's own user namespace is an invalid one to join */
	if (setns(pidfd, CLONE_NEWUSER) == -1 && errno == EINVAL)
		return false;
	child_die(STEP_JOIN);
}

/* Ends of its streams: ours, and the debugger's own. */
struct wires {
	int	 ours[ATTACH_FD_COUNT];
	int	 own[3];
};

extern const char preload_blob[], preload_blob_end[];

/*
 * Returns a memfd with the preload library, or -1 if gdbserver needs none or
 * the memfd cannot be made.
 */
static int
preload_fd(void)
{
	const size_t len = (size_t)(preload_blob_end - preload_blob);
	int fd;

	if (xstate_size() <= XSTATE_GDB13)
		return -1;
	fd = memfd_create("xstate.so", MFD_CLOEXEC);
	if (fd != -1 && write(fd, preload_blob, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* After child_last(), which would have it closed. */
static void
add_preload(char **envp, int fd)
{
	static char variable[sizeof(PRELOAD_ENV) + 16];
	size_t n;

	for (n = 0; envp[n] != NULL; n++)
		;
	if (n == ENVP_MAX - 1 || fcntl(fd, F_SETFD, 0) == -1)
		return;
	(void)snprintf(variable, sizeof(variable), PRELOAD_ENV "%d", fd);
	envp[n] = variable;
	envp[n + 1] = NULL;
}

static void __attribute__((noreturn))
debugger(const struct attach_spec *a, const struct wires *w, bool filter)
{
	static char *argv[ARGV_MAX], *envp[ENVP_MAX];
	const bool gdbserver = (a->flags & ATTACH_PIPES) == 0;
	const int preload = gdbserver ? preload_fd() : -1;
	enum step step;

	child_vector(argv, ARGV_MAX, a->argv, a->argv_len);
	child_vector(envp, ENVP_MAX, a->envp, a->envp_len);
	/*
	 * An adapter, with its arguments, is its owner's choice, and gdbserver
	 * runs what gdb asks for.
	 */
	child_count(a->processes);
	child_limits(a->limits);
	child_lock(filter);
	child_last(w->own[0], w->own[1], w->own[2]);
	if (preload != -1)
		add_preload(envp, preload);
	child_up_pid(0, -1);
	step = command_exec(argv, envp);
	child_die(gdbserver ? STEP_GDBSERVER : step);
}

static void
make_wires(const struct attach_spec *a, struct wires *w)
{
	int in[2], out[2] = { -1, -1 }, err[2];

	if (pipe2(err, O_CLOEXEC) == -1 || (a->flags & ATTACH_PIPES ?
	    pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1 :
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) == -1))
		child_die(STEP_PIPES);
	w->own[0] = in[0];
	w->own[1] = a->flags & ATTACH_PIPES ? out[1] : in[0];
	w->own[2] = err[1];
	w->ours[ATTACH_FD_WIRE] = in[1];
	w->ours[ATTACH_FD_ERRORS] = err[0];
	w->ours[ATTACH_FD_PIDFD] = -1;
	w->ours[ATTACH_FD_OUT] = out[0];
}

static void
read_status(char *text, size_t size, uint32_t pid)
{
	char path[32];
	ssize_t n = -1;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read_again(fd, text, size - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
}

/* Does it wait at its first instruction, as session.c leaves it? */
static bool
waits_at_first(uint32_t pid)
{
	char text[4096], *mask;

	read_status(text, sizeof(text), pid);
	mask = strstr(text, "\nSigBlk:\t");
	return strstr(text, "\nState:\tT") != NULL && mask != NULL &&
	    strtoull(mask + 9, NULL, 16) >> (FIRST_STOP_MARK - 1) & 1;
}

/* False when gdbserver has given up. */
static bool
wait_for_tracer(uint32_t pid, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	char text[4096];

	for (;;) {
		read_status(text, sizeof(text), pid);
		/* not earlier: the SIGSTOP of attaching is queued by then */
		if (strstr(text, "\nState:\tt") != NULL)
			return true;
		if (poll(&p, 1, 1) == 1)
			return false;
	}
}

/*
 * Attaching queues a SIGSTOP, which a stopped program has no use for: it
 * would show up at the first continue.  SIGCONT takes it back and ends the
 * stop that threads and a detach would fall into; a stop signal takes the
 * SIGCONT back; and that one is blocked.
 */
static void
end_first_stop(int pidfd)
{
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0);
	(void)syscall(SYS_pidfd_send_signal, pidfd, FIRST_STOP_MARK, NULL, 0);
}

void
attach_first(const void *arg)
{
	const struct attach_spec *a = arg;
	bool filter, first, gdbserver = !(a->flags & ATTACH_PIPES);
	struct wires w;
	int pidfd = -1;
	pid_t pid;

	make_wires(a, &w);
	child_up_fds(w.ours, ATTACH_FD_COUNT);
	filter = join(KEPT_FD);
	first = gdbserver && waits_at_first(a->pid);
	/* who joins a pid namespace is not in it, but its children are */
	pid = child_clone(CLONE_PARENT, -1, &pidfd);
	if (pid == -1)
		child_die(STEP_FORK);
	if (pid == 0)
		debugger(a, &w, filter);
	child_up_fd(ATTACH_FD_PIDFD, fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
	/* the answer comes when this process ends: not before it is safe */
	if (gdbserver && wait_for_tracer(a->pid, pidfd) && first)
		end_first_stop(KEPT_FD);
	_exit(0);
}
