/* SPDX-License-Identifier: ISC */
/* The files of a timeline, for callers that have a directory. */
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

/* SQLite finds its log beside the database by this name. */
static const char *const suffixes[] = { ".calls", ".db", ".db-wal" };

const char *
store_file_suffix(int i)
{
	return i >= 0 && i < 3 ? suffixes[i] : NULL;
}

static int
open_one(int dir_fd, const char *name, int i, int flags)
{
	char path[NAME_MAX + 1];

	if (strchr(name, '/') != NULL || snprintf(path, sizeof(path), "%s%s",
	    name, suffixes[i]) >= (int)sizeof(path)) {
		errno = EINVAL;
		return -1;
	}
	return openat(dir_fd, path, flags | O_CLOEXEC | O_NOFOLLOW |
	    O_NOCTTY | O_NONBLOCK, 0600);
}

static int
open_all(int dir_fd, const char *name, struct store_files *files, int flags)
{
	int *const fds[] = { &files->calls_fd, &files->db_fd, &files->wal_fd };
	int i, saved;

	*files = (struct store_files)STORE_FILES_INIT;
	for (i = 0; i < 3; i++) {
		*fds[i] = open_one(dir_fd, name, i, flags);
		/* a log is only there while somebody writes */
		if (*fds[i] == -1 && i == 2 && errno == ENOENT)
			*fds[i] = memfd_create("wal", MFD_CLOEXEC);
		if (*fds[i] == -1)
			goto fail;
	}
	return 0;
fail:
	saved = errno;
	while (--i >= 0)
		close(*fds[i]);
	*files = (struct store_files)STORE_FILES_INIT;
	errno = saved;
	return -1;
}

int
store_files_at(int dir_fd, const char *name, struct store_files *files)
{
	return open_all(dir_fd, name, files, O_RDWR | O_CREAT);
}

int
store_files_to_read(int dir_fd, const char *name, struct store_files *files)
{
	return open_all(dir_fd, name, files, O_RDONLY);
}
