/* SPDX-License-Identifier: ISC */
/* TRACER: what is asked of a session's tracer, and its answers. */
#ifndef DL_NET_TRACER_H
#define DL_NET_TRACER_H

#include "line.h"
#include "msg.h"
#include "view.h"

struct conn;
struct instrument;
struct rsession;
struct text;

extern const struct instrument	tracer;

void	 cmd_tracer(struct conn *, struct rsession *, const struct words *);
/* Value of the session object's "tracer": null without one. */
void	 tracer_json(struct text *, const struct session_view *);

int	 net_on_trc_answer(struct msg *);

#endif
