/* SPDX-License-Identifier: ISC */
/* The job "unpack": an archive on fd 0 becomes the tree below a directory. */
#ifndef ARCHIVER_UNPACK_H
#define ARCHIVER_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/elfhdr.h"
#include "report.h"

struct unpack_limits {
	uint64_t bytes;		/* apparent sizes of files, and link targets */
	uint64_t members;	/* headers read and directories implied */
	size_t path;		/* bytes of a member's path */
	enum elf_32bit narrow;	/* 32-bit programs */
};

/*
 * Before the sandbox closes: makes the reader, so that whatever libarchive
 * and libc load on first use is loaded.  0, or -1 after job_fail().
 */
int	unpack_prepare(struct job *);

/*
 * Unpacks the archive into root_fd (borrowed, an empty directory) and makes
 * exec_path in it executable.  0, or -1 after job_fail().
 */
int	unpack_run(struct job *, int root_fd, const struct unpack_limits *,
	    const char *exec_path);

#endif
