/* SPDX-License-Identifier: ISC */
/* Stack frames and places as clients see them. */
#ifndef DEBUGGER_VIEW_FRAMES_H
#define DEBUGGER_VIEW_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct view;

/* {"index","function","file","line","column","address","module"} */
struct json_object *frame_json(struct json_object *dap, size_t index);
/* "add at t.c:9", "in 0x1234", for people. */
void	 frame_words(struct json_object *dap, char *out, size_t room);
/*
 * Adds "warning" to o where lldb unwinds a frame of the stack wrongly, or where
 * all of the stack ends in a function of the program's that no program begins
 * with: lldb has lost the callers.
 */
void frames_warn(struct json_object *o, struct json_object *frames, bool all);
/* {"id","name"} of the thread in view. */
struct json_object *thread_json(const struct view *);
/* The lines around the frame in view; NULL: its source is not here. */
struct json_object *frame_source(const struct view *, int64_t around);

#endif
