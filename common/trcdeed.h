/* SPDX-License-Identifier: ISC */
/*
 * Tracer requests that do more than look at a timeline: each such request is an
 * event of the audit log.
 */
#ifndef DL_TRCDEED_H
#define DL_TRCDEED_H

#include <stddef.h>

enum trc_deed {
	TRC_DEED_NONE,
	TRC_DEED_LAUNCH,
	TRC_DEED_ATTACH,
	TRC_DEED_RESUME,
	TRC_DEED_TRACE,		/* probes go in or out */
	TRC_DEED_STOP,
	TRC_DEED_EXPORT,
	TRC_DEED_COUNT
};

/* As the audit log names it: "TRACER trace"; NULL for none. */
static inline const char *
trc_deed_action(enum trc_deed deed)
{
	static const char *const actions[TRC_DEED_COUNT] = {
		[TRC_DEED_LAUNCH] = "TRACER launch",
		[TRC_DEED_ATTACH] = "TRACER attach",
		[TRC_DEED_RESUME] = "TRACER resume",
		[TRC_DEED_TRACE] = "TRACER trace",
		[TRC_DEED_STOP] = "TRACER stop",
		[TRC_DEED_EXPORT] = "TRACER export",
	};

	return deed < TRC_DEED_COUNT ? actions[deed] : NULL;
}

#endif
