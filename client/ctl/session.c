/* SPDX-License-Identifier: ISC */
/* Session objects of the protocol, shown to people. */
#include <bsd/string.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/lib/quote.h"
#include "client/lib/reply.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "client/lib/term.h"
#include "session.h"

#define ID_SHORT	8
#define ID_FULL		36
#define CPU_TEXT	16

const char *
session_end(struct json_object *s, char buf[SESSION_END])
{
	const char *sig = reply_str(s, "signal", NULL);
	int64_t code;

	buf[0] = '\0';
	if (sig != NULL)
		snprintf(buf, SESSION_END, "%s%s", sig,
		    reply_true(s, "out_of_memory") ? " out of memory" : "");
	else if (reply_int(s, "exit_code", &code))
		snprintf(buf, SESSION_END, "exit %" PRId64, code);
	return buf;
}

static enum colour
state_colour(struct json_object *s)
{
	static const struct {
		const char	*state;
		enum colour	 colour;
	} colours[] = {
		{ "LOADED", CYAN }, { "RUNNING", GREEN },
		{ "DEBUGGING", YELLOW },
	};
	const char *state = reply_str(s, "state", "");
	int64_t code = 0;
	size_t i;

	for (i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		if (strcmp(state, colours[i].state) == 0)
			return colours[i].colour;
	reply_int(s, "exit_code", &code);
	return code != 0 || reply_str(s, "signal", NULL) != NULL ? RED : DIM;
}

/* Seconds since 1970 of an RFC 3339 UTC time, -1 when it is none. */
static time_t
parse_time(const char *text)
{
	struct tm tm = { 0 };

	if (text == NULL || strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) == NULL)
		return -1;
	return timegm(&tm);
}

/* How long it has been running, or ran. */
static const char *
run_time(struct json_object *s, char buf[TERM_BYTES])
{
	time_t start = parse_time(reply_str(s, "started_at", NULL));
	time_t end = parse_time(reply_str(s, "exited_at", NULL));

	buf[0] = '\0';
	if (start != -1)
		term_duration((end != -1 ? end : time(NULL)) - start, buf);
	return buf;
}

static const char *
number(struct json_object *s, const char *key, char buf[24])
{
	int64_t n;

	buf[0] = '\0';
	if (reply_int(s, key, &n))
		snprintf(buf, 24, "%" PRId64, n);
	return buf;
}

static const char *
size(struct json_object *s, char buf[TERM_BYTES])
{
	int64_t n;

	buf[0] = '\0';
	if (reply_int(s, "size", &n) && n >= 0)
		term_bytes((uint64_t)n, buf);
	return buf;
}

/* A value as text: strings bare, the rest as JSON. Borrowed from it. */
static const char *
value_text(struct json_object *v)
{
	if (json_object_is_type(v, json_type_string))
		return json_object_get_string(v);
	return json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
	    JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* A command as one would type it, but for what no terminal should get; the
 * caller frees it. */
static char *
vector_text(struct json_object *list)
{
	struct line l = { 0 };
	const char *word;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		word = json_object_get_string(json_object_array_get_idx(list,
		    i));
		line_any(&l, word != NULL ? word : "");
	}
	return l.text != NULL ? l.text : strdup("");
}

/* The command, or program of a bundle, and arguments; the caller frees it. */
static char *
command_text(struct json_object *s)
{
	const char *exec = reply_str(s, "exec_path", "");
	struct json_object *args = NULL, *command;
	char *text = NULL;

	if (json_object_object_get_ex(s, "command", &command) &&
	    json_object_is_type(command, json_type_array))
		return vector_text(command);
	json_object_object_get_ex(s, "args", &args);
	if (asprintf(&text, "%s%s%s", exec, *exec != '\0' && args != NULL ?
	    " " : "", args != NULL ? value_text(args) : "") == -1)
		return NULL;
	return text;
}

void
session_print_line(struct json_object *s, FILE *out)
{
	char end[SESSION_END], buf[24], *id, *state;

	id = safe_string(reply_str(s, "id", "?"));
	state = safe_string(reply_str(s, "state", "?"));
	fprintf(out, "%s  %s", id, state);
	free(id);
	free(state);
	if (*number(s, "pid", buf) != '\0')
		fprintf(out, "  pid %s", buf);
	if (*number(s, "debug_port", buf) != '\0')
		fprintf(out, "  debug port %s", buf);
	if (*session_end(s, end) != '\0') {
		state = safe_string(end);
		fprintf(out, "  %s", state);
		free(state);
	}
	fputc('\n', out);
}

static void
print_member(FILE *out, const char *key, struct json_object *v)
{
	char *name = safe_string(key), *text = safe_string(value_text(v));

	fprintf(out, "%-11s %s\n", name, text);
	free(name);
	free(text);
}

static void
print_env(FILE *out, struct json_object *env)
{
	char *key, *value;

	json_object_object_foreach(env, k, v) {
		/* clients that may only look are told no values */
		key = safe_string(k);
		value = safe_string(v == NULL ? "" : value_text(v));
		fprintf(out, "%-11s %s%s%s\n", "env", key, v == NULL ? "" : "=",
		    value);
		free(key);
		free(value);
	}
}

/* With whom it is shared: "bob ro, carol rw". */
static void
print_shared(FILE *out, struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	char *access, *user;
	struct json_object *o;

	fprintf(out, "%-11s ", "shared");
	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		user = safe_string(reply_str(o, "user", "?"));
		access = safe_string(reply_str(o, "access", "?"));
		fprintf(out, "%s%s %s", i > 0 ? ", " : "", user, access);
		free(user);
		free(access);
	}
	fputc('\n', out);
}

static void
print_warnings_of(FILE *out, struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	for (i = 0; i < n; i++)
		print_member(out, "warning", json_object_array_get_idx(list, i));
}

void
session_print(struct json_object *s, FILE *out)
{
	if (!json_object_is_type(s, json_type_object))
		return;
	json_object_object_foreach(s, key, v) {
		if (v == NULL)
			continue;
		if (strcmp(key, "env") == 0 &&
		    json_object_is_type(v, json_type_object))
			print_env(out, v);
		else if (strcmp(key, "shared") == 0 &&
		    json_object_is_type(v, json_type_array))
			print_shared(out, v);
		else if (strcmp(key, "warnings") == 0 &&
		    json_object_is_type(v, json_type_array))
			print_warnings_of(out, v);
		else
			print_member(out, key, v);
	}
}

/* How many characters of the ids it takes to tell them apart. */
static size_t
id_length(struct json_object *list)
{
	size_t i, j, n = json_object_array_length(list), same, len = ID_SHORT;
	const char *a, *b;

	for (i = 0; i < n; i++) {
		a = reply_str(json_object_array_get_idx(list, i), "id", "");
		for (j = i + 1; j < n; j++) {
			b = reply_str(json_object_array_get_idx(list, j),
			    "id", "");
			for (same = 0; a[same] != '\0' &&
			    a[same] == b[same]; same++)
				;
			if (same + 1 > len)
				len = same + 1;
		}
	}
	return len < ID_FULL ? len : ID_FULL;
}

/* Members that top adds; empty elsewhere. */
static const char *
cpu_percent(struct json_object *s, char buf[CPU_TEXT])
{
	struct json_object *v;

	buf[0] = '\0';
	if (json_object_object_get_ex(s, "cpu_percent", &v))
		(void)snprintf(buf, CPU_TEXT, "%.1f",
		    json_object_get_double(v));
	return buf;
}

static const char *
memory(struct json_object *s, char buf[TERM_BYTES])
{
	int64_t n;

	return reply_int(s, "memory", &n) && n >= 0 ?
	    term_bytes((uint64_t)n, buf) : "";
}

static void
add_row(struct table *t, struct json_object *s, size_t id_len)
{
	char id[ID_FULL + 1], num[24], bytes[TERM_BYTES], end[SESSION_END];
	char cpu[CPU_TEXT];
	char *command = command_text(s);

	snprintf(id, sizeof(id), "%.*s", (int)id_len,
	    reply_str(s, "id", "?"));
	table_cell(t, id, PLAIN);
	table_cell(t, reply_str(s, "name", ""), PLAIN);
	table_cell(t, reply_str(s, "state", "?"), state_colour(s));
	table_cell(t, number(s, "pid", num), PLAIN);
	table_cell(t, number(s, "debug_port", num), PLAIN);
	table_cell(t, size(s, bytes), PLAIN);
	table_cell(t, run_time(s, bytes), PLAIN);
	table_cell(t, cpu_percent(s, cpu), PLAIN);
	table_cell(t, memory(s, bytes), PLAIN);
	table_cell(t, session_end(s, end), state_colour(s));
	table_cell(t, reply_str(s, "owner", ""), PLAIN);
	table_cell(t, command != NULL ? command : "", PLAIN);
	free(command);
}

void
session_print_table(struct json_object *list, FILE *out, size_t width,
    size_t max_rows, bool colours)
{
	static const struct table_column columns[] = {
		{ "ID", .keep = 1 }, { "NAME", .optional = 1 },
		{ "STATE", .keep = 1 }, { "PID", .right = 1, .keep = 1 },
		{ "PORT", .right = 1, .keep = 1, .optional = 1 },
		{ "SIZE", .right = 1, .keep = 1 },
		{ "TIME", .right = 1, .keep = 1 },
		{ "CPU%", .right = 1, .keep = 1, .optional = 1 },
		{ "MEMORY", .right = 1, .keep = 1, .optional = 1 },
		{ "END", .keep = 1, .optional = 1 },
		{ "OWNER", .optional = 1 }, { "ARGUMENTS", .optional = 1 },
	};
	struct table *t;
	size_t i, len;

	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	len = id_length(list);
	for (i = 0; i < json_object_array_length(list); i++)
		add_row(t, json_object_array_get_idx(list, i), len);
	table_print(t, out, width, max_rows, colours);
	table_free(t);
}
