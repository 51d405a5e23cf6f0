/* SPDX-License-Identifier: ISC */
/* DEBUGGER and TRACER: a session's debugger or tracer is asked, or started. */
#ifndef DL_NET_INSTRUMENT_KINDS_H
#define DL_NET_INSTRUMENT_KINDS_H

#include "netproc/text/line.h"

struct conn;
struct instrument;
struct rsession;

extern const struct instrument	tracer;

void	 cmd_debugger(struct conn *, struct rsession *, const struct words *);
void	 cmd_tracer(struct conn *, struct rsession *, const struct words *);

#endif
