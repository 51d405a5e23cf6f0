/* SPDX-License-Identifier: ISC */
/*
 * An adapter may end because its program did, and before it could say so.
 * The directory of a process in /proc stays that process's, whatever becomes
 * of the number.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trail.h"

/* Fields of "stat", counted as proc(5) does; the name is the second. */
#define FIELD_STATE	3
#define FIELD_THREADS	20
#define FIELD_STATUS	52

static int dir_fd = -1;

void
trail_begin(pid_t pid)
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

bool
trail_over(int *status)
{
	char text[1024];
	const char *state, *s;
	ssize_t n;
	int fd;

	*status = 0;
	if (dir_fd == -1)
		return false;
	fd = openat(dir_fd, "stat", O_RDONLY | O_CLOEXEC);
	n = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd != -1)
		close(fd);
	/* its parent has taken note of its end: there is nothing left of it */
	if (n <= 0)
		return true;
	text[n] = '\0';
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
