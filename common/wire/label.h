/* SPDX-License-Identifier: ISC */
/* Labels: names that owners give their sessions. */
#ifndef DL_LABEL_H
#define DL_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* So many characters of an id are no label. */
#define LABEL_ID_MIN	4

/* len bytes, LABEL_MAX at most; no bytes at all take a label away. */
bool	 label_is_good(const char *, size_t len);

/*
 * Makes the default label of a traced session: the program's name and the time
 * "when" in UTC, "name-2026-02-05-14h32".  There is room for a number behind
 * it.  label has LABEL_MAX + 1 bytes.
 */
void	 label_for_program(const char *path, time_t when, char *label);

/*
 * The name of an uploaded program: the last part of a path that a client gave,
 * without control characters and what is not UTF-8.  Empty where there is
 * none.  name has FILE_NAME_LEN + 1 bytes.
 */
void	 label_file_name(const char *path, size_t len, char *name);

/*
 * The absolute path of an uploaded program where it is one that can be used
 * as it stands, else the name alone.  file has EXEC_PATH_MAX bytes.
 */
void	 label_file(const char *path, size_t len, char *file);

#endif
