/* SPDX-License-Identifier: ISC */
/* The archiver as its owner, in a sandbox of its own. */
#ifndef LAUNCHER_JOB_H
#define LAUNCHER_JOB_H

#include "run.h"

/* flight_fns; arg is a struct job_spec, KEPT_FD2 the archiver's binary. */
/* KEPT_FD is the archive; the result is the mount namespace it is in. */
void	job_unpack(const void *arg) __attribute__((noreturn));
/* The result is a file without a name. */
void	job_pack(const void *arg) __attribute__((noreturn));

#endif
