/* SPDX-License-Identifier: ISC */
/* Bytes of the program. */
#ifndef DEBUGGER_VIEW_MEMORY_H
#define DEBUGGER_VIEW_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/op.h"

/*
 * Writes bytes, by a request or by a command of lldb's: the answer may be a
 * success with "error: " in its result.
 */
void	 memory_poke(struct op *, int64_t frame, uint64_t address,
	    const uint8_t *, size_t, dap_fn, void *arg);

#endif
