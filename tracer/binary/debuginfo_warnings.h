/* SPDX-License-Identifier: ISC */
/* Parts of a binary's debug information that could not be used, and why. */
#ifndef TRACER_DEBUGINFO_WARNINGS_H
#define TRACER_DEBUGINFO_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "binary.h"

#define DEBUGINFO_WARNING	512

/*
 * The i'th thing that there is to say of it, from 0 on: words with its name
 * in them.  false = that was all.
 */
bool	debuginfo_warning(const struct binary *, size_t i,
	    char words[DEBUGINFO_WARNING]);

#endif
