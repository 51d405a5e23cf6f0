/* SPDX-License-Identifier: ISC */
/* Confinement that a job enters before it begins. */
#ifndef ARCHIVER_CAGE_H
#define ARCHIVER_CAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each takes resource limits, Landlock where the kernel has it, and a system
 * call filter that kills; the fds are borrowed and mark what stays in reach;
 * fsize is the longest file in bytes.  NULL, or the step that failed, with
 * errno: then the job must not run.
 */
const char	*cage_unpack(int root_fd, uint64_t fsize);
const char	*cage_pack(const int *dir_fds, size_t n, uint64_t fsize);

#endif
