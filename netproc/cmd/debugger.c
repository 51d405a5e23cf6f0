/* SPDX-License-Identifier: ISC */
/* DEBUGGER: a session's debugger is asked, or started. */
#include "base/errors.h"
#include "debugger.h"
#include "instrument.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/instjson.h"
#include "wire/proto.h"

static bool
has(const struct session_view *v)
{
	return v->debugger;
}

static const struct instrument debugger = {
	.verb = "DEBUGGER",
	.start = MSG_DBG_START,
	.ask = MSG_DBG_ASK,
	.words = INSTRUMENT_USE | INSTRUMENT_IMAGE,
	.answer_max = DBG_ANSWER_MAX,
	.refused = ERR_DEBUGGER_REFUSED,
	.has = has,
	.state = debugger_state_json,
};

void
cmd_debugger(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	instrument_command(c, ws, &debugger);
}

int
net_on_dbg_answer(struct msg *m)
{
	return instrument_on_answer(m, &debugger);
}
