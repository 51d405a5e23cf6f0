/* SPDX-License-Identifier: ISC */
/* Steps that every process between launcher and program takes. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "confine/caps.h"
#include "confine/filter.h"
#include "launcher/base/filters.h"
#include "steps.h"
#include "user_limits.h"
#include "wire/role.h"

#define USUAL_UMASK	022
/* between SIGXCPU and SIGKILL */
#define CPU_GRACE	5

/* Where they are not mapped yet, a process cannot read its own ids. */
static uid_t	outer_uid;
static gid_t	outer_gid;

void
owner_main(owner_fn fn, const void *arg)
{
	outer_uid = geteuid();
	outer_gid = getegid();
	user_limits_rlimits_user();
	fn(arg);
}

void
child_up_fd(unsigned int kind, int fd)
{
	struct up u = { .what = UP_FDS, .fds = 1U << kind };

	child_send_up(&u, &fd, 1);
	close(fd);
}

void
child_up_fds(const int *fds, unsigned int n)
{
	struct up u = { .what = UP_FDS };
	int some[UP_FDS_MAX];
	unsigned int i;
	size_t used = 0;

	for (i = 0; i < n && used < UP_FDS_MAX; i++) {
		if (fds[i] == -1)
			continue;
		u.fds |= 1U << i;
		some[used++] = fds[i];
	}
	child_send_up(&u, some, used);
}

void
child_up_pid(unsigned int kind, int fd)
{
	struct up u = { .what = UP_PID, .a = (uint32_t)getpid() };

	if (fd != -1)
		u.fds = 1U << kind;
	child_send_up(&u, &fd, fd != -1);
}

void
child_limits(const uint64_t *limits)
{
	static const __rlimit_resource_t what[LIMIT_COUNT] = {
		[LIMIT_CPU] = RLIMIT_CPU, [LIMIT_AS] = RLIMIT_AS,
		[LIMIT_NOFILE] = RLIMIT_NOFILE,
		[LIMIT_NPROC] = RLIMIT_NPROC, [LIMIT_CORE] = RLIMIT_CORE,
	};
	struct rlimit rl;
	rlim_t max, v;
	int i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		if (getrlimit(what[i], &rl) == -1)
			child_die(STEP_LIMITS);
		max = rl.rlim_max;
		v = limits[i] == LIMIT_UNLIMITED ? RLIM_INFINITY : limits[i];
		rl.rlim_cur = v < max ? v : max;
		rl.rlim_max = rl.rlim_cur;
		if (i == LIMIT_CPU && max - rl.rlim_cur > CPU_GRACE)
			rl.rlim_max = rl.rlim_cur + CPU_GRACE;
		if (setrlimit(what[i], &rl) == -1)
			child_die(STEP_LIMITS);
	}
	user_limits_rlimits();
}

static int
map_fd(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1)
		child_die(STEP_IDMAP);
	return fd;
}

static void
put_map(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) == -1)
		child_die(STEP_IDMAP);
	close(fd);
}

void
child_map_ids(void)
{
	char uid_map[32], gid_map[32];
	int groups_fd, uid_fd, gid_fd;

	/*
	 * The files are root's as long as this process is not dumpable.  It
	 * is a copy of the launcher that the owner might read then, so it is
	 * dumpable for three opens only.
	 */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1)
		child_die(STEP_IDMAP);
	groups_fd = map_fd("/proc/self/setgroups");
	uid_fd = map_fd("/proc/self/uid_map");
	gid_fd = map_fd("/proc/self/gid_map");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		child_die(STEP_IDMAP);
	(void)snprintf(uid_map, sizeof(uid_map), "%u %u 1", outer_uid,
	    outer_uid);
	(void)snprintf(gid_map, sizeof(gid_map), "%u %u 1", outer_gid,
	    outer_gid);
	put_map(groups_fd, "deny");
	put_map(uid_fd, uid_map);
	put_map(gid_fd, gid_map);
}

/* Ignored signals would stay ignored; exec resets handlers by itself. */
static void
reset_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;
	int sig;

	/* a daemon that was started with & would pass on a dead ^C */
	for (sig = SIGHUP; sig <= SIGSYS; sig++)
		(void)sigaction(sig, &sa, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

void
child_unbound(void)
{
	if (caps_effective() & CAP_BIT(CAP_SETPCAP) &&
	    prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 1 && caps_bound(0) == -1)
		child_die(STEP_CAPS);
}

static void
drop_caps(void)
{
	child_unbound();
	if (caps_set(0, 0) == -1 || caps_ambient_clear() == -1)
		child_die(STEP_CAPS);
}

void
child_lock(bool filter)
{
	const struct filter_prog *p = &filter_progs[FILTER_SESSION];

	drop_caps();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		child_die(STEP_CAPS);
	if (!settings.allow_32bit)
		p = &filter_progs[filter ? FILTER_SESSION_64BIT :
		    FILTER_ONLY_64BIT];
	else if (!filter)
		return;
	if (p->instr != NULL && filter_install(p->instr, p->n) == -1)
		child_die(STEP_SECCOMP);
}

static void
lead(void)
{
	(void)setsid();
	/*
	 * A daemon that was given precedence does not pass it on; one that
	 * was told to be nice stays so with all that it starts.
	 */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
	(void)umask(USUAL_UMASK);
}

static void
be_a_program(void)
{
	reset_signals();
	/* only Yama knows this; where it is, debuggers are no ancestors */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

void
child_last(int in_fd, int out_fd, int err_fd)
{
	lead();
	if (dup2(in_fd, 0) == -1 || dup2(out_fd, 1) == -1 ||
	    dup2(err_fd, 2) == -1 ||
	    close_range(UP_SOCK, ~0U, CLOSE_RANGE_CLOEXEC) == -1)
		child_die(STEP_PIPES);
	be_a_program();
}

/* None of the numbers that are given out may be in use by another of them. */
static int
lift(int fd)
{
	int up = fd == -1 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CHILD_ASIDE);

	if (fd != -1 && up == -1)
		child_die(STEP_PIPES);
	return up;
}

void
child_last_fds(const int *fds, int n)
{
	int aside[CHILD_ASIDE], i;

	lead();
	child_sock_fd = lift(UP_SOCK);
	for (i = 0; i < n; i++)
		aside[i] = lift(fds[i]);
	for (i = 0; i < n; i++)
		if (aside[i] == -1)
			close(i);
		else if (dup2(aside[i], i) == -1)
			child_die(STEP_PIPES);
	if (close_range((unsigned int)n, ~0U, CLOSE_RANGE_CLOEXEC) == -1)
		child_die(STEP_PIPES);
	be_a_program();
}

char **
child_vector(char **v, size_t max, const char *p, size_t len)
{
	const char *end = p + len;
	size_t n = 0;

	while (p < end) {
		if (n == max - 1) {
			errno = E2BIG;
			child_die(STEP_EXEC);
		}
		v[n++] = (char *)(uintptr_t)p;
		p += strlen(p) + 1;
	}
	v[n] = NULL;
	return v;
}
