/* SPDX-License-Identifier: ISC */
/*
 * An adapter may end because its program did, and before it could say so, or
 * say that the program runs when it does not.
 * The directory of a process in /proc stays that process's, whatever becomes
 * of the number.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_watch.h"

/* Fields of "stat", counted as proc(5) does; the name is the second. */
#define FIELD_STATE	3
#define FIELD_THREADS	20
#define FIELD_STATUS	52
#define STAT_MAX 1024
#define STATUS_MAX	8192	/* its last lines are the counts of switches */

static int dir_fd = -1;

void
procwatch_begin(pid_t pid)
{
	char path[32];

	if (dir_fd != -1)
		close(dir_fd);
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir_fd = pid <= 0 ? -1 :
	    open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Where that field begins; the name before it may have any sign in it. */
static const char *
field(const char *stat, int which)
{
	const char *p = strrchr(stat, ')');
	int i;

	for (i = FIELD_STATE - 1; i < which && p != NULL; i++) {
		p = strchr(p, ' ');
		p = p == NULL ? NULL : p + 1;
	}
	return p;
}

/* "stat" below a directory, which begins with path; false = it is gone. */
static bool
read_stat(int at_fd, const char *path, char *text, size_t size)
{
	int fd = openat(at_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read(fd, text, size - 1);

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool
procwatch_over(int *status)
{
	char text[STAT_MAX];
	const char *state, *s;

	*status = 0;
	if (dir_fd == -1)
		return false;
	/* its parent has taken note of its end: there is nothing left of it */
	if (!read_stat(dir_fd, "stat", text, sizeof(text)))
		return true;
	state = field(text, FIELD_STATE);
	if (state == NULL || strchr("ZX", *state) == NULL)
		return false;
	/* its first thread has ended alone: the others are the process */
	if ((s = field(text, FIELD_THREADS)) != NULL && atoi(s) > 1)
		return false;
	if ((s = field(text, FIELD_STATUS)) != NULL)
		*status = atoi(s);
	return true;
}

/* A thread that has ended says nothing about the others. */
static bool
thread_runs(int tasks_fd, const char *tid)
{
	char path[64], text[STAT_MAX];
	const char *state;

	(void)snprintf(path, sizeof(path), "%s/stat", tid);
	if (!read_stat(tasks_fd, path, text, sizeof(text)))
		return false;
	state = field(text, FIELD_STATE);
	return state != NULL && strchr("tZX", *state) == NULL;
}

bool
procwatch_traced(void)
{
	static const char key[] = "\nTracerPid:\t";
	char text[STAT_MAX];
	const char *p;

	if (dir_fd == -1 || !read_stat(dir_fd, "status", text, sizeof(text)) ||
	    (p = strstr(text, key)) == NULL)
		return false;
	return atoi(p + strlen(key)) != 0;
}

/* The threads; NULL if nobody can know them.  The caller closes it. */
static DIR *
open_tasks(int *tasks_fd)
{
	DIR *dir;

	*tasks_fd = dir_fd == -1 ? -1 : openat(dir_fd, "task",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = *tasks_fd == -1 ? NULL : fdopendir(*tasks_fd);
	if (dir == NULL && *tasks_fd != -1)
		close(*tasks_fd);
	return dir;
}

/* Both kinds: those that a thread makes itself, and those that it suffers. */
static uint64_t
thread_switches(int tasks_fd, const char *tid)
{
	static const char key[] = "ctxt_switches:\t";
	char path[64], text[STATUS_MAX];
	const char *p = text;
	uint64_t sum = 0;

	(void)snprintf(path, sizeof(path), "%s/status", tid);
	if (!read_stat(tasks_fd, path, text, sizeof(text)))
		return 0;
	for (; (p = strstr(p, key)) != NULL; p += strlen(key))
		sum += strtoull(p + strlen(key), NULL, 10);
	return sum;
}

uint64_t
procwatch_switches(void)
{
	struct dirent *de;
	uint64_t sum = 0;
	int tasks_fd;
	DIR *dir = open_tasks(&tasks_fd);

	while (dir != NULL && (de = readdir(dir)) != NULL)
		if (de->d_name[0] != '.')
			sum += thread_switches(tasks_fd, de->d_name);
	if (dir != NULL)
		closedir(dir);
	return sum;
}

bool
procwatch_stands(void)
{
	int status, tasks_fd;
	DIR *dir = open_tasks(&tasks_fd);
	bool stands = dir != NULL;
	struct dirent *de;

	while (stands && (de = readdir(dir)) != NULL)
		stands =
		    de->d_name[0] == '.' || !thread_runs(tasks_fd, de->d_name);
	if (dir != NULL)
		closedir(dir);
	return stands && !procwatch_over(&status);
}
