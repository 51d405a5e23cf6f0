/* SPDX-License-Identifier: ISC */
/* The archive's bytes. */
#ifndef ARCHIVER_SOURCE_H
#define ARCHIVER_SOURCE_H

#include <sys/types.h>

#include <archive.h>

struct source {
	int fd;			/* borrowed; read by offset only */
	off_t at;
	off_t size;
	char buf[65536];
};

/*
 * Makes a (borrowed) read the regular file fd (borrowed) through s, which
 * must live as long as a.  An ARCHIVE_* code.
 */
int	source_open(struct source *s, int fd, struct archive *a);

#endif
