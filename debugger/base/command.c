/* SPDX-License-Identifier: ISC */
/* When a client's request is run: its phases, and what the audit log has of it. */
#include "command.h"
#include "debuggee.h"
#include "debugger/text/codec.h"
#include "link.h"
#include "op.h"

static const char	*(*over_words)(bool looks);
static void		 (*look_first)(void);

/* Why not now, and what would help. */
static const struct {
	const char	*code, *words;
} not_now[PHASE_COUNT] = {
	[PHASE_IDLE] = { "no_session", NULL },
	[PHASE_INITIALIZING] = { "not_stopped", "the program is still being "
	    "started: `debugger await` waits for its first stop" },
	[PHASE_CONFIGURING] = { "not_stopped", "the program is still being "
	    "started: `debugger await` waits for its first stop" },
	[PHASE_RUNNING] = { "not_stopped", "the program is running: "
	    "`debugger pause` stops it, `debugger await` waits until it stops" },
	[PHASE_STOPPED] = { "already_started", "a program is being debugged "
	    "here: `debugger restart` runs it anew, `debugger stop` ends it" },
	[PHASE_TERMINATED] = { "not_running", NULL },
};

bool
command_allowed(struct op *op, unsigned int when)
{
	if ((when & ON(dbg.phase)) != 0)
		return true;
	if ((when & ON_LIVE) == 0 && dbg.phase != PHASE_STOPPED)
		op_fail(op, not_now[PHASE_STOPPED].code, "%s",
		    not_now[PHASE_STOPPED].words);
	else if (not_now[dbg.phase].words == NULL)
		op_fail(op, not_now[dbg.phase].code, "%s", over_words(!op->ask.rw));
	else
		op_fail(op, not_now[dbg.phase].code, "%s",
		    not_now[dbg.phase].words);
	return false;
}

bool
op_stopped(struct op *op)
{
	return command_allowed(op, ON_STOPPED);
}

/* An editor's, which no connection asks for here, is told by its own name. */
static uint32_t
action(const struct op *op)
{
	return op->ask.conn == 0 ? DBG_ACTION_NONE :
	    dbg_action_find(op->command->name);
}

static bool
is_now(struct op *op)
{
	look_first();
	return command_allowed(op, op->command->own);
}

void
debugger_commands(const struct command *const *tables, size_t n,
    const char *(*over)(bool), void (*look)(void))
{
	static const struct op_rules rules = {
		.parse = codec_parse,
		.action = action,
		.is_now = is_now,
		.refuse = op_refuse,
	};

	over_words = over;
	look_first = look;
	commands_set(tables, n, &rules);
}
