/* SPDX-License-Identifier: ISC */
/* Files that are there when they are whole. */
#ifndef CLIENT_CTL_WHOLE_H
#define CLIENT_CTL_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

struct whole {
	const char	*path;		/* borrowed; as messages name it */
	char		*part;		/* what is renamed at last, or NULL */
	int		 out_fd;
};

/*
 * Opens a file beside path, path itself where it is a device or a pipe, or
 * standard output for "-". From now on SIGINT, SIGTERM and SIGHUP end what is
 * waited for, and writing, but not the program, so that nothing is left. -1
 * after a report. whole_end() is for what has been opened.
 */
int	whole_begin(struct whole *, const char *path);

/* Writes all of it; -1 and errno. */
int	whole_write(struct whole *, const void *, size_t len);

/* Reports what errno says of it. Returns CTL_USAGE. */
int	whole_failed(const struct whole *);

/* Gives the file its name, or removes it unless it is good. An exit code,
 * CTL_USAGE after a report. */
int	whole_end(struct whole *, bool good);

#endif
