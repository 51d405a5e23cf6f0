/* SPDX-License-Identifier: ISC */
/*
 * Indexes that were made before: sealed files in memory, by build id and size
 * of the binary (a stripped copy has the same build id).  A binary without a
 * build id is read anew.
 */
#ifndef TRACER_SYMCACHE_H
#define TRACER_SYMCACHE_H

#include <stddef.h>
#include <stdint.h>

/* Indexes that are kept, those used last. */
#define SYMCACHE_MAX	32

/* Borrowed until the next symcache_put(); -1 when there is none. */
int	symcache_get(const char *build_id, uint64_t size);
/* Takes fd. */
void	symcache_put(const char *build_id, uint64_t size, int fd);
void	symcache_clear(void);

#endif
