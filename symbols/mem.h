/* SPDX-License-Identifier: ISC */
/*
 * Memory of a process that lives for one binary: what it cannot get ends it,
 * and with it what was asked about that binary alone.
 */
#ifndef SYMBOLS_MEM_H
#define SYMBOLS_MEM_H

#include <stddef.h>

/* Zeroed; never NULL. */
void	*mem_zero(size_t n, size_t size);
/*
 * Makes room in *p, which has *cap places of so many bytes, for one more
 * than n.
 */
void	 mem_room(void *p, size_t *cap, size_t n, size_t size);

#endif
