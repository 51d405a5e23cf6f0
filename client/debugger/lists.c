/* SPDX-License-Identifier: ISC */
/* Prints lists: breakpoints, memory, registers, instructions, sessions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/reply.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "show.h"
#include "view.h"

#define ROW_BYTES	16U	/* of memory */
#define REMARK_MAX	64U	/* bytes of a remark in a table */

/* Prints a table that is full, and frees it. */
static void
finish(struct table *t, const struct view *v)
{
	table_box(t, v->out, v->width, v->utf8, v->colours);
	table_free(t);
}

/* -- breakpoints, watchpoints, catchpoints --------------------------------- */

/* Where it really is, or what was asked for. */
static char *
point_place(const struct view *v, struct json_object *o)
{
	static const char *const names[] = { "function", "expression", "type",
		"kind" };
	struct json_object *actual = NULL;
	size_t i = 0;

	if (json_object_object_get_ex(o, "actual", &actual) &&
	    reply_str(actual, "file", NULL) != NULL)
		return view_place(v, actual);
	if (reply_str(o, "file", NULL) != NULL)
		return view_place(v, o);
	while (i < 3 && reply_str(o, names[i], NULL) == NULL)
		i++;
	return view_member(o, names[i]);
}

/*
 * "pending" is no error: a library may bring its place along.  That a
 * condition could not be evaluated outweighs that it is set.
 */
static const char *
point_state(struct json_object *o)
{
	struct json_object *enabled = NULL;

	if (json_object_object_get_ex(o, "enabled", &enabled) &&
	    !json_object_get_boolean(enabled))
		return "disabled";
	if (reply_str(o, "condition_error", NULL) != NULL)
		return "condition failed";
	return reply_true(o, "verified") ? "set" : "pending";
}

/* A compiler's words are of several lines; the first says what is wrong. */
static void
remark_cell(struct table *t, const char *text)
{
	size_t len = strcspn(text, "\n");
	char cut[REMARK_MAX + 4];

	if (len > REMARK_MAX) {
		for (len = REMARK_MAX; len > 0 && ((unsigned char)text[len] &
		    0xc0) == 0x80; len--)
			;
		snprintf(cut, sizeof(cut), "%.*s...", (int)len, text);
	} else
		snprintf(cut, sizeof(cut), "%.*s", (int)len, text);
	table_cell(t, cut, YELLOW);
}

/* Why it is not where it was wanted, or what its condition says. */
static void
remark(struct table *t, struct json_object *o)
{
	const char *text = reply_str(o, "condition_error", NULL);

	if (text == NULL)
		text = reply_str(o, "message", NULL);
	if (text == NULL && reply_true(o, "moved"))
		text = "moved: there is no code in the line asked for";
	remark_cell(t, text != NULL ? text : "");
}

/* Prints the three kinds in one table, without columns that are empty. */
static void
put_points(const struct view *v, struct json_object *list)
{
	static const struct table_column columns[] = {
		{ .title = "ID", .keep = 1, .right = 1 },
		{ .title = "Kind", .optional = 1 },
		{ .title = "Location" },
		{ .title = "Access", .optional = 1 },
		{ .title = "State" },
		{ .title = "Hits", .right = 1, .optional = 1 },
		{ .title = "Condition", .optional = 1 },
		{ .title = "Count", .optional = 1, .right = 1 },
		{ .title = "Log", .optional = 1 },
		{ .title = "Remark", .optional = 1 },
	};
	struct table *t = table_new(columns, sizeof(columns) /
	    sizeof(columns[0]));
	struct json_object *o;
	char *place;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		place = point_place(v, o);
		view_cell(t, o, "id");
		view_cell(t, o, "kind");
		table_cell(t, place, PLAIN);
		view_cell(t, o, "access");
		table_cell(t, point_state(o), PLAIN);
		view_cell(t, o, "hits");
		view_cell(t, o, "condition");
		view_cell(t, o, "hit_count");
		view_cell(t, o, "log");
		remark(t, o);
		free(place);
	}
	finish(t, v);
}

/* Whichever of the three lists the answer has. */
void
show_points(struct json_object *json, const struct view *v)
{
	static const char *const lists[] = { "breakpoints", "watchpoints",
		"catchpoints" };
	struct json_object *list = NULL;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!json_object_object_get_ex(json, lists[i], &list) ||
		    !json_object_is_type(list, json_type_array))
			continue;
		if (json_object_array_length(list) == 0)
			fprintf(v->out, "no %s\n", lists[i]);
		else
			put_points(v, list);
		view_cut(v, json);
		return;
	}
	show_words(json, v);
}

/* -- memory and registers -------------------------------------------------- */

/* The value of a hex digit; -1: it is none. */
static int
nibble(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c == '\0' ? NULL : strchr(digits, c | 0x20);

	return p == NULL ? -1 : (int)(p - digits);
}

/* Prints one line: an address, bytes, and the printable characters. */
static void
put_bytes(const struct view *v, uint64_t address, const char *hex, size_t n)
{
	char text[ROW_BYTES + 1] = "";
	size_t i;
	int c;

	fprintf(v->out, "0x%0*" PRIx64 ":", 12, address);
	for (i = 0; i < ROW_BYTES; i++) {
		if (i >= n) {
			fputs("   ", v->out);
			continue;
		}
		fprintf(v->out, " %.2s", hex + 2 * i);
		c = nibble(hex[2 * i]) * 16 + nibble(hex[2 * i + 1]);
		text[i] = c >= 0x20 && c < 0x7f ? (char)c : '.';
	}
	fprintf(v->out, "  |%s|\n", text);
}

/* As hexdump shows it, or as the adapter did where it would not give bytes. */
void
show_memory(struct json_object *json, const struct view *v)
{
	const char *hex = reply_str(json, "hex", NULL);
	uint64_t address = strtoull(reply_str(json, "address", "0"), NULL, 0);
	size_t i, n, len = hex != NULL ? strspn(hex,
	    "0123456789abcdefABCDEF") / 2 : 0;
	int64_t missing;

	if (hex == NULL) {
		show_words(json, v);
		return;
	}
	if (reply_str(json, "text", NULL) != NULL)
		show_raw(json, v);
	for (i = 0; i < len && reply_str(json, "text", NULL) == NULL; i += n) {
		n = len - i < ROW_BYTES ? len - i : ROW_BYTES;
		put_bytes(v, address + i, hex + 2 * i, n);
	}
	if (reply_int(json, "unreadable", &missing) && missing > 0)
		fprintf(v->out, "(%" PRId64 " bytes cannot be read)\n",
		    missing);
	view_warning(v, json);
	view_cut(v, json);
}

void
show_registers(struct json_object *json, const struct view *v)
{
	static const struct table_column columns[] = {
		{ .title = "Name" }, { .title = "Value" },
		{ .title = "Group", .optional = 1 },
	};
	struct json_object *list = NULL, *o;
	size_t i, n = view_list(json, "registers", &list);
	struct table *t = table_new(columns, 3);

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		view_cell(t, o, "name");
		view_cell(t, o, "value");
		view_cell(t, o, "group");
	}
	finish(t, v);
	view_warning(v, json);
	view_cut(v, json);
}

/* -- instructions ---------------------------------------------------------- */

/* Source lines come before the instructions that were made of them. */
static void
put_instruction(const struct view *v, struct json_object *o)
{
	char *address = view_member(o, "address"), *text;
	char *symbol = view_member(o, "symbol"), *place;
	const char *source = reply_str(o, "source", NULL);

	if (source != NULL) {
		place = view_place(v, o);
		fprintf(v->out, "%s: ", place);
		view_line(v, source);
		fputc('\n', v->out);
		free(place);
	}
	text = view_member(o, "text");
	fprintf(v->out, "%s %s%s%s%s:  %s\n", reply_true(o, "current") ?
	    "->" : "  ", address, *symbol != '\0' ? " <" : "", symbol,
	    *symbol != '\0' ? ">" : "", text);
	free(address);
	free(symbol);
	free(text);
}

void
show_disassembly(struct json_object *json, const struct view *v)
{
	struct json_object *list = NULL;
	size_t i, n = view_list(json, "instructions", &list);

	if (n == 0)
		show_words(json, v);
	for (i = 0; i < n; i++)
		put_instruction(v, json_object_array_get_idx(list, i));
	view_cut(v, json);
}

/*
 * An adapter's own words, lines and all.  They have what the program made of
 * them: nothing of it may steer a terminal.
 */
void
show_raw(struct json_object *json, const struct view *v)
{
	struct safe_filter filter = { .npending = 0 };
	const char *text = reply_str(json, "text", "");
	size_t len = strlen(text);

	safe_filter_put(&filter, text, len, v->out);
	safe_filter_end(&filter, v->out);
	if (len > 0 && text[len - 1] != '\n')
		fputc('\n', v->out);
	view_cut(v, json);
}

/* -- sessions -------------------------------------------------------------- */

void
show_sessions(struct json_object *json, const struct view *v)
{
	static const struct table_column columns[] = {
		{ .title = "", .optional = 1, .keep = 1 },
		{ .title = "ID", .keep = 1 },
		{ .title = "Name", .optional = 1 }, { .title = "State" },
		{ .title = "Adapter", .optional = 1 },
		{ .title = "PID", .right = 1, .optional = 1 },
		{ .title = "Program", .optional = 1 },
	};
	struct json_object *list = NULL, *o;
	size_t i, n = view_list(json, "sessions", &list);
	struct table *t;
	char id[9];	/* as much of it as tells one from another */

	if (n == 0) {
		fputs("no debug sessions; \"debugger start PROGRAM\" makes "
		    "one\n", v->out);
		return;
	}
	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		snprintf(id, sizeof(id), "%s", reply_str(o, "session",
		    reply_str(o, "id", "")));
		table_cell(t, reply_true(o, "current") ? "*" : "", GREEN);
		table_cell(t, id, PLAIN);
		view_cell(t, o, "name");
		view_cell(t, o, "state");
		view_cell(t, o, "adapter");
		view_cell(t, o, "pid");
		view_cell(t, o, "program");
	}
	finish(t, v);
}
