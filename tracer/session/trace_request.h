/* SPDX-License-Identifier: ISC */
/* Patterns as a request gives them. */
#ifndef TRACER_TRACE_REQUEST_H
#define TRACER_TRACE_REQUEST_H

#include "tracer/base/op.h"
#include "tracer/probe/probing.h"

#define NO_SYMBOLS_WORDS						\
	"Binary has no DWARF debug info. Ask user permission to modify "\
	"build configuration to compile with debug symbols (e.g., add "	\
	"`-g` flag or use debug build profile)."

/* The members of args (NULL = none) of what; false: op was refused. */
bool	 trace_request_read(struct op *, struct json_object *args,
	    const char *what, struct trace_request *);

#endif
