/* SPDX-License-Identifier: ISC */
/*
 * Puts the parts together: the tables of commands, and the handlers of the
 * link's messages.
 */
#include <stdio.h>
#include <string.h>

#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/catch.h"
#include "debugger/bps/watch.h"
#include "debugger/editor/dapserver.h"
#include "debugger/run/engine.h"
#include "debugger/run/exec.h"
#include "debugger/run/launch.h"
#include "debugger/run/resume_check.h"
#include "debugger/stop/summary.h"
#include "debugger/stop/wait.h"
#include "debugger/view/looks.h"
#include "parts.h"

static const struct command *const tables[] = {
	exec_commands, bp_commands, watch_commands, catch_commands,
	look_commands, source_commands, print_commands, set_commands,
	memory_commands, machine_commands, dap_commands,
};

/* How it ended, or was let go, and what can be done about it. */
static const char *
over_words(bool looks)
{
	static char words[1200];
	size_t n;

	if (dbg.phase == PHASE_IDLE) {
		summary_idle(words, sizeof(words));
		return words;
	}
	summary_ending(words, 1024, looks);
	n = strlen(words);
	(void)snprintf(words + n, sizeof(words) - n, "; %s",
	    dbg.ending.lives ? "`debugger attach` takes it up again" :
	    launch_again_possible() ? "`debugger restart` runs it again" :
	    "`debugger start` or `debugger attach` begins anew");
	return words;
}

static void
on_hello(const struct dbg_hello *h)
{
	dbg_said = *h;
	engine_begin();
	wait_init(h->await_s == 0 ? 300 : h->await_s,
	    h->request_s == 0 ? 30 : h->request_s);
	launch_init();
}

/* The ring itself says how much there is. */
static void
on_output_notice(uint64_t total)
{
	(void)total;
	dap_output();
}

const struct link_handlers *
parts_init(void)
{
	static const struct engine_observer observer = {
		.phase = dap_phase,
		.event = dap_event,
		.new_output = dap_new_output,
		.end = dap_end,
	};
	static const struct link_handlers handlers = {
		.calls = {
			.ask = commands_run,
			.conn_gone = op_conn_gone,
			.ring = engine_ring,
			.output_notice = on_output_notice,
			.run_failed = engine_run_failed,
		},
		.hello = on_hello,
		.ran = launch_ran,
		.ended = engine_ended,
		.drained = engine_drained,
	};

	debugger_commands(tables, sizeof(tables) / sizeof(tables[0]),
	    over_words, resume_look);
	summary_init(launch_is_let_go);
	bps_use_file(summary_file);
	engine_init(&observer);
	return &handlers;
}
