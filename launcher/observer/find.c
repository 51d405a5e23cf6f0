/* SPDX-License-Identifier: ISC */
/*
 * Numbers of processes come from a session's debugger, which is as little to
 * be trusted as the program: each is looked up where the kernel says whose it
 * is, by the fd that is signalled afterwards.
 */
#include <sys/pidfd.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "find.h"
#include "launcher/base/ended.h"

/* Parents of parents: deeper, and it is not looked for. */
#define DEPTH_MAX	256
/* With some thousands of groups in it. */
#define STATUS_MAX	65536

/* The text behind key in a file of /proc, "" without; the key has its \n. */
static const char *
text_of(int proc_fd, const char *path, const char *key)
{
	static char text[STATUS_MAX];
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read_again(fd, text, sizeof(text) - 1);
	const char *p;

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, key);
	return p == NULL ? "" : p + strlen(key);
}

pid_t
find_pid(int proc_fd, int pidfd)
{
	char path[64];
	pid_t pid;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	pid = (pid_t)strtol(text_of(proc_fd, path, "\nPid:\t"), NULL, 10);
	return has_ended(pidfd) || pid < 0 ? 0 : pid;
}

/* The last of its numbers: in the innermost namespace. */
static pid_t
find_inner(int proc_fd, pid_t pid)
{
	char path[32], *end;
	const char *p;
	long n = 0;

	(void)snprintf(path, sizeof(path), "%d/status", pid);
	p = text_of(proc_fd, path, "\nNSpid:\t");
	while (*p >= '0' && *p <= '9') {
		n = strtol(p, &end, 10);
		p = *end == '\t' ? end + 1 : end;
	}
	return (pid_t)n;
}

static pid_t
parent_of(int proc_fd, pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "%d/status", pid);
	return (pid_t)strtol(text_of(proc_fd, path, "\nPPid:\t"), NULL, 10);
}

/* A stub is the parent of whatever else of its session has lost its own. */
static bool
is_below(int proc_fd, pid_t pid, pid_t stub)
{
	int depth;

	for (depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		pid = parent_of(proc_fd, pid);
		if (pid == stub)
			return stub > 1;
	}
	return false;
}

static bool
is_in(int leaf_fd, pid_t pid)
{
	int fd = openat(leaf_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd == -1 ? NULL : fdopen(fd, "r");
	bool found = false;
	int n;

	if (f == NULL) {
		if (fd != -1)
			close(fd);
		return false;
	}
	while (!found && fscanf(f, "%d", &n) == 1)
		found = n == pid;
	fclose(f);
	return found;
}

static bool
belongs(int proc_fd, pid_t pid, const struct cgroup_leaf *leaf, int stub_fd)
{
	int leaf_fd = leaf_open(leaf);
	bool yes;

	if (leaf_fd == -1)
		return is_below(proc_fd, pid, find_pid(proc_fd, stub_fd));
	yes = is_in(leaf_fd, pid);
	close(leaf_fd);
	return yes;
}

int
find_process(int proc_fd, pid_t pid, const struct cgroup_leaf *leaf,
    int stub_fd, pid_t *inner)
{
	int fd = pidfd_open(pid, 0);

	if (fd == -1)
		return -1;
	*inner = find_inner(proc_fd, pid);
	/* as long as it lives all that was read is about itself */
	if (*inner > 0 && (leaf == NULL ||
	    belongs(proc_fd, pid, leaf, stub_fd)) && !has_ended(fd))
		return fd;
	close(fd);
	return -1;
}
