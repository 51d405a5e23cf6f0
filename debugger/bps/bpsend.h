/* SPDX-License-Identifier: ISC */
/* Telling the adapter about the registry's breakpoints, and events of it. */
#ifndef DEBUGGER_BPS_BPSEND_H
#define DEBUGGER_BPS_BPSEND_H

#include <stdbool.h>

#include "bps.h"

struct json_object;
struct op;

/* why NULL = all is sent and answered; else borrowed words. */
typedef void	(*bpsend_fn)(struct op *, const char *why, void *arg);

/* Is there an adapter that takes breakpoints now? */
bool	 bpsend_live(void);
/*
 * Sends anew each file, and the functions, that a dirty breakpoint belongs
 * to.  fn is called once, perhaps before this returns.
 */
void	 bpsend_dirty(struct op *, bpsend_fn, void *arg);
/*
 * Sends the breakpoints anew that are stale, as if they were new.  fn is called
 * once, perhaps before this returns.
 */
void	 bpsend_anew(bpsend_fn);
/*
 * Answers with the list, which is taken, as that member; or, unless why is
 * NULL, that the adapter refused.
 */
void	 bpsend_answer(struct op *, const char *why, const char *member,
	    struct json_object *list);
/* An event "breakpoint"; borrows body. */
void	 bps_event(struct json_object *body);
/* The adapter is gone, and with it what it was told. */
void	 bpsend_forget(void);
/* Breakpoint features that this adapter has. */
struct bp_skills bpsend_skills(void);

#endif
