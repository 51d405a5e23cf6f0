/* SPDX-License-Identifier: ISC */
/*
 * The path by which an uploaded image is executed.  The image is a memory file
 * without a name; the kernel calls a process after the path that it executes,
 * so this path ends in the name of the uploaded file.
 */
#ifndef LAUNCHER_IMAGE_H
#define LAUNCHER_IMAGE_H

#include "run.h"

/* False for commands and bundles, and for a name that is none. */
bool	 image_has_name(const struct run_spec *);
/*
 * Makes the path below prefix and the state directory, which must be writable
 * and the session's own.  Without one, image_path() stays empty.
 */
void	 image_link(const struct run_spec *, const char *prefix);
/*
 * The same where the session has the host's file system, for an exec that
 * comes at once; image_unlink() removes it, and may be called without.
 */
void	 image_link_aside(const struct run_spec *);
void	 image_unlink(void);
/* Absolute, in the session; empty = only the fd leads there. */
const char *image_path(void);

#endif
