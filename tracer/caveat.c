/* SPDX-License-Identifier: ISC */
/* Debug information that is not all there is, in words. */
#include <stdio.h>

#include "../symbols/index.h"
#include "caveat.h"

static const struct {
	uint32_t	 flag;		/* of the index */
	const char	*words;
} caveats[] = {
	{ SYM_SPLIT, "its debug information is in .dwo files (split DWARF), "
	    "which are not read: functions are known by name, without types; "
	    "build it without -gsplit-dwarf" },
	{ SYM_ELSEWHERE, "some of its debug information is in a file that dwz "
	    "shares (.gnu_debugaltlink), which is not read: what is there is "
	    "known by name, without types; install it as it was before dwz" },
	{ SYM_DAMAGED, "some of its debug information is damaged and was left "
	    "out: functions may be without types, or missing; build it anew" },
	{ SYM_FOREIGN, "some of its debug information is of a version of "
	    "DWARF that is not known (2 to 5 are) and was left out" },
	{ SYM_FULL, "it has more functions than are read of one file; some "
	    "are missing" },
};
#define NCAVEATS (sizeof(caveats) / sizeof(caveats[0]))

bool
caveat_say(const struct binary *b, size_t i, char words[CAVEAT_WORDS])
{
	size_t k;

	if (b->state == BINARY_BAD && i == 0) {
		(void)snprintf(words, CAVEAT_WORDS, "%s", b->why);
		return true;
	}
	for (k = 0; b->state == BINARY_READY && k < NCAVEATS; k++) {
		if ((b->ix.header->flags & caveats[k].flag) == 0 || i-- > 0)
			continue;
		(void)snprintf(words, CAVEAT_WORDS, "%.200s: %s",
		    binary_name(b), caveats[k].words);
		return true;
	}
	return false;
}
