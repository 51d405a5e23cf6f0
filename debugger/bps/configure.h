/* SPDX-License-Identifier: ISC */
/* All breakpoints together: before the program runs, and without an adapter. */
#ifndef DEBUGGER_BPS_CONFIGURE_H
#define DEBUGGER_BPS_CONFIGURE_H

#include <stdbool.h>

#include "debugger/base/op.h"

/*
 * Between initialized and configurationDone: sends every breakpoint of the
 * registry (lines, functions, exceptions).  op may be NULL (restart).
 */
void	 bps_configure(struct op *, done_fn);
/* Whether anything of the registry would stop the program. */
bool	 bps_any(void);
/* The adapter is gone: what it said about breakpoints holds no more. */
void	 bps_forget(void);

#endif
