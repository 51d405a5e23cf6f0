/* SPDX-License-Identifier: ISC */
/*
 * Breakpoints in libraries that the program loads while it runs.  lldb sets
 * such a breakpoint as it loads the library, and before version 21 perhaps
 * wrongly, see split.h; after dlclose(3) it loses the breakpoint.  So while
 * there is one, the program stops at each load and unload, breakpoints whose
 * places have come or gone are sent as if they were new, and the program goes
 * on.
 */
#ifndef DEBUGGER_BPS_LOADS_H
#define DEBUGGER_BPS_LOADS_H

#include <stdbool.h>

struct bp;
struct op;

/* The adapter is another one: it does not stop at loads. */
void	 loads_forget(void);
/*
 * Tells lldb whether to stop at loads: while the program runs and a breakpoint
 * may wait for one.  Not while it stands, because an expression that loads a
 * library would end there.
 */
void	 loads_follow(bool runs);
/* Whether the present stop is for a load alone. */
bool	 loads_is_stop(void);
/* Whether lldb is to stop at the next load. */
bool	 loads_stop_comes(void);
/* Notes what an event has changed; was = the place was there before. */
void	 loads_note(struct bp *, bool was);
/* Whether places have come or gone. */
bool	 loads_any(void);
/*
 * Takes the breakpoint on a function, or with a path those on its lines, out of
 * the program's code and puts them back there, if their library may have been
 * there before: lldb-server 19 believes that a breakpoint is set that was
 * unmapped with its library.
 */
void	 loads_renew(struct op *, const char *path, const char *function);
/* Sends these breakpoints anew, then calls done. */
void	 loads_place(void (*done)(void));

#endif
