/* SPDX-License-Identifier: ISC */
/*
 * The owner of a socket by way of /proc/PID/fd, and whether it belongs to a
 * session: by its pid namespace, or by having the daemon or a session's stub
 * above it.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holders.h"
#include "log.h"

/* "pid:[4026531836]", "socket:[123]" */
#define LINK_MAX_BYTES	64
#define ANCESTORS_MAX	64
/* A stub is forked from the launcher and keeps its name. */
#define STUB_NAME	"launcher"

static char	 own_ns[LINK_MAX_BYTES];
static char	 stub_exe[PATH_MAX];
static pid_t	 daemon_pid;
/* clients come back: whoever was found last is looked at first */
static pid_t	 last_holder;

/* Reads a link that is shorter than size; -1 for anything else. */
static int
read_link(int dir_fd, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(dir_fd, name, buf, size);

	if (n < 0 || (size_t)n == size)
		return -1;
	buf[n] = '\0';
	return 0;
}

int
holders_init(void)
{
	char *slash;

	daemon_pid = getppid();
	if (read_link(AT_FDCWD, "/proc/self/ns/pid", own_ns,
	    sizeof(own_ns)) == -1 ||
	    read_link(AT_FDCWD, "/proc/self/exe", stub_exe,
	    sizeof(stub_exe) - sizeof(STUB_NAME)) == -1)
		return -1;
	slash = strrchr(stub_exe, '/');
	if (slash != NULL)
		memcpy(slash + 1, STUB_NAME, sizeof(STUB_NAME));
	return 0;
}

static int
open_pid(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool
has_socket(int pid_fd, const char *want)
{
	int fd = openat(pid_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[LINK_MAX_BYTES];
	struct dirent *de;
	bool found = false;
	DIR *d;

	if (fd == -1)
		return false;
	d = fdopendir(fd);
	if (d == NULL) {
		close(fd);
		return false;
	}
	while (!found && (de = readdir(d)) != NULL)
		found = de->d_type == DT_LNK &&
		    read_link(fd, de->d_name, link, sizeof(link)) == 0 &&
		    strcmp(link, want) == 0;
	closedir(d);
	return found;
}

/* Name and parent out of "pid (name) state ppid ...". */
static int
read_stat(int pid_fd, char name[32], pid_t *parent)
{
	int fd = openat(pid_fd, "stat", O_RDONLY | O_CLOEXEC);
	char buf[256], *open_paren, *close_paren;
	ssize_t n;

	if (fd == -1)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	open_paren = strchr(buf, '(');
	/* the name is at most 15 bytes and may hold parentheses itself */
	close_paren = strrchr(buf, ')');
	if (open_paren == NULL || close_paren == NULL ||
	    sscanf(close_paren, ") %*c %d", parent) != 1)
		return -1;
	*close_paren = '\0';
	(void)snprintf(name, 32, "%s", open_paren + 1);
	return 0;
}

/*
 * A stub that lost its launcher hangs below init.  Its name tells it from
 * other programs, and only the stub itself could change that; a namesake is
 * told apart by its file.  A stub's file cannot be read, as it is not
 * dumpable.
 */
static bool
is_stub(int pid_fd, const char *name)
{
	char exe[PATH_MAX];

	if (strcmp(name, STUB_NAME) != 0)
		return false;
	return read_link(pid_fd, "exe", exe, sizeof(exe)) == -1 ||
	    strcmp(exe, stub_exe) == 0;
}

/* Whoever cannot be followed up to init counts as a session. */
static bool
descends_from_daemon(pid_t pid)
{
	char name[32];
	bool stub;
	int i, fd;

	for (i = 0; i < ANCESTORS_MAX && pid != daemon_pid; i++) {
		if (pid <= 1)
			return false;
		fd = open_pid(pid);
		if (fd == -1)
			return true;
		stub = read_stat(fd, name, &pid) == -1 || is_stub(fd, name);
		close(fd);
		if (stub)
			return true;
	}
	return true;
}

static enum holder
judge(int pid_fd, pid_t pid)
{
	char ns[LINK_MAX_BYTES];

	if (read_link(pid_fd, "ns/pid", ns, sizeof(ns)) == -1)
		return HOLDER_NONE;
	if (strcmp(ns, own_ns) != 0 || descends_from_daemon(pid))
		return HOLDER_SESSION;
	return HOLDER_OUTSIDE;
}

static enum holder
try_pid(pid_t pid, uid_t uid, const char *want)
{
	enum holder h = HOLDER_NONE;
	struct stat st;
	int fd = open_pid(pid);

	if (fd == -1)
		return HOLDER_NONE;
	if (fstat(fd, &st) == 0 && st.st_uid == uid && has_socket(fd, want))
		h = judge(fd, pid);
	close(fd);
	return h;
}

static int
by_age(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Every pid, the highest first; the caller frees.  NULL with errno. */
static pid_t *
list_pids(size_t *n)
{
	DIR *d = opendir("/proc");
	size_t cap = 0, len = 0;
	pid_t *pids = NULL, *bigger;
	struct dirent *de;

	if (d == NULL)
		return NULL;
	while ((de = readdir(d)) != NULL) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		if (len == cap) {
			cap = cap == 0 ? 512 : cap * 2;
			bigger = reallocarray(pids, cap, sizeof(*pids));
			if (bigger == NULL)
				break;
			pids = bigger;
		}
		pids[len++] = (pid_t)strtol(de->d_name, NULL, 10);
	}
	closedir(d);
	if (len > 0)
		qsort(pids, len, sizeof(*pids), by_age);
	*n = len;
	return pids;
}

enum holder
holders_find(uid_t uid, uint32_t inode)
{
	char want[LINK_MAX_BYTES];
	enum holder h = HOLDER_NONE;
	pid_t *pids;
	size_t i, n = 0;

	(void)snprintf(want, sizeof(want), "socket:[%u]", inode);
	if (last_holder != 0 &&
	    (h = try_pid(last_holder, uid, want)) != HOLDER_NONE)
		return h;
	pids = list_pids(&n);
	for (i = 0; i < n && h == HOLDER_NONE; i++) {
		h = try_pid(pids[i], uid, want);
		if (h != HOLDER_NONE)
			last_holder = pids[i];
	}
	free(pids);
	return h;
}
