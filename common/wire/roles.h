/* SPDX-License-Identifier: ISC */
/*
 * The kinds of process that debuglantern consists of.  Every message names
 * the role that may send it and the role that may receive it.
 */
#ifndef DL_ROLES_H
#define DL_ROLES_H

#define ROLE_TABLE(X)							\
	X(PARENT,	"parent")					\
	X(LOGGER,	"logger")					\
	X(NETPROC,	"netproc")					\
	X(SPAWNER,	"spawner")					\
	X(LAUNCHER,	"launcher")					\
	X(ANNOUNCER,	"announcer")					\
	X(IDPROC,	"idproc")					\
	X(TLSPROC,	"tlsproc")					\
	X(ACCTPROC,	"acctproc")

/*
 * Roles with as many processes as sessions need: each knows the spawner alone,
 * and symbols only the tracer that it works for.
 */
#define INSTRUMENT_TABLE(X)						\
	X(DEBUGGER,	"debugger")					\
	X(TRACER,	"tracer")					\
	X(SYMBOLS,	"symbols")

enum role {
#define X(id, name)	ROLE_##id,
	ROLE_TABLE(X)
#undef X
	ROLE_COUNT,
	/* in the message table only: every role but the parent */
	ROLE_CHILD = ROLE_COUNT,
#define X(id, name)	ROLE_##id,
	INSTRUMENT_TABLE(X)
#undef X
	ROLE_INSTRUMENT_END,
	/* executes the parent at the start, and is its child at a reload */
	ROLE_SETUP = ROLE_INSTRUMENT_END,
	ROLE_END,
	/* in the message table only: a debugger or a tracer */
	ROLE_INST = ROLE_END,
	ROLE_INSTRUMENT = ROLE_CHILD + 1	/* the first of them */
};

/* Returns "spawner" and the like; "unknown" for a number out of range. */
const char	*role_name(unsigned int);

#endif
