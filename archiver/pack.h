/* SPDX-License-Identifier: ISC */
/* The job "pack": the system's libraries become a tar.gz in the file on fd 0. */
#ifndef ARCHIVER_PACK_H
#define ARCHIVER_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"

#define PACK_ROOTS	4

/*
 * Opens the library directories that there are; dir_fds gets them, *n their
 * number.  They stay pack's.  0, or -1 after job_fail().
 */
int	pack_prepare(struct job *, int dir_fds[PACK_ROOTS], size_t *n);

/* Packs into at most max bytes.  0, or -1 after job_fail(). */
int	pack_run(struct job *, uint64_t max);

#endif
