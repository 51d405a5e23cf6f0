/* SPDX-License-Identifier: ISC */
/* Where the archive's bytes come from, and what may be made of them. */
#ifndef ARCHIVER_SOURCE_H
#define ARCHIVER_SOURCE_H

#include <sys/types.h>

#include <archive.h>
#include <locale.h>
#include <stdbool.h>

struct source {
	struct archive *a;	/* the reader */
	locale_t utf8;
	int fd;			/* borrowed; read by offset only */
	off_t at;
	off_t size;
	char buf[65536];
};

/*
 * Before the sandbox closes: makes the reader for the formats that we take,
 * and has libc load what it would load on first use.  NULL, or what is wrong.
 */
const char	*source_prepare(struct source *);

/* Begins to read the regular file fd (borrowed).  An ARCHIVE_* code. */
int	 source_open(struct source *, int fd);

/* Whether the file begins with these bytes. */
bool	 source_begins(const struct source *, const char *magic);

/* Frees the reader. */
void	 source_free(struct source *);

#endif
