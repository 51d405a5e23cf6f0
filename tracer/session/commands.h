/* SPDX-License-Identifier: ISC */
/* The tables of requests; each row's function answers, at once or later. */
#ifndef TRACER_COMMANDS_H
#define TRACER_COMMANDS_H

#include "tracer/base/op.h"

extern const struct command session_commands[];	/* launch, attach, stop */
extern const struct command trace_commands[];	/* trace, functions, resume */
extern const struct command query_commands[];	/* query, status, sql, follow */
extern const struct command export_commands[];	/* export, read */

struct query;

/* May its client ask that?  One that only looks asks for no values; refused. */
bool	 query_allowed(struct op *, const struct query *);

#endif
