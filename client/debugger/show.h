/* SPDX-License-Identifier: ISC */
/* Answers of debug sessions, for people. */
#ifndef CLIENT_DEBUGGER_SHOW_H
#define CLIENT_DEBUGGER_SHOW_H

#include <json-c/json.h>

struct view;

/*
 * The table's show functions: the answer is borrowed and may lack any member,
 * or have one of another type, since other daemons have other versions.  The
 * functions print to the view's stream; the caller flushes it and looks for
 * errors.
 */

/* Where the program stands or how it ended: what most commands answer. */
void	show_summary(struct json_object *, const struct view *);

/* Prints one value, with its members below it. */
void	show_value(struct json_object *, const struct view *);
void	show_locals(struct json_object *, const struct view *);
void	show_source(struct json_object *, const struct view *);
void	show_backtrace(struct json_object *, const struct view *);
void	show_threads(struct json_object *, const struct view *);

/* Breakpoints, watchpoints and catchpoints. */
void	show_points(struct json_object *, const struct view *);

void	show_memory(struct json_object *, const struct view *);
void	show_registers(struct json_object *, const struct view *);
void	show_disassembly(struct json_object *, const struct view *);
void	show_raw(struct json_object *, const struct view *);

/* The list of the debug sessions that one may see. */
void	show_sessions(struct json_object *, const struct view *);

/* Its words, and nothing more. */
void	show_words(struct json_object *, const struct view *);

#endif
