/* SPDX-License-Identifier: ISC */
/* Parts of a binary's debug information that could not be used, and why. */
#ifndef TRACER_CAVEAT_H
#define TRACER_CAVEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "binary.h"

#define CAVEAT_WORDS	512

/*
 * The i'th thing that there is to say of it, from 0 on: words with its name
 * in them.  false = that was all.
 */
bool	caveat_say(const struct binary *, size_t i, char words[CAVEAT_WORDS]);

#endif
