/* SPDX-License-Identifier: ISC */
/* Which of our breakpoints the program stands at. */
#ifndef DEBUGGER_BPS_HITS_H
#define DEBUGGER_BPS_HITS_H

#include <stdbool.h>
#include <stddef.h>

#include "bps.h"

struct json_object;
struct stop;

enum hit {
	HIT_NO,
	HIT_YES,
	/* it is at the same place, but the adapter named another one: its
	 * condition decides */
	HIT_MAYBE
};

/* frame: the innermost one, as the adapter gives it; may be NULL. */
enum hit hit_of(const struct bp *, const struct stop *,
	    struct json_object *frame);

/* Is a value true where an `if` would ask it? */
bool	 hit_true(const char *value);

#endif
