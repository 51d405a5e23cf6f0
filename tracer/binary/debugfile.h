/* SPDX-License-Identifier: ISC */
/*
 * Debug information in a file of its own.  Files are found by the names that
 * they have by custom; what is in them only `symbols` reads.
 */
#ifndef TRACER_DEBUGFILE_H
#define TRACER_DEBUGFILE_H

#include <stdbool.h>

/* Whether an ELF file has debug information in it, by its section's names. */
bool	debugfile_is_one(int fd);
/*
 * The file for a binary of that path and build id (hexadecimal), open for
 * reading; -1 = there is none.
 */
int	debugfile_open(const char *path, const char *id);

#endif
