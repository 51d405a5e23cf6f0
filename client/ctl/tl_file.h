/* SPDX-License-Identifier: ISC */
/* Timelines in the user's own files. The files may contain anything. */
#ifndef CLIENT_CTL_TL_FILE_H
#define CLIENT_CTL_TL_FILE_H

#include <stdbool.h>

struct store;

/* The directory that tracers keep them in, opened; -1 and errno. */
int	tl_kept_dir(void);

/* Whether a word names files rather than a session. */
bool	tl_is_file(const char *word);

/* Opens one to be read, by the name of any of its files, or of all. NULL
 * after a report. */
struct store *tl_file_open(const char *path);

/* The same of a kept one; NULL without a report if there is none. */
struct store *tl_kept_open(const char *name, bool *there);

#endif
