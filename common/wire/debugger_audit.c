/* SPDX-License-Identifier: ISC */
/* Names and numbers of debugger requests that do more than look. */
#include <stddef.h>
#include <string.h>

#include "debugger_audit.h"

#define VERB	"DEBUGGER "

#define ROW(name, often)	[DBG_ACTION_##name] = { VERB #name, often },
static const struct {
	const char	*name;
	bool		 often;
} actions[DBG_ACTION_COUNT] = {
	DBG_ACTIONS(ROW)
};
#undef ROW

enum dbg_action
dbg_action_find(const char *name)
{
	unsigned int i;

	for (i = DBG_ACTION_NONE + 1; i < DBG_ACTION_COUNT; i++)
		if (strcmp(actions[i].name + strlen(VERB), name) == 0)
			return (enum dbg_action)i;
	return DBG_ACTION_NONE;
}

const char *
dbg_action_name(enum dbg_action action)
{
	return actions[action].name;
}

bool
dbg_action_is_often(enum dbg_action action)
{
	return actions[action].often;
}
