/* SPDX-License-Identifier: ISC */
/* openat2(2), for which libc has no wrapper. */
#ifndef ARCHIVER_BENEATH_H
#define ARCHIVER_BENEATH_H

#include <sys/types.h>

#include <linux/openat2.h>
#include <stdint.h>

/* No link is followed, no mount entered: for everything that is written. */
#define BENEATH_STRICT	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | \
			    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/*
 * Opens path below dir_fd, close-on-exec; resolve is RESOLVE_*.  mode must
 * be 0 without O_CREAT.  The caller owns the fd; -1 and errno else.
 */
int	beneath_open(int dir_fd, const char *path, int flags, mode_t mode,
	    uint64_t resolve);

#endif
