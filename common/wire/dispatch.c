/* SPDX-License-Identifier: ISC */
/*
 * The handlers of one role, taken from the message table.  Compiled once for
 * each role with -DSELF_ROLE=<ROLE>; rows for other receivers become NULL,
 * so a role that lacks a handler of its own does not link.
 */
#include "handlers.h"

#define CAT_(a, b)	a##b
#define CAT(a, b)	CAT_(a, b)

/* TO_<SELF>_<row's receiver>(h) is h when the receiver is this role. */
#define IS_PARENT_PARENT(h)		h
#define IS_LOGGER_LOGGER(h)		h
#define IS_NETPROC_NETPROC(h)		h
#define IS_SPAWNER_SPAWNER(h)		h
#define IS_LAUNCHER_LAUNCHER(h)		h
#define IS_ANNOUNCER_ANNOUNCER(h)	h
#define IS_IDPROC_IDPROC(h)		h
#define IS_TLSPROC_TLSPROC(h)		h
#define IS_ACCTPROC_ACCTPROC(h)		h
#define IS_DEBUGGER_DEBUGGER(h)		h
#define IS_TRACER_TRACER(h)		h
#define IS_SYMBOLS_SYMBOLS(h)		h
#define IS_SETUP_SETUP(h)		h
#define IS_LOGGER_CHILD(h)		h
#define IS_NETPROC_CHILD(h)		h
#define IS_SPAWNER_CHILD(h)		h
#define IS_LAUNCHER_CHILD(h)		h
#define IS_ANNOUNCER_CHILD(h)		h
#define IS_IDPROC_CHILD(h)		h
#define IS_TLSPROC_CHILD(h)		h
#define IS_ACCTPROC_CHILD(h)		h
#define IS_DEBUGGER_INST(h)		h
#define IS_TRACER_INST(h)		h
#include "dispatch_none.h"

const msg_handler msg_handlers[MSG_COUNT] = {
#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	[MSG_##name] = CAT(CAT(CAT(IS_, SELF_ROLE), _), to)(handler),
#include "msgs.def"
#undef MSG
};
