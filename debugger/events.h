/* SPDX-License-Identifier: ISC */
/* Events in the engine, reported by its own parts. */
#ifndef DEBUGGER_EVENTS_H
#define DEBUGGER_EVENTS_H

#include "program_state.h"

/* The program's state has changed: tells all parts that have to know. */
void	 engine_change(enum change);
/* Says the state to the link, if it is news. */
void	 engine_tell(void);
/* The same, to the link alone: editors are told when all is known. */
void	 engine_tell_link(void);
/* The program is about to run: what was said before is old. */
void	 engine_resuming(void);
/* It goes on at once: nobody was told that it stopped. */
void	 engine_going_on(void);
/*
 * The program was let run, and stands where it was: tells so, for people, with
 * every answer about this stop.  Does nothing if events said more meanwhile.
 */
void	 engine_stayed(const char *why);
/* The session ends: what has become of the program is as it seems now. */
void	 engine_conclude(void);
/* The facts that summary_gather() was asked to find out are known. */
void	 engine_gathered(void);
/* Starts what was waiting for the last one's tree to be gone. */
void	 launch_go(void);

#endif
