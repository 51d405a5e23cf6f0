/* SPDX-License-Identifier: ISC */
/* Debug information that is not all there is, in words. */
#include <stdio.h>

#include "debuginfo_warnings.h"
#include "symbols/index.h"

static const struct {
	uint32_t	 flag;		/* of the index */
	const char	*words;
} warnings[] = {
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
#define NWARNINGS (sizeof(warnings) / sizeof(warnings[0]))

bool
debuginfo_warning(const struct binary *b, size_t i,
    char words[DEBUGINFO_WARNING])
{
	size_t k;

	if (b->state == BINARY_BAD && i == 0) {
		(void)snprintf(words, DEBUGINFO_WARNING, "%s", b->why);
		return true;
	}
	for (k = 0; b->state == BINARY_READY && k < NWARNINGS; k++) {
		if ((b->ix.header->flags & warnings[k].flag) == 0 || i-- > 0)
			continue;
		(void)snprintf(words, DEBUGINFO_WARNING, "%.200s: %s",
		    binary_name(b), warnings[k].words);
		return true;
	}
	return false;
}
