/* SPDX-License-Identifier: ISC */
/* DEBUGGER: what is asked of a session's debugger, and its answers. */
#ifndef DL_NET_DEBUGGER_H
#define DL_NET_DEBUGGER_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	 cmd_debugger(struct conn *, struct rsession *, const struct words *);

int	 net_on_dbg_answer(struct msg *);

#endif
