/* SPDX-License-Identifier: ISC */
/*
 * The owner of a socket by way of /proc/PID/fd, and whether it belongs to a
 * session: by its pid namespace, or by having the daemon above it.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "holders.h"
#include "origin.h"

/* "pid:[4026531836]", "socket:[123]" */
#define LINK_MAX_BYTES	64
#define ANCESTORS_MAX	64

static char	 own_ns[LINK_MAX_BYTES];
static pid_t	 daemon_pid;
/* clients come back: the holder found last is tried first */
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
	daemon_pid = getppid();
	return read_link(AT_FDCWD, "/proc/self/ns/pid", own_ns,
	    sizeof(own_ns));
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

	if (fd == -1) {
		origin_missed();
		return false;
	}
	d = fdopendir(fd);
	if (d == NULL) {
		origin_missed();
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

/* The parent out of "pid (name) state ppid ..."; -1 when it is not there. */
static pid_t
parent_of(pid_t pid)
{
	char buf[256], *end;
	pid_t parent;
	ssize_t n;
	int fd;

	(void)snprintf(buf, sizeof(buf), "/proc/%d/stat", pid);
	fd = open(buf, O_RDONLY | O_CLOEXEC);
	if (fd == -1) {
		origin_missed();
		return -1;
	}
	n = read_again(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	/* the name is at most 15 bytes and may hold parentheses itself */
	end = strrchr(buf, ')');
	if (end == NULL || sscanf(end, ") %*c %d", &parent) != 1)
		return -1;
	return parent;
}

bool
holders_hidden(void)
{
	int fd = open("/proc/1/stat", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT || errno == EACCES || errno == EPERM;
	close(fd);
	return false;
}

/*
 * The daemon is the subreaper of its launchers, so it stays an ancestor of the
 * processes that they started for as long as it lives.  A process that cannot
 * be followed up to init counts as a session's.
 */
bool
holders_is_session(pid_t pid)
{
	int i;

	for (i = 0; i < ANCESTORS_MAX && pid != -1 && pid != daemon_pid; i++) {
		if (pid <= 1)
			return false;
		pid = parent_of(pid);
	}
	return true;
}

static enum holder
judge(int pid_fd, pid_t pid)
{
	char ns[LINK_MAX_BYTES];

	if (read_link(pid_fd, "ns/pid", ns, sizeof(ns)) == -1)
		return HOLDER_NONE;
	if (strcmp(ns, own_ns) != 0 || holders_is_session(pid))
		return HOLDER_SESSION;
	return HOLDER_OUTSIDE;
}

static enum holder
try_pid(pid_t pid, uid_t uid, const char *want)
{
	enum holder h = HOLDER_NONE;
	struct stat st;
	int fd = open_pid(pid);

	if (fd == -1) {
		origin_missed();
		return HOLDER_NONE;
	}
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

	if (d == NULL) {
		origin_missed();
		return NULL;
	}
	while ((de = readdir(d)) != NULL) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		if (len == cap) {
			cap = cap == 0 ? 512 : cap * 2;
			bigger = reallocarray(pids, cap, sizeof(*pids));
			if (bigger == NULL) {
				origin_missed();
				break;
			}
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
