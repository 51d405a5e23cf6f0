/* SPDX-License-Identifier: ISC */
/*
 * Commands of an adapter's own, by the request evaluate in the context "repl".
 */
#ifndef DEBUGGER_DAP_REPL_H
#define DEBUGGER_DAP_REPL_H

#include <stdint.h>

#include "adapter.h"

struct op;

/* For commands that need no frame. */
#define REPL_NO_FRAME	INT64_MIN

/*
 * Asks for a command, without the prefix of the adapter's dialect.  fn is
 * called once, as by adapter_ask(), perhaps before this returns.
 */
void	 repl_ask(struct op *, int64_t frame, dap_fn, void *arg,
	    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
