/* SPDX-License-Identifier: ISC */
/* Watches the debugged process, for when no adapter tells. */
#ifndef DEBUGGER_BASE_PROCESS_WATCH_H
#define DEBUGGER_BASE_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on it is this one, as the host numbers it; 0 = none. */
void	 procwatch_begin(pid_t pid);
/*
 * Has it ended?  *status is as waitpid() gives it, or 0 if nobody can know
 * any more; it may have exited with 0 then as well.
 */
bool	 procwatch_over(int *status);
/*
 * Counts how often its threads have left a processor; the sum stays the same
 * as long as none of them runs.  0 = nobody can know.
 */
uint64_t procwatch_switches(void);
/* Does any process trace it?  false also if nobody can know. */
bool	 procwatch_traced(void);
/* Does a debugger hold all of its threads?  false also if nobody can know. */
bool	 procwatch_stands(void);

#endif
