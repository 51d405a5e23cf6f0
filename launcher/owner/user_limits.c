/* SPDX-License-Identifier: ISC */
/* A session's part of what the host has for all users. */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base/child.h"
#include "launcher/base/facts.h"
#include "user_limits.h"
#include "wire/role.h"

/* a terminal multiplexer's windows; a test that types at programs */
#define TERMINALS_TTY	64
#define TERMINALS_PIPES	16

const struct user_resource user_resources[USER_RESOURCES] = {
	[USER_INOTIFY] = { "max_inotify_instances", "inotify instances",
	    "/proc/sys/fs/inotify/max_user_instances", 16, true },
	[USER_WATCHES] = { "max_inotify_watches", "inotify watches",
	    "/proc/sys/fs/inotify/max_user_watches", 2048, true },
	[USER_FANOTIFY] = { "max_fanotify_groups", "fanotify groups", NULL, 1,
	    true },
	[USER_MARKS] = { "max_fanotify_marks", "fanotify marks", NULL, 1,
	    true },
	[USER_NAMESPACES] = { "max_user_namespaces", "user namespaces", NULL,
	    32, false },
};

const struct user_rlimit user_rlimits[USER_RLIMITS] = {
	[USER_SIGNALS] = { RLIMIT_SIGPENDING, "pending signals", 256 },
	/* a session's half holds one queue as mq_open(3) makes it */
	[USER_QUEUES] = { RLIMIT_MSGQUEUE, "bytes of message queues",
	    2 * 88 * 1024 },
};

unsigned int
user_limits_terminals(bool tty)
{
	unsigned int most = tty ? TERMINALS_TTY : TERMINALS_PIPES;
	uint64_t part = facts.terminals / settings.max_sessions;

	if (part == 0)
		return 1;
	return part < most ? (unsigned int)part : most;
}

static void
write_number(int proc_fd, const char *name, uint64_t v)
{
	char path[64], text[24];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "sys/user/%s", name);
	fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);
	/* kernels before 5.13 do not count fanotify like this */
	if (fd == -1 && errno == ENOENT)
		return;
	n = fd == -1 ? -1 : write(fd, text, (size_t)snprintf(text,
	    sizeof(text), "%" PRIu64, v));
	if (n == -1)
		child_die(STEP_LIMITS);
	close(fd);
}

void
user_limits_divide(const char *proc)
{
	int proc_fd = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	if (proc_fd == -1)
		child_die(STEP_PROC);
	for (i = 0; i < USER_RESOURCES; i++)
		if (user_resources[i].halved && facts.user[i] < FACT_NO_LIMIT)
			write_number(proc_fd, user_resources[i].name,
			    (facts.user[i] + 1) / 2);
	close(proc_fd);
}

uint64_t
user_limits_part(uint64_t all, uint64_t by)
{
	return (all + by - 1) / by;
}

static void
divide_rlimits(uint64_t by)
{
	struct rlimit rl;
	size_t i;

	for (i = 0; i < USER_RLIMITS; i++) {
		if (getrlimit(user_rlimits[i].which, &rl) == -1)
			child_die(STEP_LIMITS);
		if (rl.rlim_max == RLIM_INFINITY)
			continue;
		rl.rlim_cur = rl.rlim_max = user_limits_part(rl.rlim_max, by);
		if (setrlimit(user_rlimits[i].which, &rl) == -1)
			child_die(STEP_LIMITS);
	}
}

void
user_limits_rlimits_user(void)
{
	if (role_mode == MODE_SYSTEM)
		divide_rlimits(settings.rlimit_users);
}

void
user_limits_rlimits(void)
{
	divide_rlimits(2);
}
