/* SPDX-License-Identifier: ISC */
/* The program that a bundle is uploaded for. */
#ifndef ARCHIVER_EXECPATH_H
#define ARCHIVER_EXECPATH_H

#include <stddef.h>

#include "base/elfhdr.h"
#include "report.h"

/*
 * The name alone, before any work is done for it; max is the longest path in
 * bytes.  0, or -1 after job_fail().
 */
int	execpath_check(struct job *, const char *exec_path, size_t max);

/*
 * The file below root_fd (borrowed): there, regular, a program for this
 * machine.  Gives its owner the right to execute it.  As above.
 */
int	execpath_ready(struct job *, int root_fd, const char *exec_path,
	    enum elf_32bit);

#endif
