/* SPDX-License-Identifier: ISC */
/*
 * Breakpoints and catchpoints of editors.  An editor says all of a file, or
 * all of a kind, at once; what it said before and does not say again goes,
 * what others have set stays.
 */
#include <json-c/json.h>

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dapserver.h"
#include "debugger/base/command.h"
#include "debugger/base/op.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/catch.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"

#define FUNCTIONS	":functions"	/* no path */
#define EXCEPTIONS	":exceptions"	/* nor this */

/* A message that sets breakpoints; an editor has one of these at a time. */
struct setting {
	struct editor	*editor;	/* held */
	struct json_object *message;	/* held */
	const char	*path;		/* borrowed from message, or no path */
	struct json_object *wanted;	/* owned; NULL = none */
	struct json_object *before;	/* owned: [{"id","key"}] not taken over */
	struct json_object *now;	/* owned: the same, of this message */
	struct json_object *answers;	/* owned */
	size_t		 at;
	size_t		 leaving;	/* removals that are not done, and one */
};

#define LATER_MAX	((size_t)4 << 20)	/* bytes of messages that wait */

static void	next(struct setting *);
static void	begin_later(struct editor *);

static const char *
key_of(struct json_object *o)
{
	size_t len;

	return jwrite(o, &len);
}

static struct json_object *
get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(o, name, &v);
	return v;
}

/* -- answers -- */
static bool
is_catch(const char *path)
{
	return strcmp(path, EXCEPTIONS) == 0;
}

/* Whether that is there (still). */
static bool
is_there(const char *path, int64_t id, bool *verified)
{
	const struct bp *bp = is_catch(path) ? NULL : bps_find(id);

	*verified = bp != NULL && bp->verified;
	return is_catch(path) ? catch_there(id, verified) : bp != NULL;
}

/* id 0: it was refused with these words. */
static void
answer_one(struct setting *s, int64_t id, const char *words)
{
	const struct bp *bp = is_catch(s->path) || id == 0 ? NULL :
	    bps_find(id);
	struct json_object *o = jobject();
	int64_t line = 0;
	bool verified;

	(void)is_there(s->path, id, &verified);
	jput(o, "verified", jbool(verified));
	if (id != 0)
		jput(o, "id", jint(id));
	if (bp != NULL) {
		line = bp->actual_line > 0 ? bp->actual_line : bp->line;
		words = bp->message;
	} else if (id != 0)
		words = catch_message(id);
	/* that of a function is known once the adapter has found it */
	if (line > 0)
		jput(o, "line", jint(line));
	if (words != NULL)
		jput(o, "message", jtext(words));
	jadd(s->answers, o);
}

static void
note(struct setting *s, int64_t id, struct json_object *wanted)
{
	struct json_object *o = jobject();

	jput(o, "id", jint(id));
	jput(o, "key", jtext(key_of(wanted)));
	jadd(s->now, o);
}

/* -- removing -- */
static void
told_nobody(struct op *op, bool failed, struct json_object *json)
{
	(void)op;
	(void)failed;
	(void)json;
}

/* Each of them tells told, with data. */
static void
remove_all(const struct ask *ask, const char *path, struct json_object *list,
    void (*told)(struct op *, bool, struct json_object *), void *data)
{
	struct json_object *args;
	size_t i, n = list == NULL ? 0 : json_object_array_length(list);

	for (i = 0; i < n; i++) {
		args = jobject();
		jput(args, "id", json_object_get(get(
		    json_object_array_get_idx(list, i), "id")));
		commands_give(ask, is_catch(path) ? "catch_remove" :
		    "breakpoint_remove", args, told, data);
	}
}

/* Refuses the messages of an editor that wait and were not begun. */
static void
drop_later(struct editor *e)
{
	struct json_object *later = e->later;
	size_t i, n = later == NULL ? 0 : json_object_array_length(later);

	e->later = NULL;
	e->later_len = 0;
	for (i = 0; i < n; i++)
		editor_respond(e, json_object_array_get_idx(later, i), false,
		    "this editor leaves", NULL);
	json_object_put(later);
}

void
editor_drop_breakpoints(struct editor *e)
{
	struct json_object *places = e->places;

	drop_later(e);
	e->places = jobject();
	json_object_object_foreach(places, path, list) {
		remove_all(&e->ask, path, list, told_nobody, NULL);
	}
	json_object_put(places);
}

/* -- setting -- */
static void
finish(struct setting *s)
{
	struct json_object *body = jobject();
	struct editor *e = s->editor;

	if (json_object_array_length(s->now) > 0)
		jput(e->places, s->path, json_object_get(s->now));
	jput(body, "breakpoints", json_object_get(s->answers));
	editor_respond(e, s->message, true, NULL, body);
	e->setting = false;
	if (e->gone || e->last)
		editor_drop_breakpoints(e);
	else
		begin_later(e);
	json_object_put(s->wanted);
	json_object_put(s->before);
	json_object_put(s->now);
	json_object_put(s->answers);
	json_object_put(s->message);
	editor_unref(e);
	free(s);
}

/* An editor that has its answer is not stopped by what it took back. */
static void
on_removed(struct op *op, bool failed, struct json_object *json)
{
	struct setting *s = op->told_data;

	(void)failed;
	(void)json;
	if (--s->leaving == 0)
		finish(s);
}

static void
remove_others(struct setting *s)
{
	s->leaving = 1 + json_object_array_length(s->before);
	remove_all(&s->editor->ask, s->path, s->before, on_removed, s);
	if (--s->leaving == 0)
		finish(s);
}

/* It was there before, just so: it stays, with its hits.  0 = it was not. */
static int64_t
taken_over(struct setting *s, struct json_object *wanted)
{
	size_t i, n = json_object_array_length(s->before);
	struct json_object *o;
	bool verified;
	int64_t id;

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(s->before, i);
		if (strcmp(json_object_get_string(get(o, "key")),
		    key_of(wanted)) != 0)
			continue;
		id = json_object_get_int64(get(o, "id"));
		json_object_array_del_idx(s->before, i, 1);
		return is_there(s->path, id, &verified) ? id : 0;
	}
	return 0;
}

static void
on_added(struct op *op, bool failed, struct json_object *json)
{
	struct setting *s = op->told_data;
	struct json_object *wanted = json_object_array_get_idx(s->wanted,
	    s->at);
	struct bp *bp;
	int64_t id = 0;

	if (!failed) {
		id = json_object_get_int64(get(get(json, is_catch(s->path) ?
		    "catchpoint" : "breakpoint"), "id"));
		note(s, id, wanted);
		if (!is_catch(s->path) && (bp = bps_find(id)) != NULL)
			bp->owner = s->editor->id;
	}
	answer_one(s, id, failed ? json_object_get_string(get(json,
	    "message")) : NULL);
	s->at++;
	next(s);
}

static struct json_object *
translated_catch(struct json_object *wanted)
{
	struct json_object *args = jobject(), *type;
	const char *filter = json_object_get_string(get(wanted, "filterId"));

	jput(args, "kind", jtext(catch_kind_of(filter == NULL ? "" : filter)));
	type = get(wanted, "condition");
	if (json_object_is_type(type, json_type_string) &&
	    json_object_get_string_len(type) > 0)
		jput(args, "type", json_object_get(type));
	return args;
}

/*
 * From which hit on it stops: "5", ">= 5", "> 4"; 0 = from the first.
 * False: it says something that we do not do.
 */
static bool
hits_of(struct json_object *wanted, int64_t *n)
{
	struct json_object *v = get(wanted, "hitCondition");
	const char *p = v == NULL ? "" : json_object_get_string(v);
	bool above = false;
	char *end;

	*n = 0;
	p += strspn(p, " ");
	if (*p == '>') {
		above = p[1] != '=';
		p += above ? 1 : 2;
		p += strspn(p, " ");
	} else if (*p == '\0')
		return true;
	if (!isdigit((unsigned char)*p))
		return false;
	*n = strtoll(p, &end, 10);
	if (*n > INT32_MAX || end[strspn(end, " ")] != '\0')
		return false;
	*n += above;
	return true;
}

/* In our words what the editor wants, but for its hits. */
static struct json_object *
translated(struct setting *s, struct json_object *wanted)
{
	static const struct {
		const char	*theirs, *ours;
	} same[] = {
		{ "line", "line" }, { "name", "function" },
		{ "condition", "condition" }, { "logMessage", "log" },
	};
	struct json_object *args = jobject(), *v;
	size_t i;

	if (strcmp(s->path, FUNCTIONS) != 0)
		jput(args, "file", jtext(s->path));
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if ((v = get(wanted, same[i].theirs)) != NULL &&
		    json_object_get_string_len(v) != 0)
			jput(args, same[i].ours, json_object_get(v));
	v = get(wanted, "line");
	if (v != NULL)
		jput(args, "line", json_object_get(v));
	return args;
}

static void
add(struct setting *s, struct json_object *wanted, int64_t hits)
{
	struct json_object *args = translated(s, wanted);

	if (hits > 0)
		jput(args, "hit_count", jint(hits));
	commands_give(&s->editor->ask, "breakpoint_add", args, on_added, s);
}

static void
next(struct setting *s)
{
	struct json_object *wanted;
	int64_t id, hits;

	for (; s->wanted != NULL &&
	    s->at < json_object_array_length(s->wanted); s->at++) {
		wanted = json_object_array_get_idx(s->wanted, s->at);
		if ((id = taken_over(s, wanted)) == 0 && is_catch(s->path)) {
			commands_give(&s->editor->ask, "catch_add",
			    translated_catch(wanted), on_added, s);
			return;
		}
		if (id == 0 && hits_of(wanted, &hits)) {
			add(s, wanted, hits);
			return;
		}
		if (id == 0) {
			answer_one(s, 0, "of hits, only a number is known "
			    "here: it stops from that one on (\"5\", "
			    "\">= 5\")");
			continue;
		}
		note(s, id, wanted);
		answer_one(s, id, NULL);
	}
	remove_others(s);
}

/* Where the message is about, NULL = it does not say. */
static const char *
path_of(struct json_object *message)
{
	const char *command = json_object_get_string(get(message, "command"));
	struct json_object *path = get(get(get(message, "arguments"),
	    "source"), "path");

	if (strcmp(command, "setFunctionBreakpoints") == 0)
		return FUNCTIONS;
	if (strcmp(command, "setExceptionBreakpoints") == 0)
		return EXCEPTIONS;
	return json_object_is_type(path, json_type_string) ?
	    json_object_get_string(path) : NULL;
}

/* Filters by name alone, and those with a type, as one list. */
static struct json_object *
wanted_catches(struct json_object *args)
{
	struct json_object *list = jarray(), *o, *from;
	size_t i;

	from = get(args, "filters");
	for (i = 0; json_object_is_type(from, json_type_array) &&
	    i < json_object_array_length(from); i++) {
		o = jobject();
		jput(o, "filterId", json_object_get(
		    json_object_array_get_idx(from, i)));
		jadd(list, o);
	}
	from = get(args, "filterOptions");
	for (i = 0; json_object_is_type(from, json_type_array) &&
	    i < json_object_array_length(from); i++)
		jadd(list, json_object_get(json_object_array_get_idx(from, i)));
	return list;
}

/* A list, owned by the caller; NULL = none. */
static struct json_object *
wanted_of(const char *path, struct json_object *args)
{
	struct json_object *list = get(args, "breakpoints");

	if (is_catch(path))
		return wanted_catches(args);
	return json_object_is_type(list, json_type_array) ?
	    json_object_get(list) : NULL;
}

static void
begin(struct editor *e, struct json_object *message)
{
	const char *path = path_of(message);
	struct json_object *wanted = NULL, *old;
	struct setting *s;

	if (path == NULL) {
		editor_respond(e, message, false, "breakpoints without the "
		    "path of a source", NULL);
		return;
	}
	wanted = wanted_of(path, get(message, "arguments"));
	if (wanted != NULL && json_object_array_length(wanted) > BPS_MOST) {
		editor_respond(e, message, false, "more breakpoints than a "
		    "session may have; remove some", NULL);
		json_object_put(wanted);
		return;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL)
		fatal("editor");
	s->editor = editor_ref(e);
	s->message = json_object_get(message);
	s->path = path;
	s->wanted = wanted;
	old = get(e->places, s->path);
	s->before = old == NULL ? jarray() :
	    json_object_get(old);
	json_object_object_del(e->places, s->path);
	s->now = jarray();
	s->answers = jarray();
	e->setting = true;
	next(s);
}

/* Not from within begin(): what is done at once must not nest. */
static void
begin_later(struct editor *e)
{
	struct json_object *message;

	if (e->beginning)
		return;
	e->beginning = true;
	while (!e->setting && e->later != NULL &&
	    json_object_array_length(e->later) > 0) {
		message = json_object_get(json_object_array_get_idx(e->later,
		    0));
		json_object_array_del_idx(e->later, 0, 1);
		e->later_len -= jsize(message);
		begin(e, message);
		json_object_put(message);
	}
	e->beginning = false;
}

/*
 * The old breakpoints of a place are known when all earlier messages are done:
 * a message that comes meanwhile waits.
 */
void
editor_breakpoints(struct editor *e, struct json_object *message)
{
	const size_t len = jsize(message);

	if (len > LATER_MAX - e->later_len) {
		editor_respond(e, message, false, "too much waits for the "
		    "adapter already", NULL);
		return;
	}
	if (e->later == NULL)
		e->later = jarray();
	e->later_len += len;
	jadd(e->later, json_object_get(message));
	begin_later(e);
}
