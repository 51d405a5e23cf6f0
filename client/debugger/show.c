/* SPDX-License-Identifier: ISC */
/* Where a program stands: the summary of a stop, its stack and its
 * variables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/reply.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "show.h"
#include "view.h"

#define DEPTH_MAX	16	/* of values in values; json-c allows 32 */

/* The daemon's own sentence about what it did, or NULL. */
static const char *
words_of(struct json_object *json)
{
	static const char *const within[] = { "breakpoint", "watchpoint",
		"catchpoint" };
	const char *words = reply_str(json, "words", NULL);
	struct json_object *o;
	size_t i;

	for (i = 0; words == NULL && i < sizeof(within) / sizeof(within[0]);
	    i++)
		if (json_object_is_type(json, json_type_object) &&
		    json_object_object_get_ex(json, within[i], &o))
			words = reply_str(o, "words", NULL);
	return words;
}

static void
put_ids(const struct view *v, const char *what, struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	fprintf(v->out, "%s ", what);
	for (i = 0; i < n; i++)
		fprintf(v->out, "%s%" PRId64, i > 0 ? ", " : "",
		    json_object_get_int64(json_object_array_get_idx(list, i)));
}

void
show_words(struct json_object *json, const struct view *v)
{
	const char *words = words_of(json);
	struct json_object *list = NULL;

	if (words == NULL && view_list(json, "removed", &list) > 0)
		put_ids(v, "removed", list);
	else
		view_text(v, words != NULL && *words != '\0' ? words :
		    reply_str(json, "state", "done"));
	fputc('\n', v->out);
	view_warning(v, json);
}

/* -- the summary ----------------------------------------------------------- */

/* The reason alone does not name the signal or the exception. */
static bool
tells_more(const char *reason)
{
	return strcmp(reason, "signal") == 0 ||
	    strcmp(reason, "exception") == 0;
}

/* Prints the reason in brackets: our own ids, or the adapter's words. */
static void
put_reason(const struct view *v, struct json_object *json)
{
	const char *reason = reply_str(json, "reason", "");
	const char *description = reply_str(json, "description", "");
	struct json_object *list = NULL;

	if (*reason == '\0')
		return;
	fputs(" (", v->out);
	if (view_list(json, "breakpoints", &list) > 0)
		/* a throw's ids are those of catchpoints */
		put_ids(v, strcmp(reason, "exception") == 0 ? "catchpoint" :
		    "breakpoint", list);
	else if (view_list(json, "watchpoints", &list) > 0)
		put_ids(v, "watchpoint", list);
	else {
		/* of a step or a pause the description says no more */
		if (!tells_more(reason))
			description = "";
		if (strncmp(description, reason, strlen(reason)) != 0) {
			view_text(v, reason);
			fputs(*description != '\0' ? ": " : "", v->out);
		}
		view_text(v, description);
	}
	fputc(')', v->out);
}

/* The first line of a stop: which thread, where, and what for. */
static void
put_position(const struct view *v, struct json_object *json)
{
	struct json_object *thread = NULL, *frame = NULL;
	char *place, *function;
	int64_t id;

	json_object_object_get_ex(json, "thread", &thread);
	json_object_object_get_ex(json, "frame", &frame);
	place = view_place(v, frame);
	function = view_member(frame, "function");
	if (reply_int(thread, "id", &id))
		fprintf(v->out, "Thread %" PRId64, id);
	else
		fputs("The program", v->out);
	/* what is looked at need not be where it stopped */
	if (reply_int(frame, "index", &id) && id > 0)
		fprintf(v->out, ", frame %" PRId64 ",", id);
	else
		fputs(" stopped", v->out);
	if (*place != '\0')
		fprintf(v->out, " at %s", place);
	if (*function != '\0')
		fprintf(v->out, " in %s", function);
	put_reason(v, json);
	fputc('\n', v->out);
	free(place);
	free(function);
}

/* Prints an exception, or why a signal came, unless the place says it. */
static void
put_exception(const struct view *v, struct json_object *json)
{
	struct json_object *exception = NULL;
	char *id, *description;

	if (!json_object_object_get_ex(json, "exception", &exception))
		return;
	id = view_member(exception, "id");
	description = view_member(exception, "description");
	/* of a signal all has been said */
	if (strcmp(reply_str(exception, "description", ""),
	    reply_str(json, "description", "")) != 0)
		fprintf(v->out, "Exception: %s%s%s\n", id, *id != '\0' &&
		    *description != '\0' ? ": " : "", description);
	free(id);
	free(description);
}

/* It was let run, and stands as before. */
static void
put_refused(const struct view *v, struct json_object *json)
{
	const char *why = reply_str(json, "refused", NULL);
	char *line;

	if (why == NULL || (line = strndup(why, strcspn(why, "\n"))) == NULL)
		return;
	fprintf(v->out, "Not moved: ");
	view_text(v, line);
	fputc('\n', v->out);
	free(line);
}

/* It stands there because nobody can tell whether it should. */
static void
put_failed_conditions(const struct view *v, struct json_object *json)
{
	struct json_object *list = NULL, *o;
	size_t i, n = view_list(json, "failed_conditions", &list);
	const char *error;
	int64_t id = 0;
	char *line;

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		error = reply_str(o, "error", "");
		(void)reply_int(o, "id", &id);
		if ((line = strndup(error, strcspn(error, "\n"))) == NULL)
			return;
		fprintf(v->out, "The condition of breakpoint %" PRId64
		    " failed: ", id);
		view_text(v, line);
		fputc('\n', v->out);
		free(line);
	}
}

static bool
is_stopped(struct json_object *json)
{
	return strcmp(reply_str(json, "state", ""), "stopped") == 0;
}

/* Prints the adapter's request that new requests have to wait for. */
static void
put_busy(const struct view *v, struct json_object *json)
{
	struct json_object *adapter = NULL, *busy = NULL;
	char *name, *request;
	int64_t ms = 0;

	if (!json_object_object_get_ex(json, "adapter", &adapter) ||
	    !json_object_object_get_ex(adapter, "busy", &busy))
		return;
	name = view_member(adapter, "name");
	request = view_member(busy, "request");
	(void)reply_int(busy, "ms", &ms);
	fprintf(v->out, "%s is busy with \"%s\" for %" PRId64 " s\n", name,
	    request, ms / 1000);
	free(name);
	free(request);
}

/*
 * Prints all that is known of a stop, in the order in which people ask: where
 * and why, the source around it, variables and their previous values, output.
 * An answer that is no stop consists of the daemon's words, and output.
 */
void
show_summary(struct json_object *json, const struct view *v)
{
	struct json_object *changed = NULL, *list = NULL, *source = NULL;

	put_busy(v, json);
	if (!is_stopped(json)) {
		show_words(json, v);
		view_output(v, json);
		view_cut(v, json);
		return;
	}
	put_position(v, json);
	put_exception(v, json);
	put_failed_conditions(v, json);
	put_refused(v, json);
	view_warning(v, json);
	if (json_object_object_get_ex(json, "source", &source)) {
		fputc('\n', v->out);
		view_source(v, source);
		fputc('\n', v->out);
	}
	view_list(json, "changed", &changed);
	if (view_list(json, "arguments", &list) > 0)
		view_variables(v, "Arguments", list, changed);
	if (view_list(json, "locals", &list) > 0)
		view_variables(v, "Locals", list, changed);
	view_output(v, json);
	view_cut(v, json);
}

/* -- values ---------------------------------------------------------------- */

/* Prints the size of a value that was cut, or its number of members. */
static void
put_count(const struct view *v, struct json_object *o)
{
	int64_t n, bytes;

	if (reply_true(o, "truncated")) {
		fputs(" ...", v->out);
		if (reply_int(o, "bytes", &bytes))
			fprintf(v->out, " (%" PRId64 " bytes)", bytes);
	}
	if (*reply_str(o, "value", "") == '\0' && reply_int(o, "children",
	    &n) && n > 0)
		fprintf(v->out, "{%" PRId64 " members}", n);
}

/* Prints a value on one line, and its members indented below it. */
static void
put_value(const struct view *v, struct json_object *o, int depth)
{
	struct json_object *fields = NULL;
	char *name = view_member(o, "name"), *type = view_member(o, "type");
	size_t i, n;

	fprintf(v->out, "%*s", depth * 2, "");
	if (v->types && *type != '\0')
		fprintf(v->out, "(%s) ", type);
	if (*name != '\0')
		fprintf(v->out, "%s = ", name);
	view_text(v, reply_str(o, "value", ""));
	put_count(v, o);
	fputc('\n', v->out);
	free(name);
	free(type);
	n = depth < DEPTH_MAX ? view_list(o, "fields", &fields) : 0;
	for (i = 0; i < n; i++)
		put_value(v, json_object_array_get_idx(fields, i), depth + 1);
}

void
show_value(struct json_object *json, const struct view *v)
{
	char *old = view_member(json, "old");

	put_value(v, json, 0);
	if (*old != '\0')
		fprintf(v->out, "it was %s\n", old);
	free(old);
	view_output(v, json);
	view_warning(v, json);
	view_cut(v, json);
}

/* locals has both lists, args the first alone: what is missing is not shown. */
void
show_locals(struct json_object *json, const struct view *v)
{
	struct json_object *list = NULL;
	size_t n;

	if ((n = view_list(json, "arguments", &list)) > 0)
		view_variables(v, "Arguments", list, NULL);
	if ((n += view_list(json, "locals", &list)) > 0 && list != NULL)
		view_variables(v, "Locals", list, NULL);
	if (n == 0)
		fputs("none\n", v->out);
	view_warning(v, json);
	view_cut(v, json);
}

void
show_source(struct json_object *json, const struct view *v)
{
	struct json_object *source = NULL;
	const char *file;

	if (!json_object_object_get_ex(json, "source", &source)) {
		show_words(json, v);
		return;
	}
	if ((file = reply_str(source, "file", NULL)) != NULL) {
		view_text(v, view_path(v, file));
		fputs("\n\n", v->out);
	}
	view_source(v, source);
	view_cut(v, json);
}

/* -- stack and threads ----------------------------------------------------- */

/* Prints a frame on one line, and its variables if asked for. */
static void
put_frame(const struct view *v, struct json_object *frame)
{
	struct json_object *list = NULL;
	char *function = view_member(frame, "function");
	char *place = view_place(v, frame), *module;
	int64_t index = 0;

	reply_int(frame, "index", &index);
	fprintf(v->out, "%s #%-3" PRId64 " %s", reply_true(frame, "selected") ?
	    "->" : "  ", index, *function != '\0' ? function : "??");
	if (*place != '\0')
		fprintf(v->out, " at %s", place);
	module = view_member(frame, "module");
	if (*module != '\0' && reply_str(frame, "file", NULL) == NULL)
		fprintf(v->out, " in %s", module);
	fputc('\n', v->out);
	if (view_list(frame, "arguments", &list) > 0)
		view_variables(v, "Arguments", list, NULL);
	if (view_list(frame, "locals", &list) > 0)
		view_variables(v, "Locals", list, NULL);
	free(function);
	free(place);
	free(module);
}

void
show_backtrace(struct json_object *json, const struct view *v)
{
	struct json_object *frames = NULL;
	size_t i, n = view_list(json, "frames", &frames);
	int64_t total;

	for (i = 0; i < n; i++)
		put_frame(v, json_object_array_get_idx(frames, i));
	if (n == 0)
		show_words(json, v);
	else if (reply_int(json, "total", &total) && total > (int64_t)n)
		fprintf(v->out, "(%" PRId64 " frames in all; --limit)\n",
		    total);
	view_warning(v, json);
	view_cut(v, json);
}

void
show_threads(struct json_object *json, const struct view *v)
{
	static const struct table_column columns[] = {
		{ .title = "ID", .keep = 1 }, { .title = "Name" },
		{ .title = "State" }, { .title = "Location" },
	};
	struct json_object *list = NULL, *o;
	size_t i, n = view_list(json, "threads", &list);
	struct table *t = table_new(columns, 4);
	bool selected;
	char *place;

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		selected = reply_true(o, "selected");
		view_cell(t, o, "id");
		view_cell(t, o, "name");
		table_cell(t, reply_str(o, "state", "stopped"), selected ?
		    GREEN : PLAIN);
		place = view_place(v, o);
		/* without source its function is all that is known */
		if (*place == '\0') {
			free(place);
			place = view_member(o, "function");
		}
		table_cell(t, place, PLAIN);
		free(place);
	}
	table_box(t, v->out, v->width, v->utf8, v->colours);
	table_free(t);
	view_cut(v, json);
}
