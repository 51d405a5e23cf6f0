/* SPDX-License-Identifier: ISC */
/* TRACER: a session's tracer is asked, or started. */
#include "base/errors.h"
#include "instrument.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/instjson.h"
#include "tracer.h"
#include "wire/proto.h"

static bool
has(const struct session_view *v)
{
	return v->tracer;
}

const struct instrument tracer = {
	.verb = "TRACER",
	.start = MSG_TRC_START,
	.ask = MSG_TRC_ASK,
	.answer_max = TRC_ANSWER_MAX,
	.refused = ERR_TRACER_REFUSED,
	.has = has,
	.state = tracer_state_json,
};

void
cmd_tracer(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	instrument_command(c, ws, &tracer);
}

int
net_on_trc_answer(struct msg *m)
{
	return instrument_on_answer(m, &tracer);
}
