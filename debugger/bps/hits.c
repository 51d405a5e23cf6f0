/* SPDX-License-Identifier: ISC */
/*
 * Which of our breakpoints the program stands at.  Some adapters name all of
 * them, some the first, some none: ids, addresses and lines are asked in
 * this order.
 */
#include <stdlib.h>
#include <string.h>

#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/text/json_get.h"
#include "hits.h"

static bool
named(const struct bp *bp, const struct stop *stop)
{
	size_t i;

	if (!bp->has_adapter_id)
		return false;
	for (i = 0; i < stop->nhits; i++)
		if (stop->hits[i] == bp->adapter_id)
			return true;
	return false;
}

/* Ids below 0 stand for delve's own: not for ours. */
static bool
names_some(const struct stop *stop)
{
	size_t i;

	for (i = 0; i < stop->nhits; i++)
		if (stop->hits[i] >= 0)
			return true;
	return false;
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool
at_address(const struct bp *bp, struct json_object *frame)
{
	const char *pc = jget_str(frame, "instructionPointerReference");
	uint64_t at;

	return bp->address != 0 && pc != NULL && format_address(pc, &at) &&
	    at == bp->address;
}

/* Only at its first line is a function's breakpoint hit; who says so? */
static bool
at_function(const struct bp *bp, const struct stop *stop,
    struct json_object *frame)
{
	const char *name = jget_str(frame, "name");

	return strcmp(stop->raw_reason, "function breakpoint") == 0 &&
	    name != NULL && strcmp(name, bp->function) == 0;
}

static bool
at_line(const struct bp *bp, struct json_object *frame)
{
	const char *path = jget_str(jget_obj(frame, "source"), "path");
	const char *file = bp->actual_file != NULL ? bp->actual_file :
						     bp->file;

	return path != NULL && file != NULL &&
	    jget_num(frame, "line", -1) ==
		(bp->actual_line > 0 ? bp->actual_line : bp->line) &&
	    strcmp(last_part(path), last_part(file)) == 0;
}

static bool
at_place(const struct bp *bp, const struct stop *stop,
    struct json_object *frame)
{
	return bp->kind == BP_FUNCTION ? at_function(bp, stop, frame) :
	    strcmp(stop->raw_reason, "function breakpoint") != 0 &&
		at_line(bp, frame);
}

enum hit
hit_of(const struct bp *bp, const struct stop *stop,
    struct json_object *frame)
{
	if (!bp_wanted(bp) || !bp->verified)
		return HIT_NO;
	if (named(bp, stop))
		return HIT_YES;
	/* one that writes and goes on is not why it stands here */
	if (bp->log != NULL && !bp->checked_here)
		return HIT_NO;
	if (!at_address(bp, frame) &&
	    (names_some(stop) || !at_place(bp, stop, frame)))
		return HIT_NO;
	return bp->condition != NULL ||
	    (bp->hit_count > 0 && names_some(stop)) ? HIT_MAYBE : HIT_YES;
}

bool
hit_true(const char *value)
{
	static const char *const no[] = { "false", "False", "None", "nil",
		"null", "NULL", "nullptr", "''", "\"\"", "[]", "{}", "()",
		"", "'\\0'", "'\\x00'", "0.0", "-0" };
	int64_t n;
	size_t i;

	if (format_number(value, &n))
		return n != 0;
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (strcmp(value, no[i]) == 0)
			return false;
	return true;
}
