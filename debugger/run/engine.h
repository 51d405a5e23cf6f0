/* SPDX-License-Identifier: ISC */
/*
 * The engine: what the link and the adapter tell goes from here to the parts
 * that it concerns.
 */
#ifndef DEBUGGER_RUN_ENGINE_H
#define DEBUGGER_RUN_ENGINE_H

#include "debugger/base/program_state.h"

struct json_object;

/* Parts above the engine, which hear of the program. */
struct engine_observer {
	/* the phase is one that others may hear of */
	void	(*phase)(void);
	/* an event of the adapter; borrowed */
	void	(*event)(const char *name, struct json_object *body);
	/* the program writes into a new ring */
	void	(*new_output)(void);
	/* the session ends */
	void	(*end)(void);
};

/* Before all others; borrows. */
void	 engine_init(const struct engine_observer *);
/* The link has greeted. */
void	 engine_begin(void);

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
/* The session ends: all that is left for observers is given to them. */
void	 engine_end(void);

/* -- from the link; see struct link_handlers -- */
void	 engine_run_failed(const char *code, const char *why);
void	 engine_ended(const struct dbg_end *);
void	 engine_ring(int fd);
void	 engine_drained(uint64_t total);

#endif
