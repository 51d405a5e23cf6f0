/* SPDX-License-Identifier: ISC */
/*
 * A session's instruments: its owner's processes outside of its sandbox.
 * Nothing of the session can see or signal them, as they are in no namespace
 * of theirs; what one may ask of the kernel it settles itself, before it hears
 * a word.
 */
#include <sys/pidfd.h>
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/sanitize.h"
#include "instrument.h"
#include "steps.h"
#include "wire/msg.h"

#define CHANNEL_FD	3
#define BINARY_FD	4

/*
 * Addresses and memory of its own, in bytes: where no cgroup counts, this is
 * all that keeps it within bounds.
 */
static const struct kind {
	rlim_t		 files, addresses, memory;
} kinds[ROLE_END] = {
	/*
	 * fds of three pipes, a ring, files that are read, and the loop; a
	 * message of an adapter has 16 MB, and its parts are many small pieces
	 */
	[ROLE_DEBUGGER] = { 256, (rlim_t)1 << 30,
	    RLIM_INFINITY },
	/* 1024 rings of 4 MiB, and symbols and a timeline that are mapped */
	[ROLE_TRACER] = { 4096, (rlim_t)32 << 30,
	    (rlim_t)1 << 30 },
	/* knows better by itself, and how to live with it */
	[ROLE_SYMBOLS] = { RLIM_INFINITY, RLIM_INFINITY,
	    RLIM_INFINITY },
};

static void
limit(__rlimit_resource_t what, rlim_t most)
{
	struct rlimit rl;

	if (getrlimit(what, &rl) == -1)
		child_die(STEP_LIMITS);
	if (most < rl.rlim_max)
		rl.rlim_max = most;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(what, &rl) == -1)
		child_die(STEP_LIMITS);
}

static void
set_limits(const struct kind *k)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, k->files);
	/* a sanitizer's shadow is larger than any memory */
	if (SANITIZED)
		return;
	limit(RLIMIT_AS, k->addresses);
	limit(RLIMIT_DATA, k->memory);
}

void
instrument_first(const void *arg)
{
	const struct instrument_spec *i = arg;
	char *argv[] = { (char *)(uintptr_t)role_name(i->role), NULL };
	char *envp[] = { NULL };
	int fds[BINARY_FD + 1], pair[2], null_fd, self_fd;

	if (chdir("/") == -1 || chan_pair(pair) == -1 ||
	    (null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1 ||
	    (self_fd = pidfd_open(getpid(), 0)) == -1)
		child_die(STEP_INSTRUMENT);
	child_up_fd(INSTRUMENT_FD_CHANNEL, pair[0]);
	child_lock(false);
	fds[0] = fds[1] = null_fd;
	fds[2] = SANITIZED ? STDERR_FILENO : null_fd;
	fds[CHANNEL_FD] = pair[1];
	fds[BINARY_FD] = KEPT_FD2;
	child_last_fds(fds, BINARY_FD + 1);
	set_limits(&kinds[i->role]);
	child_up_pid(INSTRUMENT_FD_PIDFD, self_fd);
	if (fcntl(BINARY_FD, F_SETFD, FD_CLOEXEC) == 0)
		(void)execveat(BINARY_FD, "", argv, envp, AT_EMPTY_PATH);
	child_die(STEP_INSTRUMENT);
}
