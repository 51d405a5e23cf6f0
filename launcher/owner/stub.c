/* SPDX-License-Identifier: ISC */
/* The stub's life: wait for children, signals and the spawner's death. */
#include <sys/mman.h>
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

#include "base/again.h"
#include "steps.h"
#include "stub.h"
#include "wire/proto.h"

#define STATUS_FD	0
#define KILL_ROUNDS	100
/* Between two bursts, doubled up to the other: some may hang in the kernel. */
#define HUNT_MS		1
#define HUNT_MS_MAX	256
/* PID_MAX_LIMIT of the kernel. */
#define PIDS_MAX	(4 * 1024 * 1024)
#define GRACE_MS	1000
#define GRACE_STEP_MS	10
/* how often, and after what time each, an end is told that could not be */
#define REPORT_TRIES	100
#define REPORT_PAUSE_MS	10

static int	signal_fd = -1;
static bool	is_init;
static pid_t	program;
static int	hunting;	/* ms until the next burst, 0 = not to be killed */

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
	n = read_again(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	p = strrchr(line, ')');
	/* also of zombies: only the first thread may be one */
	if (p == NULL || strlen(p) < 5)
		return 0;
	return (pid_t)strtol(p + 4, NULL, 10);
}

/* Fills the table of parents, by pid; returns the highest pid. */
static pid_t
read_parents(pid_t *parents)
{
	struct dirent *de;
	DIR *dir = opendir("/proc");
	pid_t pid, last = 0;

	while (dir != NULL && (de = readdir(dir)) != NULL) {
		pid = (pid_t)strtol(de->d_name, NULL, 10);
		if (pid <= 1 || pid >= PIDS_MAX)
			continue;
		parents[pid] = parent_of(pid);
		if (pid > last)
			last = pid;
	}
	if (dir != NULL)
		closedir(dir);
	return last;
}

/* Stores the result for all ancestors, so that each is walked once. */
static bool
descends(pid_t *parents, pid_t pid, pid_t self)
{
	pid_t up = pid, next;
	size_t steps = 0;
	bool found;

	/* pids that came round while /proc was read may make a ring */
	while (up != self && up > 1 && up < PIDS_MAX && steps++ < PIDS_MAX)
		up = parents[up];
	found = up == self;
	for (; pid != self && pid > 1 && pid < PIDS_MAX; pid = next) {
		next = parents[pid];
		parents[pid] = found ? self : 1;
	}
	return found;
}

/*
 * Without a pid namespace the tree is all descendants of the stub; as the stub
 * is their reaper, no process leaves the tree by forking twice.  Returns how
 * many were met.
 */
static size_t
signal_descendants(int sig)
{
	const size_t size = PIDS_MAX * sizeof(pid_t);
	pid_t self = getpid(), *parents, pid, last;
	size_t met = 0;

	/* sparse: only the pages of pids that exist are ever there */
	parents = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (parents == MAP_FAILED) {
		if (program != 0)
			(void)kill(program, sig);
		return 0;
	}
	last = read_parents(parents);
	for (pid = 2; pid <= last; pid++)
		if (pid != self && parents[pid] != 0 &&
		    descends(parents, pid, self) && kill(pid, sig) == 0)
			met++;
	(void)munmap(parents, size);
	return met;
}

static void
stub_tell(int status)
{
	struct stub_report r = { STUB_EXITED, 0 };
	unsigned int tries = REPORT_TRIES;

	if (WIFSIGNALED(status)) {
		r.what = STUB_SIGNALED;
		r.value = (uint32_t)WTERMSIG(status);
	} else
		r.value = (uint32_t)WEXITSTATUS(status);
	/* the pipe's page counts for the session, which may have used all */
	while (write(STATUS_FD, &r, sizeof(r)) == -1 && errno != EPIPE &&
	    --tries > 0)
		(void)poll(NULL, 0, REPORT_PAUSE_MS);
}

/* False when no child is left. */
static bool
reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid == program) {
			stub_tell(status);
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

/*
 * Kills only the stub's own children, including every process that has lost its
 * parent: much faster than reading all of /proc.  Returns how many were met.
 */
static size_t
kill_children(void)
{
	static char list[64 * 1024];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read_again(fd, list, sizeof(list) - 1);
	char *p = list, *end;
	size_t met = 0;
	long pid;

	if (fd != -1)
		close(fd);
	list[n > 0 ? n : 0] = '\0';
	/* a number that was cut off would have no space behind it */
	while ((pid = strtol(p, &end, 10)) > 1 && *end == ' ') {
		if (kill((pid_t)pid, SIGKILL) == 0)
			met++;
		p = end;
	}
	return met;
}

/*
 * A tree that forks and exits all the time is somewhere else when /proc has
 * been read: it is hunted until no child is left, in bursts.
 */
static void
hunt(void)
{
	int rounds = 0;

	while (reap() && rounds++ < KILL_ROUNDS)
		if (kill_children() == 0)
			(void)signal_descendants(SIGKILL);
}

static void
signal_tree(int sig)
{
	if (is_init)
		(void)kill(-1, sig);
	else
		(void)signal_descendants(sig);
	if (sig == SIGKILL)
		hunting = HUNT_MS;
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
	if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP) {
		signal_tree((int)si.ssi_signo);
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

/* How long to wait at most for a signal; -1 = until there is one. */
static int
patience(bool alone)
{
	int ms = hunting;

	if (alone)
		return GRACE_STEP_MS;
	if (is_init || hunting == 0)
		return -1;
	if (hunting < HUNT_MS_MAX)
		hunting *= 2;
	return ms;
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
		if (hunting != 0 && !is_init)
			hunt();
		alone = !reap();
		if (alone && (!others_left() || wait-- == 0))
			_exit(0);
		if (poll(p, 2, patience(alone)) == -1)
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
