/* SPDX-License-Identifier: ISC */
/*
 * Breakpoints of editors.  An editor says all of a file at once; what it said
 * before and does not say again goes, what others have set stays.
 */
#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>

#include "bps.h"
#include "commands.h"
#include "dapserver.h"
#include "log.h"

#define FUNCTIONS	":functions"	/* no path */

/* One message that sets breakpoints, done one after the other. */
struct setting {
	struct editor	*editor;	/* held */
	struct json_object *message;	/* held */
	const char	*path;		/* borrowed from message, or FUNCTIONS */
	struct json_object *wanted;	/* of message; borrowed; may be NULL */
	struct json_object *before;	/* owned: [{"id","key"}] not taken over */
	struct json_object *now;	/* owned: the same, of this message */
	struct json_object *answers;	/* owned */
	size_t		 at;
};

static void	next(struct setting *);

static const char *
key_of(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
}

static struct json_object *
get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(o, name, &v);
	return v;
}

/* -- answers -- */
static void
answer_one(struct setting *s, const struct bp *bp, const char *words)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "verified", json_object_new_boolean(
	    bp != NULL && bp->verified));
	if (bp != NULL) {
		json_object_object_add(o, "id",
		    json_object_new_int64(bp->id));
		json_object_object_add(o, "line", json_object_new_int64(
		    bp->actual_line > 0 ? bp->actual_line : bp->line));
		words = bp->message;
	}
	if (words != NULL)
		json_object_object_add(o, "message",
		    json_object_new_string(words));
	json_object_array_add(s->answers, o);
}

static void
note(struct setting *s, int64_t id, struct json_object *wanted)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "id", json_object_new_int64(id));
	json_object_object_add(o, "key",
	    json_object_new_string(key_of(wanted)));
	json_object_array_add(s->now, o);
}

/* -- removing -- */
static void
told_nobody(struct op *op, bool failed, struct json_object *json)
{
	(void)op;
	(void)failed;
	(void)json;
}

static void
remove_all(const struct ask *ask, struct json_object *list)
{
	struct json_object *args;
	size_t i, n = list == NULL ? 0 : json_object_array_length(list);

	for (i = 0; i < n; i++) {
		args = json_object_new_object();
		json_object_object_add(args, "id", json_object_get(get(
		    json_object_array_get_idx(list, i), "id")));
		commands_give(ask, "breakpoint_remove", args, told_nobody,
		    NULL);
	}
}

void
editor_drop_breakpoints(struct editor *e)
{
	struct json_object *places = e->places;

	e->places = json_object_new_object();
	json_object_object_foreach(places, path, list) {
		(void)path;
		remove_all(&e->ask, list);
	}
	json_object_put(places);
}

/* -- setting -- */
static void
finish(struct setting *s)
{
	struct json_object *body = json_object_new_object();

	remove_all(&s->editor->ask, s->before);
	if (json_object_array_length(s->now) > 0)
		json_object_object_add(s->editor->places, s->path,
		    json_object_get(s->now));
	json_object_object_add(body, "breakpoints",
	    json_object_get(s->answers));
	editor_respond(s->editor, s->message, true, NULL, body);
	if (s->editor->gone)
		editor_drop_breakpoints(s->editor);
	json_object_put(s->before);
	json_object_put(s->now);
	json_object_put(s->answers);
	json_object_put(s->message);
	editor_unref(s->editor);
	free(s);
}

/* It was there before, just so: it stays, with its hits. */
static struct bp *
taken_over(struct setting *s, struct json_object *wanted)
{
	size_t i, n = json_object_array_length(s->before);
	struct json_object *o;
	struct bp *bp;

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(s->before, i);
		if (strcmp(json_object_get_string(get(o, "key")),
		    key_of(wanted)) != 0)
			continue;
		bp = bps_find(json_object_get_int64(get(o, "id")));
		json_object_array_del_idx(s->before, i, 1);
		return bp;
	}
	return NULL;
}

static void
on_added(struct op *op, bool failed, struct json_object *json)
{
	struct setting *s = op->told_data;
	struct json_object *wanted = json_object_array_get_idx(s->wanted,
	    s->at);
	struct bp *bp = NULL;

		if (!failed)
		bp = bps_find(json_object_get_int64(get(get(json,
		    "breakpoint"), "id")));
	if (bp != NULL) {
		bp->owner = s->editor->id;
		note(s, bp->id, wanted);
	}
	answer_one(s, bp, failed ? json_object_get_string(get(json,
	    "message")) : NULL);
	s->at++;
	next(s);
}

/* In our words what the editor wants. */
static struct json_object *
translated(struct setting *s, struct json_object *wanted)
{
	static const struct {
		const char	*theirs, *ours;
	} same[] = {
		{ "line", "line" }, { "name", "function" },
		{ "condition", "condition" }, { "logMessage", "log" },
	};
	struct json_object *args = json_object_new_object(), *v;
	size_t i;

	if (strcmp(s->path, FUNCTIONS) != 0)
		json_object_object_add(args, "file",
		    json_object_new_string(s->path));
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if ((v = get(wanted, same[i].theirs)) != NULL &&
		    json_object_get_string_len(v) != 0)
			json_object_object_add(args, same[i].ours,
			    json_object_get(v));
	v = get(wanted, "line");
	if (v != NULL)
		json_object_object_add(args, "line", json_object_get(v));
	v = get(wanted, "hitCondition");
	if (v != NULL && json_object_get_int64(v) > 0)
		json_object_object_add(args, "hit_count",
		    json_object_new_int64(json_object_get_int64(v)));
	return args;
}

static void
next(struct setting *s)
{
	struct json_object *wanted;
	struct bp *bp;

	for (; s->wanted != NULL &&
	    s->at < json_object_array_length(s->wanted); s->at++) {
		wanted = json_object_array_get_idx(s->wanted, s->at);
		if ((bp = taken_over(s, wanted)) == NULL) {
			commands_give(&s->editor->ask, "breakpoint_add",
			    translated(s, wanted), on_added, s);
			return;
		}
		note(s, bp->id, wanted);
		answer_one(s, bp, NULL);
	}
	finish(s);
}

void
editor_breakpoints(struct editor *e, struct json_object *message)
{
	struct json_object *args = get(message, "arguments"), *path, *old;
	struct setting *s;

	path = get(get(args, "source"), "path");
	if (strcmp(json_object_get_string(get(message, "command")),
	    "setFunctionBreakpoints") != 0 &&
	    !json_object_is_type(path, json_type_string)) {
		editor_respond(e, message, false, "breakpoints without the "
		    "path of a source", NULL);
		return;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL)
		fatal("editor");
	s->editor = editor_ref(e);
	s->message = json_object_get(message);
	s->path = path == NULL ? FUNCTIONS : json_object_get_string(path);
	s->wanted = get(args, "breakpoints");
	if (!json_object_is_type(s->wanted, json_type_array))
		s->wanted = NULL;
	old = get(e->places, s->path);
	s->before = old == NULL ? json_object_new_array() :
	    json_object_get(old);
	json_object_object_del(e->places, s->path);
	s->now = json_object_new_array();
	s->answers = json_object_new_array();
	next(s);
}
