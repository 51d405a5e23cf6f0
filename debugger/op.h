/* SPDX-License-Identifier: ISC */
/* Making ops, and what becomes of them when their client goes. */
#ifndef DEBUGGER_OP_H
#define DEBUGGER_OP_H

#include "engine.h"

/* Takes args; one reference is the caller's. */
struct op *op_new(const struct ask *, const struct command *,
	    struct json_object *args);
/* The client has disconnected: its ops go on without being answered. */
void	 op_conn_gone(uint32_t conn);

#endif
