/* SPDX-License-Identifier: ISC */
/* Puts the parts together: which commands there are, and which part hears of
 * what the link and the parts below tell. */
#include "assemble.h"
#include "tracer/binary/binary.h"
#include "tracer/probe/probing.h"
#include "tracer/record/timeline.h"
#include "tracer/record/user_limit.h"
#include "tracer/session/commands.h"
#include "tracer/session/session.h"

static const struct command *const tables[] = {
	session_commands, trace_commands, query_commands, export_commands,
};

const struct link_handlers *
tracer_assemble(void)
{
	static const struct probing_observer observer = {
		.settled = session_settled,
		.let_go = launch_settled,
		.root_missing = session_root_missing,
	};
	static const struct link_handlers handlers = {
		.calls = {
			.ask = commands_run,
			.conn_gone = trc_conn_gone,
			.ring = trc_ring,
			.output_notice = trc_output_notice,
			.run_failed = session_run_failed,
			.goes_on = probing_kick,
		},
		.hello = trc_hello,
		.file = timeline_file,
		.used = trc_used,
		.ran = session_ran,
		.ended = trc_ended,
		.symbols = trc_symbols,
		.symbols_failed = trc_symbols_failed,
	};

	tracer_commands(tables, sizeof(tables) / sizeof(tables[0]));
	probing_init(&observer);
	timeline_when_idle(session_goes_on);
	return &handlers;
}
