/* SPDX-License-Identifier: ISC */
/*
 * Debugger requests that do more to a program than look at it: each such
 * request is an event of the audit log.  They have the names of the debugger's
 * commands and, where editors use other names, those of editors' requests.
 */
#ifndef DL_DEBUGGER_AUDIT_H
#define DL_DEBUGGER_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(NAME, OFTEN): requests that come many times a minute are counted.  The
 * argument of print is an expression, which may call the program's functions.
 */
#define DBG_ACTIONS(X)							\
	X(start, false) X(attach, false) X(detach, false)		\
	X(stop, false) X(restart, false) X(disconnect, false)		\
	X(set, false) X(eval, false) X(raw, false)			\
	X(memory_write, false)						\
	X(breakpoint_add, false) X(breakpoint_remove, false)		\
	X(breakpoint_enable, false) X(breakpoint_disable, false)	\
	X(watch_add, false) X(watch_remove, false)			\
	X(catch_add, false) X(catch_remove, false)			\
	X(setVariable, false) X(setExpression, false)			\
	X(writeMemory, false) X(setBreakpoints, false)			\
	X(setFunctionBreakpoints, false)				\
	X(setExceptionBreakpoints, false)				\
	X(continue, true) X(next, true) X(step, true)			\
	X(finish, true) X(until, true) X(pause, true)			\
	X(print, true) X(evaluate, true)				\
	X(stepIn, true) X(stepOut, true)

#define DBG_ACTION_ENUM(name, often)	DBG_ACTION_##name,
enum dbg_action {
	DBG_ACTION_NONE,
	DBG_ACTIONS(DBG_ACTION_ENUM)
	DBG_ACTION_COUNT
};
#undef DBG_ACTION_ENUM

/* DBG_ACTION_NONE for what only looks. */
enum dbg_action	 dbg_action_find(const char *name);
/* As the audit log names it: "DEBUGGER set"; NULL for none. */
const char	*dbg_action_name(enum dbg_action);
bool		 dbg_action_is_often(enum dbg_action);

#endif
