/* SPDX-License-Identifier: ISC */
/* Files of a test: below $TMPDIR, since programs may not run in /tmp. */
#ifndef DL_TEST_TMP_H
#define DL_TEST_TMP_H

#include <stdio.h>
#include <stdlib.h>

/* Puts "$TMPDIR/name" into path; 0, or -1 if it has no room there. */
static int
tmp_path(char *path, size_t size, const char *name)
{
	const char *dir = getenv("TMPDIR");
	int n;

	n = snprintf(path, size, "%s/%s", dir == NULL || *dir != '/' ?
	    "/tmp" : dir, name);
	return n > 0 && (size_t)n < size ? 0 : -1;
}

/* The same, and makes a directory of that name, which ends in XXXXXX. */
static inline int
tmp_dir(char *path, size_t size, const char *name)
{
	if (tmp_path(path, size, name) == -1 || mkdtemp(path) == NULL)
		return -1;
	return 0;
}

#endif
