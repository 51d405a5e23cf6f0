/* SPDX-License-Identifier: ISC */
/* Disk space that the timelines in a directory take. */
#ifndef TRACER_TIMEUSED_H
#define TRACER_TIMEUSED_H

#include <stdint.h>

#include "base/text.h"

/*
 * Bytes of all of them, but not of the calls of the one that is named except
 * (NULL = none).  dir_fd is borrowed; -1 = there is no directory: 0.
 */
uint64_t timeused_bytes(int dir_fd, const char *except);
/* Adds "NAME (1.5 GiB), NAME (2.0 MiB, of a session)": the largest few. */
void	 timeused_largest(int dir_fd, struct text *);
/* Adds "1.5 GiB". */
void	 timeused_size(struct text *, uint64_t bytes);

#endif
