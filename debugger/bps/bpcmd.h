/* SPDX-License-Identifier: ISC */
/* The commands about breakpoints, and those that a start brings along. */
#ifndef DEBUGGER_BPS_BPCMD_H
#define DEBUGGER_BPS_BPCMD_H

#include "debugger/base/command.h"

extern const struct command bp_commands[];

/*
 * The breaks of a start request: puts them into the registry before anything
 * runs.  false: op was refused, nothing was added.  Borrows breaks.
 */
bool	 bps_preset(struct op *, struct json_object *breaks);
/* After bps_configure: words about those that are bad, static; NULL = none. */
const char *bps_preset_bad(void);
/* That start came to nothing: so do its breaks. */
void	 bps_preset_drop(void);
/*
 * Adds a place to stop, once: file and line, or function (the other NULL).
 * While nothing runs yet the place is only noted, and bps_configure() sends it.
 * Any stop, and the end, remove all of these by bps_until_over(); an op that
 * does not let the program run drops its own.
 */
void	 bps_until(struct op *, const char *file, int64_t line,
	    const char *function, done_fn);
void	 bps_until_drop(struct op *);
void	 bps_until_over(void);

/* Sets what names the file in view, for places that are given without one. */
void	 bps_use_file(const char *(*)(void));

#endif
