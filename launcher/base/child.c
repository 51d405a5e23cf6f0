/* SPDX-License-Identifier: ISC */
/* From the launcher to a process without rights. */
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>

#include "child.h"
#include "confine/caps.h"
#include "wire/fdpass.h"
#include "wire/role.h"

int	child_sock_fd = UP_SOCK;

pid_t
child_clone(uint64_t flags, int cgroup_fd, int *pidfd)
{
	struct clone_args a = {
		.flags = flags | CLONE_PIDFD,
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
	};

	if (cgroup_fd != -1) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (unsigned int)cgroup_fd;
	}
	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

void
child_begin(int up_fd, const int keep_fds[2])
{
	const int old[] = { up_fd, keep_fds[0], keep_fds[1] };
	int aside[3], i;

	for (i = 0; i < 3; i++) {
		aside[i] = -1;
		if (old[i] != -1 &&
		    (aside[i] = fcntl(old[i], F_DUPFD, CHILD_ASIDE)) == -1)
			_exit(1);
	}
	for (i = 0; i < 3; i++) {
		if (aside[i] == -1)
			close(UP_SOCK + i);
		else if (dup2(aside[i], UP_SOCK + i) == -1)
			_exit(1);
	}
	if (close_range(UP_SOCK + 3, ~0U, 0) == -1)
		child_die(STEP_FORK);
}

void
child_send_up(const struct up *u, const int *fds, size_t n)
{
	struct iovec iov = { (void *)(uintptr_t)u, sizeof(*u) };

	/* a launcher that does not listen any more has ended us already */
	if (fdpass_send(child_sock_fd, &iov, 1, fds, n, 0) == -1)
		_exit(1);
}

void
child_die(enum step step)
{
	struct up u = { .what = UP_FAILED, .a = step,
	    .b = (uint32_t)errno };

	child_send_up(&u, NULL, 0);
	_exit(1);
}

uint64_t
child_root_caps(void)
{
	return role_mode == MODE_USER && geteuid() == 0 ?
	    CAP_BIT(CAP_SETFCAP) : 0;
}

void
child_become(const struct run_owner *w)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (role_mode == MODE_SYSTEM) {
		if (setgroups(w->ngroups, w->groups) == -1 ||
		    setresgid(w->gid, w->gid, w->gid) == -1 ||
		    setresuid(w->uid, w->uid, w->uid) == -1)
			child_die(STEP_IDS);
		if (getresuid(&r, &e, &s) == -1 ||
		    getresgid(&rg, &eg, &sg) == -1)
			child_die(STEP_IDS);
		if (r != w->uid || e != w->uid || s != w->uid ||
		    rg != w->gid || eg != w->gid || sg != w->gid) {
			errno = EPERM;
			child_die(STEP_IDS);
		}
	}
	/* setresuid between two users that are not root keeps them */
	if (caps_set(child_root_caps(), 0) == -1)
		child_die(STEP_CAPS);
}

void
child_count(uint64_t processes)
{
	struct rlimit rl;

	/*
	 * The owner's cgroup counts better than this, and in user mode the
	 * owner has processes that are not ours.
	 */
	if (role_mode != MODE_SYSTEM || processes == LIMIT_UNLIMITED ||
	    settings.controllers & CONTROLLER_PIDS)
		return;
	if (getrlimit(RLIMIT_NPROC, &rl) == -1)
		child_die(STEP_LIMITS);
	if (processes < rl.rlim_max)
		rl.rlim_max = processes;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(RLIMIT_NPROC, &rl) == -1)
		child_die(STEP_LIMITS);
}
