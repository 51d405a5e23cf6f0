/* SPDX-License-Identifier: ISC */
/* The pieces that answers consist of: places, source, variables, output. */
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "client/lib/reply.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "view.h"

#define TAB	8U

bool
view_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

size_t
view_list(struct json_object *json, const char *key,
    struct json_object **list)
{
	if (!json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, key, list) ||
	    !json_object_is_type(*list, json_type_array))
		return 0;
	return json_object_array_length(*list);
}

/* Names, values and paths may hold anything, also what moves a cursor. */
void
view_text(const struct view *v, const char *text)
{
	char *safe = safe_string(text);

	fputs(safe, v->out);
	free(safe);
}

char *
view_member(struct json_object *json, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, key, &value) || value == NULL)
		return safe_string("");
	return safe_string(json_object_get_string(value));
}

void
view_cell(struct table *t, struct json_object *json, const char *key)
{
	char *text = view_member(json, key);

	table_cell(t, text, PLAIN);
	free(text);
}

/* Short where people are; absolute where they would have to guess. */
const char *
view_path(const struct view *v, const char *path)
{
	size_t len = v->cwd != NULL ? strlen(v->cwd) : 0;

	if (len > 1 && strncmp(path, v->cwd, len) == 0 && path[len] == '/')
		return path + len + 1;
	return path;
}

/* Without a line the file alone, without a file the address. */
char *
view_place(const struct view *v, struct json_object *frame)
{
	const char *file = reply_str(frame, "file", NULL);
	char *text, *safe;
	int64_t line = 0;

	if (file == NULL || *file == '\0')
		return view_member(frame, "address");
	reply_int(frame, "line", &line);
	if (asprintf(&text, line > 0 ? "%s:%" PRId64 : "%s",
	    view_path(v, file), line) == -1)
		return safe_string("");
	safe = safe_string(text);
	free(text);
	return safe;
}

/* -- source ---------------------------------------------------------------- */

/* A line with blanks for its tabs: a "\t" in its place would be ugly. */
void
view_line(const struct view *v, const char *line)
{
	char *text = NULL;
	size_t size, at = 0;
	FILE *out;

	if ((out = open_memstream(&text, &size)) == NULL)
		return;
	for (; *line != '\0' && *line != '\n'; line++) {
		if (*line != '\t') {
			fputc(*line, out);
			/* bytes that go on with a character take no column */
			at += ((unsigned char)*line & 0xc0) != 0x80;
			continue;
		}
		do
			fputc(' ', out);
		while (++at % TAB != 0);
	}
	if (fclose(out) == 0)
		view_text(v, text);
	free(text);
}

/* Columns of a number. */
static int
digits(int64_t n)
{
	return snprintf(NULL, 0, "%" PRId64, n);
}

/*
 * "-> 42 |     sum += i;": numbers as wide as the last one's, so that the
 * text begins in one column.
 */
void
view_source(const struct view *v, struct json_object *source)
{
	int64_t first = 1, current = 0, line;
	struct json_object *list = NULL;
	size_t i, n = view_list(source, "lines", &list);
	const char *text;
	int width;

	reply_int(source, "first", &first);
	reply_int(source, "current", &current);
	width = digits(first + (int64_t)n);
	for (i = 0; i < n; i++) {
		line = first + (int64_t)i;
		text = json_object_get_string(json_object_array_get_idx(list,
		    i));
		fprintf(v->out, "%s %*" PRId64 " | ",
		    line == current ? "->" : "  ", width, line);
		view_line(v, text != NULL ? text : "");
		fputc('\n', v->out);
	}
}

/* -- variables ------------------------------------------------------------- */

/* The old value of a variable that has changed, else "". */
static const char *
was(struct json_object *changed, const char *name)
{
	struct json_object *o;
	size_t i;

	if (!json_object_is_type(changed, json_type_array))
		return "";
	for (i = 0; i < json_object_array_length(changed); i++) {
		o = json_object_array_get_idx(changed, i);
		if (strcmp(reply_str(o, "name", ""), name) == 0)
			return reply_str(o, "old", "");
	}
	return "";
}

void
view_variables(const struct view *v, const char *title,
    struct json_object *list, struct json_object *changed)
{
	static const struct table_column columns[] = {
		{ .title = "Name" }, { .title = "Type", .optional = 1 },
		{ .title = "Value" }, { .title = "Was", .optional = 1 },
	};
	struct json_object *o;
	struct table *t;
	const char *name, *old;
	size_t i;

	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) == 0)
		return;
	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		name = reply_str(o, "name", "?");
		old = was(changed, name);
		table_cell(t, name, PLAIN);
		table_cell(t, reply_str(o, "type", ""), PLAIN);
		table_cell(t, reply_str(o, "value", ""), *old != '\0' ?
		    YELLOW : PLAIN);
		table_cell(t, old, DIM);
	}
	fprintf(v->out, "%s:\n", title);
	table_box(t, v->out, v->width, v->utf8, v->colours);
	table_free(t);
}

/* -- output ---------------------------------------------------------------- */

/* Pieces may end in the middle of a line; the marks stand at its beginning. */
struct lines {
	const struct view	*view;
	const char		*mark;	/* of the line that is open, or NULL */
};

/* A piece need not end with its line, but what follows it begins one. */
static void
end_line(struct lines *l)
{
	if (l->mark != NULL)
		fputc('\n', l->view->out);
	l->mark = NULL;
}

/* Nothing of it steers a terminal: a program could feign lines of ours. */
static void
put_part(struct lines *l, const char *mark, const unsigned char *p,
    size_t len)
{
	char *text = NULL;
	size_t i, size;
	FILE *out;

	if (l->mark != NULL && l->mark != mark)
		end_line(l);
	if (l->mark == NULL)
		fprintf(l->view->out, "%s| ", mark);
	l->mark = mark;
	if ((out = open_memstream(&text, &size)) == NULL)
		return;
	for (i = 0; i < len; i++)
		if (p[i] == '\0')
			fputs("\\x00", out);
		else
			fputc(p[i], out);
	if (fclose(out) == 0)
		view_line(l->view, text);
	free(text);
}

/* A piece of output line by line, each behind its mark. */
static void
put_piece(struct lines *l, const char *mark, const unsigned char *p,
    size_t len)
{
	const unsigned char *lf;
	size_t n, shown;

	while (len > 0) {
		lf = memchr(p, '\n', len);
		shown = n = lf != NULL ? (size_t)(lf - p) : len;
		/* the carriage return of a terminal's line end is none of it */
		if (lf != NULL && n > 0 && p[n - 1] == '\r')
			shown--;
		put_part(l, mark, p, shown);
		if (lf != NULL) {
			end_line(l);
			n++;
		}
		p += n;
		len -= n;
	}
}

/* Text, or bytes that are none in base64. */
static void
put_output(struct lines *l, struct json_object *o)
{
	const char *mark = strcmp(reply_str(o, "stream", ""), "stderr") == 0 ?
	    "err" : "out";
	const char *base64 = reply_str(o, "base64", NULL);
	const char *text = reply_str(o, "text", "");
	unsigned char *bytes;
	size_t len;

	if (base64 == NULL) {
		put_piece(l, mark, (const unsigned char *)text, strlen(text));
		return;
	}
	len = strlen(base64);
	bytes = malloc(BASE64_ROOM(len) + 1);
	if (bytes != NULL && base64_get(base64, len, bytes, &len))
		put_piece(l, mark, bytes, len);
	free(bytes);
}

void
view_output(const struct view *v, struct json_object *result)
{
	struct lines l = { .view = v };
	struct json_object *list = NULL;
	size_t i, n = view_list(result, "output", &list);
	int64_t lost;

	if (reply_int(result, "output_lost", &lost) && lost > 0)
		fprintf(v->out, "(%" PRId64 " bytes of output are lost: the "
		    "daemon keeps only the latest)\n", lost);
	if (n == 0)
		return;
	fputs("Output:\n", v->out);
	for (i = 0; i < n; i++)
		put_output(&l, json_object_array_get_idx(list, i));
	end_line(&l);
}

/* -- what was left out ----------------------------------------------------- */

/* A program chooses names: what is pasted into a shell must be one word. */
static void
put_quoted(const struct view *v, const char *text)
{
	fputc('\'', v->out);
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", v->out);
		else
			fputc(*text, v->out);
	fputc('\'', v->out);
}

/* "Cut: locals, 20 of 300 shown; ...": with what brings the rest. */
static void
put_cut(const struct view *v, struct json_object *o)
{
	char *what = view_member(o, "what"), *path = view_member(o, "path");
	int64_t shown = 0, of = 0, offset = 0;

	fprintf(v->out, "Cut: %s", *what != '\0' ? what : "the answer");
	if (reply_int(o, "shown", &shown))
		fprintf(v->out, ", %" PRId64, shown);
	if (reply_int(o, "of", &of))
		fprintf(v->out, " of %" PRId64, of);
	fputs(" shown", v->out);
	if (*path != '\0' && reply_int(o, "offset", &offset)) {
		fputs("; the rest: --path ", v->out);
		put_quoted(v, path);
		fprintf(v->out, " --offset %" PRId64, offset);
	} else if (reply_int(o, "offset", &offset) && offset > 0)
		fprintf(v->out, "; the rest: --offset %" PRId64, offset);
	fputs(", or all with --max\n", v->out);
	free(what);
	free(path);
}

void
view_warning(const struct view *v, struct json_object *result)
{
	char *warning = view_member(result, "warning");

	if (*warning != '\0')
		fprintf(v->out, "Warning: %s\n", warning);
	free(warning);
}

void
view_cut(const struct view *v, struct json_object *result)
{
	struct json_object *list = NULL;
	size_t i, n = view_list(result, "truncated", &list);

	for (i = 0; i < n; i++)
		put_cut(v, json_object_array_get_idx(list, i));
}
