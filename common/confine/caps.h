/* SPDX-License-Identifier: ISC */
/* Capability sets, by system call. */
#ifndef DL_CAPS_H
#define DL_CAPS_H

#include <stdint.h>

#define CAP_BIT(cap)	((uint64_t)1 << (cap))

/* Sets permitted and effective to keep, inheritable to inherit.  -1, errno. */
int	caps_set(uint64_t keep, uint64_t inherit);
/* Makes permitted ones effective, and no others.  -1, errno. */
int	caps_raise(uint64_t raise);
/* Takes every capability but those in keep out of the bounding set. */
int	caps_bound(uint64_t keep);
/* Raises ambient capabilities, which must be permitted and inheritable. */
int	caps_ambient(uint64_t raise);
int	caps_ambient_clear(void);
/* The effective set of this process; 0 when it cannot be read. */
uint64_t caps_effective(void);

#endif
