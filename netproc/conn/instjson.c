/* SPDX-License-Identifier: ISC */
/* Members of a session's object about its debugger and its tracer. */
#include "base/json.h"
#include "instjson.h"
#include "wire/proto.h"

void
text_or_null(struct text *t, const char *key, const char *s)
{
	json_key(t, key);
	if (s[0] != '\0')
		json_text(t, s);
	else
		json_raw(t, "null");
}

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

void
debugger_state_json(struct text *t, const struct session_view *v)
{
	json_key(t, "state");
	json_text(t, phase_text(v->debugger_phase));
	text_or_null(t, "adapter", v->debugger_adapter);
	json_key(t, "current");
	json_raw(t, v->debugger_current ? "true" : "false");
}

void
tracer_state_json(struct text *t, const struct session_view *v)
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

/* An object of the members that state writes; null unless there is one. */
static void
state_or_null(struct text *t, const struct session_view *v, bool is_there,
    void (*state)(struct text *, const struct session_view *))
{
	if (!is_there) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	state(t, v);
	json_close(t, '}');
}

void
instruments_json(struct text *t, const struct session_view *v)
{
	json_key(t, "debugger");
	state_or_null(t, v, v->debugger, debugger_state_json);
	json_key(t, "tracer");
	state_or_null(t, v, v->tracer, tracer_state_json);
}
