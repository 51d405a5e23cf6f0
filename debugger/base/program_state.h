/* SPDX-License-Identifier: ISC */
/*
 * From what an adapter says to what the program does.  Events are taken in
 * the order of the wire, answers never change the state: they come early or
 * late, as each adapter likes.
 */
#ifndef DEBUGGER_BASE_PROGRAM_STATE_H
#define DEBUGGER_BASE_PROGRAM_STATE_H

#include <stdbool.h>

#include "debuggee.h"

struct json_object;

/* Effect of an event. */
enum change {
	CHANGE_NONE,
	CHANGE_PROCESS,		/* its pid is known */
	CHANGE_STOPPED,
	CHANGE_FOCUS,		/* the same stop, told again: more is known */
	CHANGE_MOVED,		/* another stop, and no resume was told */
	CHANGE_RESUMED,
	CHANGE_ENDED
};

/* A new program is about to be started or attached to. */
void	 state_begin(struct dbg *);
/* Configuration is over, the request that says so is being sent. */
void	 state_configured(struct dbg *, bool stop_on_entry);
/* That request was answered: a stop that came too early may be the one. */
enum change state_settled(struct dbg *);
/* A request that lets the program run is being sent. */
void	 state_resume(struct dbg *, enum intent);
/*
 * The adapter refused it, or did not do it: stopped, as before, unless events
 * said more.  why, for people, must not be empty.
 */
enum change state_refused(struct dbg *, const char *why);
/* It runs, as an event or the kernel says, though no client asked for it. */
enum change state_runs(struct dbg *);
enum change state_event(struct dbg *, const char *event, struct json_object *);
/* Whether only breakpoints of the adapter's own, below 0, have stopped it. */
bool	 state_is_internal(const struct stop *);
/* How the program ended, as its parent saw it: that is beyond doubt. */
void	 state_known(struct dbg *, int code, int signal);
/* It is over: detached (IDLE) or ended (TERMINATED). */
void	 state_over(struct dbg *, enum phase);

#endif
