/* SPDX-License-Identifier: ISC */
/*
 * Reading an index of functions (symbols/index.h).  The process that made the
 * index has read hostile bytes: all of the index is checked before any of it
 * is used.
 */
#ifndef TRACER_SYMINDEX_H
#define TRACER_SYMINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../symbols/index.h"

struct symindex {
	const struct sym_header	*header;
	const struct sym_func	*funcs;		/* header->nfuncs, by address */
	const char		*strs;
	void			*map;		/* owned */
	size_t			 size;
	bool			 mapped;	/* else it is malloc'ed */
};

/*
 * Maps a sealed memfd, and copies any other file, whose bytes could still
 * change.  Borrows fd.  -1 and a sentence in why (size > 0) when it is not
 * such an index.
 */
int	 symindex_open(struct symindex *, int fd, char *why, size_t size);
/* The same for bytes in memory, which are borrowed until symindex_close(). */
int	 symindex_check(struct symindex *, const void *, size_t len, char *why,
	    size_t size);
void	 symindex_close(struct symindex *);
/* A string of it; "" for none.  off is of a checked index's function. */
const char *symindex_str(const struct symindex *, uint32_t off);
/* The function that has addr (unrelocated) in it, or NULL. */
const struct sym_func *symindex_at(const struct symindex *, uint64_t addr);

#endif
