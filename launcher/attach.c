/* SPDX-License-Identifier: ISC */
/* gdbserver beside a session's program, in its namespaces. */
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
#include "child.h"
#include "flight.h"
#include "role.h"

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

static void __attribute__((noreturn))
gdbserver(const struct attach_spec *a, int wire_fd, int err_fd, bool filter)
{
	char pid[16];
	char *argv[] = { settings.gdbserver, (char *)(uintptr_t)"--once",
	    (char *)(uintptr_t)"--attach", (char *)(uintptr_t)"-", pid,
	    NULL };
	char *envp[] = { (char *)(uintptr_t)"PATH=/usr/bin:/bin", NULL };

	(void)snprintf(pid, sizeof(pid), "%u", a->pid);
	child_lock(filter);
	child_last(wire_fd, wire_fd, err_fd);
	child_up_pid(0, -1);
	(void)execve(settings.gdbserver, argv, envp);
	child_die(STEP_GDBSERVER);
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
		n = read(fd, text, size - 1);
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
	int wire[2], err[2], pidfd = -1;
	bool filter, first;
	pid_t pid;

	child_become(&a->owner);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire) == -1 ||
	    pipe2(err, O_CLOEXEC) == -1)
		child_die(STEP_PIPES);
	child_up_fd(ATTACH_FD_WIRE, wire[0]);
	child_up_fd(ATTACH_FD_ERRORS, err[0]);
	filter = join(KEPT_FD);
	first = waits_at_first(a->pid);
	/* who joins a pid namespace is not in it, but its children are */
	pid = child_clone(CLONE_PARENT, -1, &pidfd);
	if (pid == -1)
		child_die(STEP_FORK);
	if (pid == 0)
		gdbserver(a, wire[1], err[1], filter);
	child_up_fd(ATTACH_FD_PIDFD, fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
	/* the answer comes when this process ends: not before it is safe */
	if (wait_for_tracer(a->pid, pidfd) && first)
		end_first_stop(KEPT_FD);
	_exit(0);
}
