/* SPDX-License-Identifier: ISC */
/* Tracers' answers, shown to people. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "client/lib/term.h"
#include "trc_ask.h"
#include "trc_show.h"

#define KEY_WIDTH	"%-14s"

/* -- one line a member ----------------------------------------------------- */

static void
print_value(FILE *out, const char *key, const char *value)
{
	char *text = safe_string(value);

	fprintf(out, KEY_WIDTH "%s\n", key, text);
	free(text);
}

/* A member that is text, unless it is missing or empty. */
static void
print_text(FILE *out, struct json_object *o, const char *key,
    const char *shown)
{
	const char *value = reply_str(o, key, "");

	if (*value != '\0')
		print_value(out, shown, value);
}

/* A member that is a number; 0 only if that says something. */
static void
print_number(FILE *out, struct json_object *o, const char *key,
    const char *shown, bool zero)
{
	int64_t n;

	if (reply_int(o, key, &n) && (n != 0 || zero))
		fprintf(out, KEY_WIDTH "%" PRId64 "\n", shown, n);
}

/* A member that is an array with something in it; NULL: not. */
static struct json_object *
list_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, key, &v) &&
	    json_object_is_type(v, json_type_array) &&
	    json_object_array_length(v) > 0 ? v : NULL;
}

/* A list of texts, as many a line as there are. */
static void
print_list(FILE *out, struct json_object *o, const char *key,
    const char *shown)
{
	struct json_object *list = list_of(o, key);
	char *text;
	size_t i;

	if (list == NULL)
		return;
	fprintf(out, KEY_WIDTH, shown);
	for (i = 0; i < json_object_array_length(list); i++) {
		text = safe_string(json_object_get_string(
		    json_object_array_get_idx(list, i)));
		fprintf(out, "%s%s", i > 0 ? ", " : "", text);
		free(text);
	}
	fputc('\n', out);
}

/* -- tables ---------------------------------------------------------------- */

static struct table *
begin(const struct table_column *columns, size_t n)
{
	return table_new(columns, n);
}

static void
end(struct table *t, FILE *out)
{
	table_print(t, out, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

static void
cell_number(struct table *t, struct json_object *o, const char *key)
{
	char digits[24] = "";
	int64_t n;

	if (reply_int(o, key, &n))
		snprintf(digits, sizeof(digits), "%" PRId64, n);
	table_cell(t, digits, PLAIN);
}

/* Prints functions not watched, or not wholly: each with its reason. */
static void
print_reasons(FILE *out, struct json_object *o, const char *key,
    const char *title)
{
	static const struct table_column columns[] = {
		{ .title = "  FUNCTION" }, { .title = "REASON" },
	};
	struct json_object *list = list_of(o, key), *e;
	char name[1024];
	struct table *t;
	size_t i;

	if (list == NULL)
		return;
	fprintf(out, "\n%s\n", title);
	t = begin(columns, 2);
	for (i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		snprintf(name, sizeof(name), "  %.1000s",
		    reply_str(e, "function", "?"));
		table_cell(t, name, PLAIN);
		table_cell(t, reply_str(e, "reason", ""), PLAIN);
	}
	end(t, out);
}

/* "and 23 more" behind a list that was cut. */
static void
print_rest(FILE *out, struct json_object *o, const char *list,
    const char *count)
{
	struct json_object *l = list_of(o, list);
	size_t shown = l == NULL ? 0 : json_object_array_length(l);
	int64_t n;

	if (reply_int(o, count, &n) && n > (int64_t)shown)
		fprintf(out, "  and %" PRId64 " more\n", n - (int64_t)shown);
}

static void
print_unseen(struct json_object *o, FILE *out)
{
	print_reasons(out, o, "notTraceable", "Not traceable:");
	print_rest(out, o, "notTraceable", "notTraceableCount");
	print_reasons(out, o, "entryOnly", "Without their returns:");
}

/* -- answers --------------------------------------------------------------- */

/* Prints what is watched, and which patterns match nothing yet. */
static void
print_watched(struct json_object *o, FILE *out)
{
	print_text(out, o, "sessionId", "session");
	print_number(out, o, "pid", "pid", false);
	print_text(out, o, "state", "state");
	print_text(out, o, "projectRoot", "project");
	print_list(out, o, "activePatterns", "patterns");
	print_list(out, o, "patterns", "patterns");
	print_list(out, o, "pending", "no match yet");
	print_number(out, o, "hookedFunctions", "functions", false);
	print_list(out, o, "inlined", "inlined");
}

static bool
is_no_symbols(const char *warning)
{
	static const char code[] = TRC_NO_SYMBOLS ":";

	return warning != NULL && strncmp(warning, code, sizeof(code) - 1) == 0;
}

bool
trc_is_vain(struct json_object *o)
{
	struct json_object *list = list_of(o, "warnings");

	/* it is the first, if it is one */
	return list != NULL && json_object_array_length(list) > 0 &&
	    is_no_symbols(json_object_get_string(
	    json_object_array_get_idx(list, 0)));
}

/* Names the option that stands here for an argument of agents. */
static void
print_warning(const char *words)
{
	static const char agents[] = "with rawRegisters ", ours[] = "with --raw ";
	const char *at;

	/* who ran it has said that, in its own words */
	if (words == NULL || is_no_symbols(words))
		return;
	at = strstr(words, agents);
	if (at == NULL)
		report("warning: %s", words);
	else
		report("warning: %.*s%s%s", (int)(at - words), words, ours,
		    at + sizeof(agents) - 1);
}

static void
print_warnings(struct json_object *o)
{
	struct json_object *list = list_of(o, "warnings");
	size_t i;

	for (i = 0; list != NULL && i < json_object_array_length(list); i++)
		print_warning(json_object_get_string(
		    json_object_array_get_idx(list, i)));
}

void
trc_show_trace(struct json_object *o, FILE *out)
{
	print_watched(o, out);
	print_unseen(o, out);
	print_warnings(o);
}

/* "events 120 (3.2M of 1.0G)" */
static void
print_events(struct json_object *o, FILE *out)
{
	char bytes[TERM_BYTES], most[TERM_BYTES];
	int64_t events = 0, size = 0, limit = 0;

	if (!reply_int(o, "events", &events))
		return;
	reply_int(o, "bytes", &size);
	fprintf(out, KEY_WIDTH "%" PRId64 " (%s", "events", events,
	    term_bytes((uint64_t)(size > 0 ? size : 0), bytes));
	if (reply_int(o, "bytesMost", &limit) && limit > 0)
		fprintf(out, " of %s", term_bytes((uint64_t)limit, most));
	fputs(")\n", out);
}

static void
print_stored(struct json_object *o, FILE *out)
{
	struct json_object *v;

	print_events(o, out);
	print_number(out, o, "evicted", "evicted", false);
	print_number(out, o, "lost", "lost", false);
	if (json_object_object_get_ex(o, "threads", &v) &&
	    json_object_is_type(v, json_type_array))
		fprintf(out, KEY_WIDTH "%zu\n", "threads",
		    json_object_array_length(v));
	else
		print_number(out, o, "threads", "threads", false);
	print_text(out, o, "file", "file");
	print_text(out, o, "trouble", "trouble");
}

static void
print_counts(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "CALLS", .right = 1, .keep = 1 },
		{ "SKIPPED", .right = 1, .optional = 1, .keep = 1 },
		{ .title = "FUNCTION" },
	};
	struct json_object *e;
	struct table *t = begin(columns, 3);
	int64_t skipped;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		cell_number(t, e, "calls");
		if (reply_int(e, "skipped", &skipped) && skipped > 0)
			cell_number(t, e, "skipped");
		else
			table_cell(t, "", PLAIN);
		table_cell(t, reply_str(e, "function", "?"), PLAIN);
	}
	fputc('\n', out);
	end(t, out);
}

/* Calls that are not in the timeline, by thread. */
static void
print_losses(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "LOST", .right = 1, .keep = 1 },
		{ "THREAD", .right = 1, .keep = 1 },
		{ .title = "NAME", .optional = 1 },
	};
	struct json_object *e;
	struct table *t = begin(columns, 3);
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		cell_number(t, e, "lost");
		cell_number(t, e, "threadId");
		table_cell(t, reply_str(e, "threadName", ""), PLAIN);
	}
	fputc('\n', out);
	end(t, out);
}

void
trc_show_status(struct json_object *o, FILE *out)
{
	struct json_object *list;

	print_watched(o, out);
	print_stored(o, out);
	if ((list = list_of(o, "functions")) != NULL)
		print_counts(list, out);
	if ((list = list_of(o, "losses")) != NULL)
		print_losses(list, out);
	print_unseen(o, out);
	print_warnings(o);
}

/* A path as it is from here; of those elsewhere the end tells most. */
static const char *
seen_from_here(const char *file)
{
	char cwd[PATH_MAX];
	const char *p = file + strlen(file);
	size_t len;
	int parts = 2;

	if (getcwd(cwd, sizeof(cwd)) != NULL &&
	    strncmp(file, cwd, len = strlen(cwd)) == 0 && file[len] == '/')
		return file + len + 1;
	while (p > file && !(*p == '/' && --parts == 0))
		p--;
	return *p == '/' && p > file ? p + 1 : file;
}

/* "src/net.c:120", or nothing. */
static void
cell_place(struct table *t, struct json_object *e)
{
	const char *file = seen_from_here(reply_str(e, "file", ""));
	int64_t line = 0;
	char *text;

	reply_int(e, "line", &line);
	if (*file == '\0' || asprintf(&text, line > 0 ? "%s:%" PRId64 : "%s",
	    file, line) == -1) {
		table_cell(t, "", PLAIN);
		return;
	}
	table_cell(t, text, PLAIN);
	free(text);
}

void
trc_show_functions(struct json_object *o, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "FUNCTION" },
		{ "BYTES", .right = 1, .optional = 1, .keep = 1 },
		{ .title = "PLACE", .optional = 1 },
		{ .title = "NOT TRACEABLE", .optional = 1 },
	};
	struct json_object *list = list_of(o, "functions"), *e;
	struct table *t;
	int64_t size;
	size_t i;

	if (list == NULL) {
		fputs("no functions\n", out);
		return;
	}
	t = begin(columns, 4);
	for (i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		table_cell(t, reply_str(e, "function", "?"), PLAIN);
		/* a symbol's size may not be known */
		if (reply_int(e, "size", &size) && size > 0)
			cell_number(t, e, "size");
		else
			table_cell(t, "", PLAIN);
		cell_place(t, e);
		table_cell(t, reply_true(e, "traceable") ? "" :
		    reply_str(e, "reason", "no"), YELLOW);
	}
	end(t, out);
	print_rest(out, o, "functions", "totalCount");
}

void
trc_show_sessions(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "ID", .keep = 1 }, { .title = "NAME", .optional = 1 },
		{ "STATE", .keep = 1 },
		{ "FUNCTIONS", .right = 1, .keep = 1 },
		{ "PID", .right = 1, .optional = 1, .keep = 1 },
		{ .title = "PROGRAM", .optional = 1 },
		{ .title = "OWNER", .optional = 1 },
	};
	static const char *const ids[] = { "session", "id", "sessionId" };
	struct json_object *e;
	struct table *t;
	char id[9];
	size_t i, k;

	if (json_object_array_length(list) == 0) {
		fputs("nothing is traced\n", out);
		return;
	}
	t = begin(columns, 7);
	for (i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		for (k = 0; k < 2 && *reply_str(e, ids[k], "") == '\0'; k++)
			;
		snprintf(id, sizeof(id), "%s", reply_str(e, ids[k], "?"));
		table_cell(t, id, PLAIN);
		table_cell(t, reply_str(e, "name", ""), PLAIN);
		table_cell(t, reply_str(e, "state", "?"), PLAIN);
		cell_number(t, e, "functions");
		cell_number(t, e, "pid");
		table_cell(t, reply_str(e, "program", ""), PLAIN);
		table_cell(t, reply_str(e, "owner", ""), PLAIN);
	}
	end(t, out);
}

void
trc_show_stop(struct json_object *o, FILE *out)
{
	const char *kept = reply_str(o, "kept", "");
	int64_t n = 0;
	char *path;

	reply_int(o, "eventsCollected", &n);
	fprintf(out, "stopped; %" PRId64 " events were collected", n);
	if (*kept != '\0') {
		path = safe_string(kept);
		fprintf(out, ", and are kept in %s", path);
		free(path);
	}
	fputc('\n', out);
}

/* -- on stderr ------------------------------------------------------------- */

void
trc_note_losses(struct json_object *o)
{
	struct json_object *list = list_of(o, "losses"), *v;
	int64_t n, lost = 0;
	size_t i;

	for (i = 0; list != NULL && i < json_object_array_length(list); i++)
		if (reply_int(json_object_array_get_idx(list, i), "lost", &n))
			lost += n;
	if (lost > 0)
		report("%" PRId64 " calls of %zu threads are missing: they "
		    "came faster than they could be read", lost,
		    json_object_array_length(list));
	if (reply_int(o, "lostOutputBytes", &n) && n > 0)
		report("%" PRId64 " bytes of output are missing: they were "
		    "overwritten before they could be read, or the timeline "
		    "is full", n);
	if (reply_int(o, "evicted", &n) && n > 0)
		report("the oldest %" PRId64 " entries and exits of calls "
		       "have made room for later ones",
		    n);
	if (*reply_str(o, "trouble", "") != '\0')
		report("%s", reply_str(o, "trouble", ""));
	if (json_object_object_get_ex(o, "sampled", &v) &&
	    (json_object_is_type(v, json_type_array) ?
	    json_object_array_length(v) > 0 : json_object_get_boolean(v)))
		report("some functions are called more often than their "
		    "budget, and are sampled; \"%s trace status\" says which",
		    CTL_NAME);
}
