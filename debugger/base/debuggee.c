/* SPDX-License-Identifier: ISC */
/* The debugged program, as all parts know it. */
#include "debuggee.h"

struct dbg dbg = { .ring = RING_INIT };
struct dbg_hello dbg_said;

static void	(*look_again)(void);

const char *
phase_name(enum phase p)
{
	static const char *const names[PHASE_COUNT] = {
		"idle", "initializing", "configuring", "running", "stopped",
		"terminated",
	};

	return names[p];
}

void
debuggee_on_touched(void (*fn)(void))
{
	look_again = fn;
}

void
debuggee_touched(void)
{
	if (dbg.phase != PHASE_STOPPED)
		return;
	dbg.epoch++;
	look_again();
}
