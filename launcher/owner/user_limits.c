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

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

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

static void
divide_rlimits(uint64_t by)
{
	static const __rlimit_resource_t shared[] = { RLIMIT_SIGPENDING,
	    RLIMIT_MSGQUEUE };
	struct rlimit rl;
	size_t i;

	for (i = 0; i < NELEM(shared); i++) {
		if (getrlimit(shared[i], &rl) == -1)
			child_die(STEP_LIMITS);
		if (rl.rlim_max == RLIM_INFINITY)
			continue;
		rl.rlim_cur = rl.rlim_max = (rl.rlim_max + by - 1) / by;
		if (setrlimit(shared[i], &rl) == -1)
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
