/* SPDX-License-Identifier: ISC */
/* Files and directories met so far, by device and inode. */
#ifndef ARCHIVER_SEEN_H
#define ARCHIVER_SEEN_H

#include <sys/types.h>

#include <stddef.h>

struct seen {
	dev_t dev;
	ino_t ino;
	char *name;		/* the first one it was packed under */
	unsigned int aliases;	/* times that a link led to it */
};

struct seen_table {
	struct seen *slots;	/* NULL name = free */
	size_t nslots;		/* a power of two */
	size_t used;
};

/* NULL if not there.  Valid until the next seen_add(). */
struct seen	*seen_find(const struct seen_table *, dev_t, ino_t);
/* name is copied; NULL without memory. */
struct seen	*seen_add(struct seen_table *, dev_t, ino_t, const char *name);

#endif
