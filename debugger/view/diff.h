/* SPDX-License-Identifier: ISC */
/* Values of variables when last shown, to report what has changed. */
#ifndef DEBUGGER_VIEW_DIFF_H
#define DEBUGGER_VIEW_DIFF_H

struct json_object;

/*
 * Compares a function's variables (arrays as adapters give them; NULL =
 * none) with those that were seen under the same key, and remembers them.
 * Returns an array of {"name","old","new"}, owned by the caller; what is new
 * altogether is no change.
 */
struct json_object *diff_note(const char *key, struct json_object *arguments,
	    struct json_object *locals);
void	 diff_forget(void);

#endif
