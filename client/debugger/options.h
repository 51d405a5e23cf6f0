/* SPDX-License-Identifier: ISC */
/* The options of debugger, by name. */
#ifndef CLIENT_DEBUGGER_OPTIONS_H
#define CLIENT_DEBUGGER_OPTIONS_H

#include "client/lib/options.h"

enum dbg_opt {
	DOPT_SESSION, DOPT_JSON, DOPT_TIMEOUT, DOPT_SYSTEM, DOPT_TARGET,
	DOPT_HELP, DOPT_VERSION, DOPT_COMPLETION, DOPT_NO_WAIT, DOPT_ADAPTER,
	DOPT_STOP_ON_ENTRY, DOPT_RUN, DOPT_BREAK, DOPT_ENV, DOPT_CWD,
	DOPT_TTY, DOPT_IMAGE, DOPT_SANDBOX, DOPT_NETWORK,
	DOPT_PROGRAM, DOPT_FUNCTION, DOPT_CONDITION, DOPT_HIT_COUNT, DOPT_LOG,
	DOPT_READ, DOPT_ACCESS, DOPT_SINCE, DOPT_THIS_THREAD, DOPT_COUNT,
	DOPT_INSTRUCTION, DOPT_CONTEXT, DOPT_THIS_FUNCTION, DOPT_LOCALS,
	DOPT_LIMIT, DOPT_TYPE, DOPT_FORMAT, DOPT_THREAD, DOPT_FRAME, DOPT_MAX,
	DOPT_PATH, DOPT_OFFSET, DOPT_SOURCE, DOPT_FOLLOW, DOPT_TAIL,
	DOPT_CLEAR, DOPT_ALL, DOPT_NO_NEWLINE, DOPT_EOF, DOPT_LIST,
	DOPT_CHECK, DOPT_EVERY,
	DOPT_END
};

extern const struct opt_table dbg_options;

/* of struct options */
#define DLIST_ENV	0U
#define DLIST_BREAK	1U

#define DOPT(name)	(UINT64_C(1) << DOPT_##name)
#define DOPTS_GLOBAL	(DOPT(SESSION) | DOPT(JSON) | DOPT(TIMEOUT) | \
			    DOPT(SYSTEM) | DOPT(TARGET) | DOPT(HELP) | \
			    DOPT(VERSION))

struct json_object;

/*
 * Puts those that a request carries as they are into its arguments. -1 after
 * a report.
 */
int	dbg_options_args(const struct options *, struct json_object *args);

#endif
