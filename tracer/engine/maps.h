/* SPDX-License-Identifier: ISC */
/* A process's mappings, as the kernel lists them. */
#ifndef DL_TRACER_MAPS_H
#define DL_TRACER_MAPS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t lo, hi, off, inode;
	uint32_t major, minor;
	bool	 read, write, exec, shared;
	bool	 agent;		/* of the agent's memfd */
	bool	 special;	/* [vdso], [stack] and the like */
};

struct maps {
	struct map *v;
	size_t	 n;
};

/*
 * Under which number a process's memory and files are to be seen: it outlives
 * its first thread, of which /proc has nothing then.
 */
pid_t	 maps_task(pid_t);
/* False: errno.  Free it in any case. */
bool	 maps_read(pid_t, struct maps *);
void	 maps_free(struct maps *);
/* NULL: nothing is mapped there. */
const struct map *maps_at(const struct maps *, uint64_t addr);
/*
 * Whether a mapping from offset off begins to map its file anew; the first
 * `seen` bytes of the file are mapped below.  A file may be mapped twice, side
 * by side.  If it is loaded once, only its first page can be in two mappings.
 */
bool	 maps_begins(uint64_t off, uint64_t seen);
/*
 * The lowest mapping of the file that this one is of, which is where its
 * first byte is mapped if that is; the mapping itself if it is of no file.
 */
const struct map *maps_base(const struct maps *, const struct map *);
/*
 * An unused range of len bytes (a multiple of 4096) within `reach` of all of
 * [lo, hi), below it if possible, as what grows is above.  0: none.
 */
uint64_t maps_gap(const struct maps *, uint64_t lo, uint64_t hi,
	    uint64_t len, uint64_t reach);

#endif
