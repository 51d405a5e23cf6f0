/* SPDX-License-Identifier: ISC */
/* What sessions may be called by their owners. */
#ifndef DL_LABEL_H
#define DL_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/* len bytes, LABEL_MAX at most; no bytes at all take a label away. */
bool	 label_is_good(const char *, size_t len);

#endif
