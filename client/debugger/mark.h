/* SPDX-License-Identifier: ISC */
/* How much of a session's output its user has seen. */
#ifndef CLIENT_DEBUGGER_MARK_H
#define CLIENT_DEBUGGER_MARK_H

#include <stdint.h>

struct mark {
	/* filled by mark_load(), nothing to free */
	char		path[512];	/* "" where nothing can be kept */
	char		run[64];	/* when it began */
	uint64_t	offset;		/* of the first byte not yet seen */
};

/* Finds the mark for a run of a session; 0 is the offset when there is none.
 * An exit code. */
int	mark_load(struct mark *, const char *id, const char *run);

/* Keeps it. An exit code, after a report unless it is CTL_OK. */
int	mark_save(struct mark *, uint64_t offset);

#endif
