/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "child.h"
#include "user_limits.h"
#include "wire/role.h"

/* a terminal multiplexer's windows; a test that types at programs */
#define TERMINALS_TTY	64
#define TERMINALS_PIPES	16

#define UNKNOWN		UINT64_MAX
/* the limit of a namespace for which none was set */
#define NO_LIMIT	INT32_MAX
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

/* Resources that the kernel counts by user namespaces. */
static struct {
	const char	*name, *what;
	/* where all users' sum is, if it can be read inside the fence */
	const char	*host;
	uint64_t	 least;		/* a user's, for programs as they are */
	bool		 halved;	/* for each session */
	uint64_t	 user;		/* what a user has */
} kinds[] = {
	{ "max_inotify_instances", "inotify instances",
	    "/proc/sys/fs/inotify/max_user_instances", 16, true, UNKNOWN },
	{ "max_inotify_watches", "inotify watches",
	    "/proc/sys/fs/inotify/max_user_watches", 2048, true, UNKNOWN },
	{ "max_fanotify_groups", "fanotify groups", NULL, 1, true, UNKNOWN },
	{ "max_fanotify_marks", "fanotify marks", NULL, 1, true, UNKNOWN },
	{ "max_user_namespaces", "user namespaces", NULL, 32, false, UNKNOWN },
};

/* the defaults of the kernel: 4096, and 1024 of them for the host alone */
static uint64_t	terminals = 4096 - 1024;

/* The first number in the file, otherwise. */
static uint64_t
host_has(const char *path, uint64_t otherwise)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[24];
	ssize_t n;

	if (fd == -1)
		return otherwise;
	n = read_again(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return otherwise;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

void
user_limits_read(void)
{
	uint64_t max = host_has("/proc/sys/kernel/pty/max", 4096);
	uint64_t reserve = host_has("/proc/sys/kernel/pty/reserve", 1024);
	char path[64];
	size_t i;

	terminals = max > reserve ? max - reserve : 0;
	/* in system mode those of the fence, which hold for each user in it */
	for (i = 0; i < NELEM(kinds); i++) {
		(void)snprintf(path, sizeof(path), "/proc/sys/user/%s",
		    kinds[i].name);
		kinds[i].user = host_has(path, UNKNOWN);
	}
}

unsigned int
user_limits_terminals(bool tty)
{
	unsigned int most = tty ? TERMINALS_TTY : TERMINALS_PIPES;
	uint64_t part = terminals / settings.max_sessions;

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
	for (i = 0; i < NELEM(kinds); i++)
		if (kinds[i].halved && kinds[i].user < NO_LIMIT)
			write_number(proc_fd, kinds[i].name,
			    (kinds[i].user + 1) / 2);
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

bool
user_limits_users_part(char *form, size_t size)
{
	uint64_t users = settings.sum_users, host;
	bool good = true;
	size_t i, len;

	user_limits_read();
	form[0] = '\0';
	for (i = 0; i < NELEM(kinds); i++) {
		host = kinds[i].host == NULL ? UNKNOWN :
		    host_has(kinds[i].host, UNKNOWN);
		/* in user mode the user's own other programs share it */
		good &= kinds[i].user >= kinds[i].least &&
		    (role_mode == MODE_USER ||
		    (kinds[i].user < NO_LIMIT &&
		    kinds[i].user <= host / users));
		if (kinds[i].least == 1 || kinds[i].user >= NO_LIMIT)
			continue;
		len = strlen(form);
		(void)snprintf(form + len, size - len, "%s%" PRIu64 " %s",
		    len > 0 ? ", " : "each user: ", kinds[i].user,
		    kinds[i].what);
	}
	return good;
}
