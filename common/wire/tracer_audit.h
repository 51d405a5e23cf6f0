/* SPDX-License-Identifier: ISC */
/*
 * Tracer requests that do more than look at a timeline: each such request is an
 * event of the audit log.
 */
#ifndef DL_TRACER_AUDIT_H
#define DL_TRACER_AUDIT_H

#include <stddef.h>

enum trc_action {
	TRC_ACTION_NONE,
	TRC_ACTION_LAUNCH,
	TRC_ACTION_ATTACH,
	TRC_ACTION_RESUME,
	TRC_ACTION_TRACE,		/* probes go in or out */
	TRC_ACTION_STOP,
	TRC_ACTION_EXPORT,
	TRC_ACTION_COUNT
};

/* As the audit log names it: "TRACER trace"; NULL for none. */
static inline const char *
trc_action_name(enum trc_action action)
{
	static const char *const actions[TRC_ACTION_COUNT] = {
		[TRC_ACTION_LAUNCH] = "TRACER launch",
		[TRC_ACTION_ATTACH] = "TRACER attach",
		[TRC_ACTION_RESUME] = "TRACER resume",
		[TRC_ACTION_TRACE] = "TRACER trace",
		[TRC_ACTION_STOP] = "TRACER stop",
		[TRC_ACTION_EXPORT] = "TRACER export",
	};

	return action < TRC_ACTION_COUNT ? actions[action] : NULL;
}

#endif
