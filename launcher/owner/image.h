/* SPDX-License-Identifier: ISC */
/*
 * The path by which an uploaded image is executed.  The image is a memory file
 * without a name, and cannot be mounted or linked; programs look for their own
 * file in /proc/self/exe and beside it.  So a session with mounts of its own
 * gets a copy that no process can write.
 */
#ifndef LAUNCHER_OWNER_IMAGE_H
#define LAUNCHER_OWNER_IMAGE_H

#include <stddef.h>

#include "wire/run.h"

/* The last part of exec_path; empty for commands, bundles and without a name. */
const char *image_name(const struct run_spec *);
/*
 * Copies KEPT_FD to a file of that name in a file system of its own over the
 * state directory, which is read-only then, and mounts it over exec_path where
 * that is a file in the session.  False without an order for it, or where
 * nothing in the session could reach the state directory.  For the session's
 * user and mount namespace; failures end the process.
 */
bool	 image_file(const struct run_spec *);
/*
 * Without mounts: a link of that name to the fd, for an exec that comes at
 * once; image_unlink() removes it, and may be called without.
 */
void	 image_link(const struct run_spec *);
void	 image_unlink(void);
/* Absolute, in the session; empty = only the fd leads there. */
const char *image_path(void);

#endif
