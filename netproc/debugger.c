/* SPDX-License-Identifier: ISC */
/* DEBUGGER: a session's debugger is asked, or started. */
#include "conn.h"
#include "debugger.h"
#include "errors.h"
#include "instrument.h"
#include "json.h"
#include "proto.h"

static const char *
phase_text(uint32_t phase)
{
	static const char *const names[DBG_PHASES] = {
		[DBG_IDLE] = "idle",
		[DBG_INITIALIZING] = "initializing",
		[DBG_CONFIGURING] = "configuring",
		[DBG_RUNNING] = "running",
		[DBG_STOPPED] = "stopped",
		[DBG_TERMINATED] = "terminated",
	};

	return phase < DBG_PHASES ? names[phase] : "unknown";
}

static void
state_json(struct text *t, const struct session_view *v)
{
	json_key(t, "state");
	json_text(t, phase_text(v->debugger_phase));
	text_or_null(t, "adapter", v->debugger_adapter);
	json_key(t, "current");
	json_raw(t, v->debugger_current ? "true" : "false");
}

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
	.state = state_json,
};

void
debugger_json(struct text *t, const struct session_view *v)
{
	if (!v->debugger) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	state_json(t, v);
	json_close(t, '}');
}

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
