/* SPDX-License-Identifier: ISC */
/*
 * The adapter tells the program's pid as its own namespace counts, users are
 * shown the host's.  Only /proc knows both.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostpid.h"

/* With some thousands of groups in it. */
#define STATUS_MAX	65536
#define NS_TEXT		64

/* "pid:[4026531836]"; false when this process may not look there. */
static bool
namespace_of(pid_t pid, char text[NS_TEXT])
{
	char path[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	n = readlink(path, text, NS_TEXT - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The last of its pids: that of the innermost namespace. */
static pid_t
innermost(pid_t pid)
{
	static char text[STATUS_MAX];
	char path[32], *p, *end;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "\nNSpid:");
	if (p == NULL || (end = strchr(p + 1, '\n')) == NULL)
		return 0;
	*end = '\0';
	p = strrchr(p, '\t');
	return p == NULL ? 0 : (pid_t)strtol(p + 1, NULL, 10);
}

pid_t
hostpid(pid_t adapter, pid_t inner)
{
	char ours[NS_TEXT], theirs[NS_TEXT], seen[NS_TEXT];
	pid_t pid, found = 0;
	struct dirent *de;
	DIR *dir;

	if (!namespace_of(adapter, theirs) || !namespace_of(getpid(), ours))
		return 0;
	if (strcmp(ours, theirs) == 0)
		return inner;
	dir = opendir("/proc");
	while (dir != NULL && found == 0 && (de = readdir(dir)) != NULL) {
		pid = (pid_t)strtol(de->d_name, NULL, 10);
		if (pid > 0 && innermost(pid) == inner &&
		    namespace_of(pid, seen) && strcmp(seen, theirs) == 0)
			found = pid;
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}
