/* SPDX-License-Identifier: ISC */
/* Names and numbers of debugger requests that do more than look. */
#include <stddef.h>
#include <string.h>

#include "dbgdeed.h"

#define VERB	"DEBUGGER "

#define ROW(name, often)	[DBG_DEED_##name] = { VERB #name, often },
static const struct {
	const char	*action;
	bool		 often;
} deeds[DBG_DEED_COUNT] = {
	DBG_DEEDS(ROW)
};
#undef ROW

enum dbg_deed
dbg_deed_find(const char *name)
{
	unsigned int i;

	for (i = DBG_DEED_NONE + 1; i < DBG_DEED_COUNT; i++)
		if (strcmp(deeds[i].action + strlen(VERB), name) == 0)
			return (enum dbg_deed)i;
	return DBG_DEED_NONE;
}

const char *
dbg_deed_action(enum dbg_deed deed)
{
	return deeds[deed].action;
}

bool
dbg_deed_is_often(enum dbg_deed deed)
{
	return deeds[deed].often;
}
