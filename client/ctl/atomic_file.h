/* SPDX-License-Identifier: ISC */
/* Files that are there when they are whole. */
#ifndef CLIENT_CTL_ATOMIC_FILE_H
#define CLIENT_CTL_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct atomic_file {
	const char	*path;		/* borrowed; as messages name it */
	char		*part;		/* what is renamed at last, or NULL */
	int		 out_fd;
};

/*
 * Opens a file beside path, path itself where it is a device or a pipe, or
 * standard output for "-". From now on SIGINT, SIGTERM and SIGHUP end what is
 * waited for, and writing, but not the program, so that nothing is left. -1
 * after a report. atomic_file_end() is for what has been opened.
 */
int	atomic_file_begin(struct atomic_file *, const char *path);

/* Writes all of it; -1 and errno. */
int	atomic_file_write(struct atomic_file *, const void *, size_t len);

/* Reports what errno says of it. Returns CTL_USAGE. */
int	atomic_file_failed(const struct atomic_file *);

/* Gives the file its name, or removes it unless it is good. An exit code,
 * CTL_USAGE after a report. */
int	atomic_file_end(struct atomic_file *, bool good);

#endif
