/* SPDX-License-Identifier: ISC */
/* The files of a timeline, for whoever has a directory. */
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

int
store_files_at(int dir_fd, const char *name, struct store_files *files)
{
	int *const fds[] = { &files->calls_fd, &files->db_fd, &files->wal_fd };
	char path[NAME_MAX + 1];
	int i, saved;

	*files = (struct store_files)STORE_FILES_INIT;
	for (i = 0; i < 3; i++) {
		if (strchr(name, '/') != NULL || snprintf(path, sizeof(path),
		    "%s%s", name, suffixes[i]) >= (int)sizeof(path)) {
			errno = EINVAL;
			goto fail;
		}
		*fds[i] = openat(dir_fd, path, O_RDWR | O_CREAT | O_CLOEXEC |
		    O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
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
