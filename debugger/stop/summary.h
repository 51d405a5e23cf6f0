/* SPDX-License-Identifier: ISC */
/* The stop summary: all that a caller wants to know next, in one answer. */
#ifndef DEBUGGER_STOP_SUMMARY_H
#define DEBUGGER_STOP_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/format.h"

struct json_object;
struct op;
struct view;

/*
 * How the program ended, or why nobody knows, in words; PHASE_TERMINATED.
 * looks: for a client with the right to look, who sees no values.
 */
void	 summary_ending(char *words, size_t room, bool looks);
/* Describes a session in which nothing is being debugged; PHASE_IDLE. */
void	 summary_idle(char *words, size_t room);
/*
 * A stop or the end: gathers what its summary shows of the adapter (stack,
 * variables, exception) and calls done once.  Nothing resumes before.  The
 * output, from dbg.out_from to dbg.out_to, is complete once that is done.
 */
void	 summary_gather(void (*done)(void));
/*
 * The answer to a client that waited or asks for the state, in any phase; made
 * of what was gathered, within the bounds op asks for.  The caller owns it.
 */
struct json_object *summary_make(struct op *);

/* Sets what tells whether the program was let go. */
void	 summary_init(bool (*is_let_go)(void));
/* The file in view, for places that are given without one; "" = none. */
const char *summary_file(void);
/* Another frame was selected: summaries show it from now on. */
void	 summary_select(const struct view *);
/*
 * thread, frame, source, arguments and locals of a view; source lines around
 * the place it is at.
 */
void	 summary_view(struct bound *, struct json_object *answer,
	    const struct view *, int64_t around);

#endif
