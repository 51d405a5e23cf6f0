/* SPDX-License-Identifier: ISC */
/* DEBUGGER: what is asked of a session's debugger, and its answers. */
#ifndef DL_NET_DEBUGGER_H
#define DL_NET_DEBUGGER_H

#include "line.h"
#include "msg.h"
#include "view.h"

struct conn;
struct rsession;
struct text;

void	 cmd_debugger(struct conn *, struct rsession *, const struct words *);
/* Value of the session object's "debugger": null without one. */
void	 debugger_json(struct text *, const struct session_view *);

int	 net_on_dbg_answer(struct msg *);

#endif
