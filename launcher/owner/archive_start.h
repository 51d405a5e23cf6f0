/* SPDX-License-Identifier: ISC */
/* The archiver as its owner, in a sandbox of its own. */
#ifndef LAUNCHER_OWNER_ARCHIVE_START_H
#define LAUNCHER_OWNER_ARCHIVE_START_H

#include "wire/run.h"

/*
 * Each is an owner_fn; arg is a struct job_spec, KEPT_FD2 the archiver's
 * binary.
 */
/* KEPT_FD is the archive; the result is the mount namespace it is in. */
void	archiver_unpack(const void *arg) __attribute__((noreturn));
/* The result is a file without a name. */
void	archiver_pack(const void *arg) __attribute__((noreturn));

#endif
