/* SPDX-License-Identifier: ISC */
/*
 * How much of a session's output its user has seen: a small file of the user's
 * own, so that one reader takes nothing from another.  A reader under a name
 * of its own ($DEBUGGER_CLIENT) has a mark of its own.
 */
#include <sys/stat.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/report.h"
#include "mark.h"

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz0123456789_.-";

/* The directory, where there can be one. */
static int
directory(char *buf, size_t size)
{
	const char *base = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
	int n = -1;

	if (base != NULL && *base == '/')
		n = snprintf(buf, size, "%s/debugger", base);
	else if (home != NULL && *home == '/') {
		n = snprintf(buf, size, "%s/.cache", home);
		if (n > 0 && (size_t)n < size)
			mkdir(buf, 0700);
		n = snprintf(buf, size, "%s/.cache/debugger", home);
	}
	return n > 0 && (size_t)n < size ? 0 : -1;
}

static void
find_path(struct mark *m, const char *id)
{
	const char *client = getenv("DEBUGGER_CLIENT");
	char dir[384];

	*m->path = '\0';
	if (client == NULL || client[strspn(client, plain)] != '\0' ||
	    strlen(client) > 40)
		client = "";
	if (id[strspn(id, plain)] != '\0' || strlen(id) > 64 ||
	    directory(dir, sizeof(dir)) == -1)
		return;
	if ((size_t)snprintf(m->path, sizeof(m->path), "%s/%s%s%s", dir, id,
	    *client != '\0' ? "@" : "", client) >= sizeof(m->path))
		*m->path = '\0';
}

int
mark_load(struct mark *m, const char *id, const char *run)
{
	char text[128] = "", *blank;
	int mark_fd;
	ssize_t n;

	memset(m, 0, sizeof(*m));
	find_path(m, id);
	strlcpy(m->run, run, sizeof(m->run));
	mark_fd = *m->path == '\0' ? -1 : open(m->path, O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW);
	if (mark_fd == -1)
		return CTL_OK;
	n = read(mark_fd, text, sizeof(text) - 1);
	close(mark_fd);
	/* "RUN OFFSET"; that of another run says nothing about this one */
	if (n > 0 && (blank = strrchr(text, ' ')) != NULL) {
		*blank = '\0';
		if (strcmp(text, m->run) == 0)
			m->offset = strtoull(blank + 1, NULL, 10);
	}
	return CTL_OK;
}

int
mark_save(struct mark *m, uint64_t offset)
{
	char dir[512], *slash;
	int mark_fd, saved = 0;

	if (*m->path == '\0' || offset == m->offset)
		return CTL_OK;
	strlcpy(dir, m->path, sizeof(dir));
	if ((slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	mkdir(dir, 0700);
	mark_fd = open(m->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
	    O_NOFOLLOW, 0600);
	if (mark_fd == -1 || dprintf(mark_fd, "%s %" PRIu64 "\n", m->run,
	    offset) < 0)
		saved = errno;
	if (mark_fd != -1)
		close(mark_fd);
	if (saved == 0)
		return CTL_OK;
	report("cannot remember what has been seen: %s: %s", m->path,
	    strerror(saved));
	return CTL_USAGE;
}
