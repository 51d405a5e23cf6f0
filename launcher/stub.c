/* SPDX-License-Identifier: ISC */
/* The stub's life: wait for children, signals and the spawner's death. */
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "proto.h"
#include "stub.h"

#define STATUS_FD	0
#define KILL_ROUNDS	100
#define TREE_MAX	8192
#define GRACE_MS	1000
#define GRACE_STEP_MS	10

static int	signal_fd = -1;
static bool	is_init;
static pid_t	program;

void
stub_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t all;

	/* the launcher ignores it, and what is ignored cannot be waited for */
	(void)sigaction(SIGCHLD, &sa, NULL);
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Parent of pid, 0 when it is gone.  "pid (name) state ppid": from the end. */
static pid_t
parent_of(pid_t pid)
{
	char path[32], line[512], *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	p = strrchr(line, ')');
	if (p == NULL || strlen(p) < 5 || p[2] == 'Z')
		return 0;
	return (pid_t)strtol(p + 4, NULL, 10);
}

static size_t
all_pids(pid_t *pids, pid_t *parents)
{
	struct dirent *de;
	DIR *dir = opendir("/proc");
	size_t n = 0;
	pid_t pid;

	while (dir != NULL && n < TREE_MAX && (de = readdir(dir)) != NULL) {
		pid = (pid_t)strtol(de->d_name, NULL, 10);
		if (pid <= 1 || (parents[n] = parent_of(pid)) == 0)
			continue;
		pids[n++] = pid;
	}
	if (dir != NULL)
		closedir(dir);
	return n;
}

/*
 * Without a pid namespace the tree is whoever descends from the stub; as it
 * is their reaper, nobody leaves the tree by forking twice.  Returns how
 * many were met.
 */
static size_t
signal_descendants(int sig)
{
	static pid_t pids[TREE_MAX], parents[TREE_MAX];
	pid_t self = getpid();
	size_t n = all_pids(pids, parents), i, j, met = 0;
	bool grown = true;

	/* whoever is found takes the stub as parent: a mark, level by level */
	while (grown) {
		grown = false;
		for (i = 0; i < n; i++) {
			if (parents[i] != self || pids[i] == 0)
				continue;
			(void)kill(pids[i], sig);
			met++;
			for (j = 0; j < n; j++)
				if (parents[j] == pids[i]) {
					parents[j] = self;
					grown = true;
				}
			pids[i] = 0;
		}
	}
	return met;
}

static void
report(int status)
{
	struct stub_report r = { STUB_EXITED, 0 };

	if (WIFSIGNALED(status)) {
		r.what = STUB_SIGNALED;
		r.value = (uint32_t)WTERMSIG(status);
	} else
		r.value = (uint32_t)WEXITSTATUS(status);
	(void)!write(STATUS_FD, &r, sizeof(r));
}

/* False when no child is left. */
static bool
reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid == program) {
			report(status);
			program = 0;
		}
	}
	return pid == 0 || errno != ECHILD;
}

/*
 * gdbserver is in the namespace but nobody's child here.  It gets a moment to
 * tell how the program ended before it goes down with its init.
 */
static bool
others_left(void)
{
	return is_init && kill(-1, 0) == 0;
}

/* Rounds, as a tree may grow faster than /proc can be read. */
static void
signal_tree(int sig)
{
	int rounds = 0;

	if (is_init) {
		(void)kill(-1, sig);
		return;
	}
	while (signal_descendants(sig) > 0 && sig == SIGKILL &&
	    ++rounds < KILL_ROUNDS)
		(void)reap();
}

/*
 * The launcher's word comes from outside of the namespace, which shows as
 * pid 0; the session's own processes cannot forge that.
 */
static void
take_signal(void)
{
	struct signalfd_siginfo si;

	if (read(signal_fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (is_init && (si.ssi_pid != 0 || si.ssi_code != SI_USER))
		return;
	if (si.ssi_signo == SIGTERM) {
		signal_tree(SIGTERM);
		signal_tree(SIGCONT);
	} else if (si.ssi_signo == SIGUSR1)
		signal_tree(SIGKILL);
}

static void
keep_only(int status_fd)
{
	sigset_t all;

	if (dup2(status_fd, STATUS_FD) == -1)
		child_die(STEP_STUB);
	sigfillset(&all);
	signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd == -1 || dup2(signal_fd, STATUS_FD + 1) == -1)
		child_die(STEP_STUB);
	signal_fd = STATUS_FD + 1;
	(void)close_range((unsigned int)signal_fd + 1, ~0U, 0);
}

void
stub_run(pid_t target, int status_fd, bool init)
{
	int wait = GRACE_MS / GRACE_STEP_MS;
	struct pollfd p[2];
	bool alone;

	is_init = init;
	program = target;
	keep_only(status_fd);
	p[0] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = STATUS_FD };
	for (;;) {
		alone = !reap();
		if (alone && (!others_left() || wait-- == 0))
			_exit(0);
		if (poll(p, 2, alone ? GRACE_STEP_MS : -1) == -1)
			continue;
		if (p[0].revents != 0)
			take_signal();
		/* nobody reads reports any more: the spawner is dead */
		if (p[1].revents != 0) {
			p[1].fd = -1;
			signal_tree(SIGKILL);
		}
	}
}
