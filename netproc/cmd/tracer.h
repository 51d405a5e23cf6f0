/* SPDX-License-Identifier: ISC */
/* TRACER: what is asked of a session's tracer, and its answers. */
#ifndef DL_NET_TRACER_H
#define DL_NET_TRACER_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct instrument;
struct rsession;

extern const struct instrument	tracer;

void	 cmd_tracer(struct conn *, struct rsession *, const struct words *);

int	 net_on_trc_answer(struct msg *);

#endif
