/* SPDX-License-Identifier: ISC */
/*
 * The kernel counts inotify instances, namespaces, pending signals and the like
 * of a session for its user in the fence, and once more, for all users
 * together, for _dlparent, which made the fence.  So the fence limits what each
 * of its users has, and the sum of all is as much as the host can have.
 */
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "setup.h"

#define FILES_MOST	32
/* users at their limits who are served at the same time, at least */
#define USERS_LEAST	4

static struct {
	char		 name[NAME_MAX + 1];
	uint64_t	 host;		/* what all users together may have */
} files[FILES_MOST];
static size_t	nfiles;
static int	dir_fd = -1;

uint32_t
host_limits_users(uint32_t sessions, uint32_t each)
{
	uint32_t users = (sessions + each - 1) / each;

	return users < USERS_LEAST ? USERS_LEAST : users;
}

/* The first that can be written to: the unit mounts the usual one read-only. */
static void
open_dir(void)
{
	static const char *const dirs[] = { "/proc/sys/user",
	    "/run/debuglantern-proc/proc/sys/user" };
	struct statvfs fs;
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (dir_fd != -1)
			close(dir_fd);
		dir_fd = open(dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir_fd != -1 && fstatvfs(dir_fd, &fs) == 0 &&
		    !(fs.f_flag & ST_RDONLY))
			return;
	}
}

static bool
read_file(const char *name, uint64_t *v)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	char text[24];
	ssize_t n;

	if (fd == -1)
		return false;
	n = read_again(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*v = strtoull(text, NULL, 10);
	return true;
}

/* All of the sum, or as much as may be had. */
static bool
lift(__rlimit_resource_t which)
{
	struct rlimit rl = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(which, &rl) == 0;
}

bool
host_limits_prepare(void)
{
	static const __rlimit_resource_t shared[] = { RLIMIT_SIGPENDING,
	    RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK, RLIMIT_NPROC };
	struct dirent *e;
	bool all = true;
	size_t i;
	DIR *dir;
	int fd;

	/* a namespace keeps those of its maker for all users in it */
	for (i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		all &= lift(shared[i]);
	open_dir();
	fd = dir_fd == -1 ? -1 : fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	dir = fd == -1 ? NULL : fdopendir(fd);
	while (dir != NULL && nfiles < FILES_MOST &&
	    (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, "max_", 4) != 0 ||
		    !read_file(e->d_name, &files[nfiles].host))
			continue;
		(void)snprintf(files[nfiles].name,
		    sizeof(files[nfiles].name), "%s", e->d_name);
		nfiles++;
	}
	if (dir != NULL)
		closedir(dir);
	return all;
}

static bool
write_file(const char *name, uint64_t v)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);
	char text[24];
	ssize_t n;

	if (fd == -1)
		return false;
	n = write(fd, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64,
	    v));
	close(fd);
	return n > 0;
}

bool
host_limits_divide(uint32_t users)
{
	bool all = nfiles > 0;
	uint64_t part;
	size_t i;

	for (i = 0; i < nfiles; i++) {
		part = files[i].host / users;
		all &= write_file(files[i].name, part > 0 ? part : 1);
	}
	return all;
}
