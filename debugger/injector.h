/* SPDX-License-Identifier: ISC */
/*
 * To attach to a program that already runs, debugpy has a debugger of machine
 * code load it into the interpreter, by two calls in the program's name.
 */
#ifndef DEBUGGER_INJECTOR_H
#define DEBUGGER_INJECTOR_H

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
