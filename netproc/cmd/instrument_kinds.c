/* SPDX-License-Identifier: ISC */
/* DEBUGGER and TRACER: what differs between them. */
#include "base/errors.h"
#include "instrument.h"
#include "instrument_kinds.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/instjson.h"
#include "wire/proto.h"

static bool
has_debugger(const struct session_view *v)
{
	return v->debugger;
}

static bool
has_tracer(const struct session_view *v)
{
	return v->tracer;
}

static const struct instrument debugger = {
	.verb = "DEBUGGER",
	.type = INST_DEBUGGER,
	.words = INSTRUMENT_USE | INSTRUMENT_IMAGE,
	.answer_max = DBG_ANSWER_MAX,
	.refused = ERR_DEBUGGER_REFUSED,
	.has = has_debugger,
	.state = debugger_state_json,
};

const struct instrument tracer = {
	.verb = "TRACER",
	.type = INST_TRACER,
	.answer_max = TRC_ANSWER_MAX,
	.refused = ERR_TRACER_REFUSED,
	.has = has_tracer,
	.state = tracer_state_json,
};

void
cmd_debugger(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	instrument_command(c, ws, &debugger);
}

void
cmd_tracer(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	instrument_command(c, ws, &tracer);
}
