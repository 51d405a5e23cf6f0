/* SPDX-License-Identifier: ISC */
/*
 * The registry of breakpoints: ours, with our ids and their owners.  The lists
 * that the adapter is sent are made from it; the adapter's answers are kept
 * beside it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bps.h"
#include "debugger/base/format.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/pairs.h"

static struct bp	*all[BPS_MOST];
static size_t		 count;
static int64_t		 last_id;
static int64_t		 last_once;	/* counts down from 0 */

int64_t
bps_new_id(void)
{
	return ++last_id;
}

static struct bp *
new_bp(enum bp_kind kind, bool once)
{
	struct bp *bp;

	if (count == BPS_MOST || (bp = calloc(1, sizeof(*bp))) == NULL)
		return NULL;
	bp->id = once ? --last_once : bps_new_id();
	bp->once = once;
	bp->kind = kind;
	bp->owner = OWNER_CLI;
	bp->enabled = true;
	all[count++] = bp;
	return bp;
}

struct bp *
bps_new(enum bp_kind kind)
{
	return new_bp(kind, false);
}

struct bp *
bps_new_once(enum bp_kind kind)
{
	return new_bp(kind, true);
}

void
bps_free(struct bp *bp)
{
	size_t i;

	for (i = 0; i < count && all[i] != bp;)
		i++;
	if (i < count) {
		count--;
		memmove(&all[i], &all[i + 1],
		    (count - i) * sizeof(all[0]));
	}
	free(bp->file);
	free(bp->function);
	free(bp->condition);
	free(bp->log);
	free(bp->path);
	free(bp->actual_file);
	free(bp->message);
	free(bp->condition_error);
	free(bp);
}

size_t
bps_count(void)
{
	return count;
}

struct bp *
bps_at(size_t i)
{
	return i < count ? all[i] : NULL;
}

struct bp *
bps_find(int64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (all[i]->id == id)
			return all[i];
	return NULL;
}

void
bps_set(char **field, const char *value)
{
	free(*field);
	*field = copy_text(value);
}

void
bps_clear(void)
{
	while (count > 0)
		bps_free(all[count - 1]);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
bps_same_place(const struct bp *a, const struct bp *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == BP_FUNCTION)
		return same(a->function, b->function);
	return a->line == b->line && same(a->path, b->path);
}

bool
bp_wanted(const struct bp *bp)
{
	return bp->enabled && !bp->going;
}

/* -- where conditions are checked ---------------------------------------- */
static bool
alone_checked_here(const struct bp *bp, const struct bp_skills *can)
{
	const int terms = (bp->condition != NULL) + (bp->hit_count > 0) +
	    (bp->log != NULL);

	/* given two, debugpy stops for either, and delve writes nothing */
	return terms > 1 || (bp->condition != NULL && (!can->condition ||
	    (bp->late && can->loses_conditions))) ||
	    (bp->hit_count > 0 && (!can->hit_count ||
	    (bp->late && can->loses_counts))) ||
	    /* there is no log point on a function */
	    (bp->log != NULL && (!can->log || bp->kind == BP_FUNCTION));
}

static bool
same_terms(const struct bp *a, const struct bp *b)
{
	return same(a->condition, b->condition) && same(a->log, b->log) &&
	    a->hit_count == b->hit_count;
}

/*
 * Each place is one breakpoint of the adapter: evaluate the terms of all
 * breakpoints there, or of none.
 */
static bool
place_checked_here(const struct bp *bp, const struct bp_skills *can)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!bp_wanted(all[i]) || !bps_same_place(bp, all[i]))
			continue;
		if (alone_checked_here(all[i], can) || !same_terms(bp, all[i]))
			return true;
	}
	return alone_checked_here(bp, can);
}

void
bps_decide(const struct bp_skills *can)
{
	size_t i;

	for (i = 0; i < count; i++)
		all[i]->checked_here = place_checked_here(all[i], can);
}

/* -- what is sent ------------------------------------------------------- */
static bool
of_list(const char *path, const struct bp *bp)
{
	return path == NULL ? bp->kind == BP_FUNCTION :
	    bp->kind == BP_LINE && same(bp->path, path);
}

static bool
listed(const char *path, const struct bp *bp)
{
	return bp_wanted(bp) && of_list(path, bp);
}

static bool
first_of_place(size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (bp_wanted(all[i]) && bps_same_place(all[i], all[at]))
			return false;
	return true;
}

static struct json_object *
wire_one(const struct bp *bp, const struct bp_skills *can)
{
	struct json_object *o = jobject();

	if (bp->kind == BP_FUNCTION)
		jput_str(o, "name", bp->function);
	else
		jput_int(o, "line", bp->line);
	if (bp->checked_here)
		return o;
	jput_str(o, "condition", bp->condition);
	jput_str(o, "logMessage", bp->log);
	if (bp->hit_count > 0) {
		char text[64];

		snprintf(text, sizeof(text), "%s%" PRId64,
		    can->hit_format, bp->hit_count);
		jput_str(o, "hitCondition", text);
	}
	return o;
}

/* Has the adapter answered for a place that is in its list? */
static bool
place_sent(const struct bp *bp)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (bp_wanted(all[i]) && all[i]->sent &&
		    bps_same_place(all[i], bp))
			return true;
	return false;
}

const char *
bps_function_next(void)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (listed(NULL, all[i]) && !place_sent(all[i]))
			return all[i]->function;
	return NULL;
}

/* one: leaves out what was not sent before; else one function of that may go. */
static struct json_object *
wire(const char *path, const struct bp_skills *can, bool one)
{
	struct json_object *arr = jarray();
	size_t i;

	for (i = 0; i < count; i++) {
		if (!listed(path, all[i]) || !first_of_place(i))
			continue;
		if (!place_sent(all[i])) {
			if (one)
				continue;
			one = path == NULL;
		}
		jadd(arr, wire_one(all[i], can));
	}
	return arr;
}

struct json_object *
bps_wire(const char *path, const struct bp_skills *can)
{
	return wire(path, can, false);
}

struct json_object *
bps_wire_sent(const char *path, const struct bp_skills *can)
{
	return wire(path, can, true);
}

bool
bps_unsend_stale(const char *path)
{
	bool some = false;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!all[i]->stale || !of_list(path, all[i]))
			continue;
		all[i]->stale = all[i]->sent = all[i]->has_adapter_id = false;
		some = true;
	}
	return some;
}

/* -- what it answered --------------------------------------------------- */
void
bp_told(struct bp *bp, struct json_object *dap)
{
	struct json_object *source = jget_obj(dap, "source");
	const int64_t id = bp->has_adapter_id ? bp->adapter_id : -1;
	const char *at;

	bp->sent = true;
	bp->verified = jget_bool(dap, "verified");
	bp->has_adapter_id = jget_int(dap, "id", &bp->adapter_id);
	bp->placed = bp->placed && bp->has_adapter_id && bp->adapter_id == id;
	bps_set(&bp->message, jget_str(dap, "message"));
	if (!bp->verified || bp->placed)
		return;
	bp->actual_line = jget_num(dap, "line", 0);
	bps_set(&bp->actual_file, jget_str(source, "path"));
	if ((at = jget_str(dap, "instructionReference")) == NULL ||
	    !format_address(at, &bp->address))
		bp->address = 0;
}

static bool
is_item(const char *path, const struct bp *bp, struct json_object *item)
{
	if (!listed(path, bp))
		return false;
	if (path == NULL)
		return same(bp->function, jget_str(item, "name"));
	return bp->line == jget_num(item, "line", -1);
}

_Static_assert(BPS_MOST <= PAIRS_MOST, "all breakpoints are one answer");

/* The id that an earlier answer gave to a place of the list. */
static bool
known_id(const char *path, struct json_object *item, int64_t *id)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!all[i]->sent || !all[i]->has_adapter_id ||
		    !is_item(path, all[i], item))
			continue;
		*id = all[i]->adapter_id;
		return true;
	}
	return false;
}

/*
 * lldb-dap 19 answers functions in the order of its hash table, with nothing
 * that names them: of those an answer has only one that is not known by its id.
 */
void
bps_replied(const char *path, struct json_object *sent,
    struct json_object *reply)
{
	struct pair pairs[BPS_MOST];
	size_t i, k, n = jlen(sent) < BPS_MOST ? jlen(sent) : BPS_MOST;

	for (i = 0; i < n; i++) {
		pairs[i].named = known_id(path, jat(sent, i), &pairs[i].id);
		pairs[i].line = path == NULL ? 0 :
		    jget_num(jat(sent, i), "line", 0);
	}
	pair_entries(pairs, n, reply);
	for (i = 0; i < n; i++)
		for (k = 0; k < count; k++) {
			if (!is_item(path, all[k], jat(sent, i)))
				continue;
			/* without an answer it was sent all the same */
			all[k]->sent = true;
			if (pairs[i].entry != NULL)
				bp_told(all[k], pairs[i].entry);
			if (!all[k]->verified && !all[k]->once)
				all[k]->late = true;
		}
}

bool
bps_mark_conditions(const char *path, struct json_object *sent)
{
	struct json_object *item;
	bool some = false;
	size_t i, k;

	for (i = 0; i < jlen(sent); i++) {
		item = jat(sent, i);
		if (jget_str(item, "condition") == NULL)
			continue;
		for (k = 0; k < count; k++)
			if (is_item(path, all[k], item) &&
			    all[k]->checked_here && all[k]->late) {
				all[k]->stale = some = true;
				all[k]->sent = false;
			}
	}
	return some;
}

void
bps_placed(const char *function, const char *file, int64_t line,
    uint64_t address)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (all[i]->kind != BP_FUNCTION ||
		    !same(all[i]->function, function))
			continue;
		all[i]->placed = true;
		bps_set(&all[i]->actual_file, file);
		all[i]->actual_line = line;
		all[i]->address = address;
	}
}

void
bps_untold(void)
{
	struct bp *bp;
	size_t i;

	for (i = 0; i < count; i++) {
		bp = all[i];
		bp->sent = bp->verified = bp->has_adapter_id = false;
		bp->placed = bp->late = bp->stale = false;
		bp->actual_line = 0;
		bp->address = 0;
		bp->tries = 0;
		bp->hits = 0;
		bp->hit = bp->condition_good = false;
		bps_set(&bp->actual_file, NULL);
		bps_set(&bp->message, NULL);
		bps_set(&bp->condition_error, NULL);
		if (bp->kind == BP_LINE)
			bps_set(&bp->path, bp->file);
	}
}

/* -- how it is shown ---------------------------------------------------- */
static const char *
base(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

bool
bp_moved(const struct bp *bp)
{
	return bp->kind == BP_LINE && bp->verified && bp->actual_line > 0 &&
	    (bp->actual_line != bp->line ||
		(bp->actual_file != NULL &&
		    !same(base(bp->actual_file), base(bp->file))));
}

/* Where: "main.c:12", "function main". */
static void
place_words(const struct bp *bp, char *out, size_t room)
{
	if (bp->kind == BP_FUNCTION)
		snprintf(out, room, "function %s", bp->function);
	else
		snprintf(out, room, "%s:%" PRId64, base(bp->file), bp->line);
}

void
bp_words(const struct bp *bp, char *out, size_t room)
{
	char place[512];

	place_words(bp, place, sizeof(place));
	if (bp->condition_error != NULL)
		snprintf(out, room,
		    "breakpoint %" PRId64 " at %s: its condition failed: %s",
		    bp->id, place, bp->condition_error);
	else if (!bp->enabled)
		snprintf(out, room, "breakpoint %" PRId64 " at %s, disabled",
		    bp->id, place);
	else if (bp_moved(bp))
		snprintf(out, room,
		    "breakpoint %" PRId64 " MOVED: %s has no code; it is at "
		    "%s:%" PRId64, bp->id, place,
		    base(bp->actual_file == NULL ? bp->file :
						    bp->actual_file),
		    bp->actual_line);
	else if (bp->verified)
		snprintf(out, room, "breakpoint %" PRId64 " at %s", bp->id,
		    place);
	else if (!bp->sent)
		snprintf(out, room, "breakpoint %" PRId64 " at %s, for the "
		    "next start", bp->id, place);
	else
		snprintf(out, room, "breakpoint %" PRId64 " at %s is NOT set "
		    "(yet): %s", bp->id, place, bp->message != NULL ?
		    bp->message : bp->kind == BP_LINE ? "no code is there" :
		    "the adapter finds no such function; try FILE:LINE");
}

static void
put_actual(struct json_object *o, const struct bp *bp)
{
	struct json_object *at = jobject();

	jput_str(at, "file", bp->actual_file);
	if (bp->actual_line > 0)
		jput_int(at, "line", bp->actual_line);
	if (bp->address != 0)
		jput_fmt(at, "address", "0x%" PRIx64, bp->address);
	jput(o, "actual", at);
}

struct json_object *
bp_json(const struct bp *bp)
{
	struct json_object *o = jobject();
	char words[2048];

	jput_int(o, "id", bp->id);
	jput_str(o, "kind", bp->kind == BP_LINE ? "line" : "function");
	jput_str(o, "file", bp->file);
	if (bp->kind == BP_LINE)
		jput_int(o, "line", bp->line);
	jput_str(o, "function", bp->function);
	jput_bool(o, "enabled", bp->enabled);
	jput_bool(o, "verified", bp->verified);
	if (bp->verified)
		put_actual(o, bp);
	jput_bool(o, "moved", bp_moved(bp));
	jput_str(o, "condition", bp->condition);
	if (bp->hit_count > 0)
		jput_int(o, "hit_count", bp->hit_count);
	jput_str(o, "log", bp->log);
	jput_int(o, "hits", bp->hits);
	jput_str(o, "message", bp->message);
	jput_str(o, "condition_error", bp->condition_error);
	bp_words(bp, words, sizeof(words));
	jput_str(o, "words", words);
	return o;
}
