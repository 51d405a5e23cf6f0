/* SPDX-License-Identifier: ISC */
/* TRACER: a session's tracer is asked, or started. */
#include "conn.h"
#include "errors.h"
#include "instrument.h"
#include "json.h"
#include "proto.h"
#include "tracer.h"

static void
state_json(struct text *t, const struct session_view *v)
{
	static const char *const names[TRC_PHASES] = {
		[TRC_IDLE] = "idle",
		[TRC_TRACING] = "tracing",
		[TRC_OVER] = "ended",
	};

	json_key(t, "functions");
	json_u64(t, v->tracer_functions);
	json_key(t, "state");
	json_text(t, v->tracer_phase < TRC_PHASES ? names[v->tracer_phase] :
	    "unknown");
}

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
	.state = state_json,
};

void
tracer_json(struct text *t, const struct session_view *v)
{
	if (!v->tracer) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	state_json(t, v);
	json_close(t, '}');
}

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
