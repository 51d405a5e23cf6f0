/* SPDX-License-Identifier: ISC */
/*
 * debugpy attaches to a running program by having lldb or gdb call two
 * functions in it.
 */
#ifndef DEBUGGER_DAP_INJECTOR_H
#define DEBUGGER_DAP_INJECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/*
 * The one to use on a processor with that xstate_size(): looks in the
 * directories of path.  false: *why says what is missing and the remedy.
 */
bool	 injector_find(const char *path, size_t registers,
	    struct adapter_found *, const char **why);

#endif
