/* SPDX-License-Identifier: ISC */
/* Which names may stand in a bundle. */
#ifndef ARCHIVER_PATHS_H
#define ARCHIVER_PATHS_H

#include <stddef.h>

/* Deeper trees are of no use to a program, but costly to walk and remove. */
#define PATH_DEPTH_MAX	128

/*
 * Copies a member's name to dst (size bytes) without "./", "//" and trailing
 * "/", so that it is "" for the bundle's root or components joined by "/".
 * max is the longest result allowed, in bytes.  NULL, or what is wrong: the
 * end of a sentence that begins with the name.
 */
const char *path_clean(char *dst, size_t size, const char *src, size_t max);

/*
 * Whether a symlink at `at` (clean) with this target can never lead out of
 * the bundle.  NULL, or what is wrong, as above.
 */
const char *path_link_target(const char *at, const char *target, size_t max);

#endif
