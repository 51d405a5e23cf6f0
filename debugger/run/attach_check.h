/* SPDX-License-Identifier: ISC */
/* Why a process of the host cannot be attached to. */
#ifndef DEBUGGER_RUN_ATTACH_CHECK_H
#define DEBUGGER_RUN_ATTACH_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True with a sentence in why; false: nothing is known against it. */
bool	 attach_refusal(pid_t pid, char *why, size_t size);
/* Is the process in a pid namespace below the debugger's? */
bool	 attach_nested(pid_t pid);

#endif
