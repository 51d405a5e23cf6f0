/* SPDX-License-Identifier: ISC */
/* Breakpoints in libraries that the program loads while it runs. */
#include <inttypes.h>
#include <string.h>

#include "bpsend.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/base/program_state.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/repl.h"
#include "loads.h"

static bool	on;		/* lldb stops at loads */
static bool	was_on;		/* in this run: a stop may be on its way */
static void	(*placed)(void);

static void
nothing(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
}

void
loads_forget(void)
{
	on = was_on = false;
}

static bool
any_late(void)
{
	const struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->late && bp_wanted(bp))
			return true;
	}
	return false;
}

void
loads_follow(bool runs)
{
	const bool wanted = runs && any_late();

	if (!dialect()->lldb_commands || !bpsend_live() || wanted == on)
		return;
	on = wanted;
	was_on = was_on || on;
	repl_ask(NULL, REPL_NO_FRAME, nothing, NULL, "settings set "
	    "target.process.stop-on-sharedlibrary-events %s",
	    on ? "true" : "false");
}

bool
loads_is_stop(void)
{
	return was_on && dbg.phase == PHASE_STOPPED &&
	    state_is_internal(&dbg.stop);
}

bool
loads_stop_comes(void)
{
	return on;
}

/*
 * While the program runs, an event that changes nothing may be about another
 * library with a function or file of that name.
 */
void
loads_note(struct bp *bp, bool was)
{
	if (!dialect()->lldb_commands || bp->once)
		return;
	if (was && !bp->verified)
		bp->late = true;
	if (bp->late &&
	    (bp->verified != was || dbg.phase == PHASE_RUNNING))
		bp->stale = true;
}

bool
loads_any(void)
{
	size_t i;

	for (i = 0; i < bps_count(); i++)
		if (bps_at(i)->stale)
			return true;
	return false;
}

static bool
is_of(const struct bp *bp, const char *path, const char *function)
{
	return path == NULL ? bp->kind == BP_FUNCTION &&
	    strcmp(bp->function, function) == 0 :
	    bp->kind == BP_LINE && strcmp(bp->path, path) == 0;
}

void
loads_renew(struct op *op, const char *path, const char *function)
{
	static const char *const commands[] = { "disable", "enable" };
	const struct bp *bp;
	size_t i, k;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!bp->late || !bp->verified || !bp->has_adapter_id ||
		    !bp_wanted(bp) || !is_of(bp, path, function))
			continue;
		for (k = 0; k < 2; k++)
			repl_ask(op, REPL_NO_FRAME, nothing, NULL,
			    "breakpoint %s %" PRId64, commands[k],
			    bp->adapter_id);
		/* all that are on one function are one for the adapter */
		if (path == NULL)
			return;
	}
}

static void
on_placed(struct op *op, const char *why, void *arg)
{
	void (*fn)(void) = placed;

	(void)op;
	(void)why;
	(void)arg;
	placed = NULL;
	if (fn != NULL)
		fn();
}

void
loads_place(void (*done)(void))
{
	placed = done;
	bpsend_anew(on_placed);
}
