/* SPDX-License-Identifier: ISC */
/* timeline sql: one SELECT, and its rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "commands.h"
#include "timeline.h"
#include "timeline/query/vtab.h"
#include "tl_open.h"

enum form { FORM_TABLE, FORM_JSON, FORM_CSV, FORM_BAD };

static enum form
form_of(const struct client *c)
{
	static const char *const forms[] = { "table", "json", "csv" };
	const char *given = c->opts.value[OPT_FORMAT];
	size_t i;

	if (given == NULL)
		return c->json ? FORM_JSON : FORM_TABLE;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(given, forms[i]) == 0)
			return (enum form)i;
	report("--format %s: give table, json or csv", given);
	return FORM_BAD;
}

/* -- CSV ------------------------------------------------------------------- */

/* As RFC 4180 has it: quoted where that is needed, null is nothing. */
static void
csv_field(struct json_object *v, FILE *out)
{
	const char *text = v == NULL ? "" : json_object_get_string(v);
	bool quoted = strpbrk(text, "\",\r\n") != NULL ||
	    (v != NULL && *text == '\0');

	if (quoted)
		fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static void
csv_row(struct json_object *row, FILE *out)
{
	size_t i;

	for (i = 0; i < json_object_array_length(row); i++) {
		if (i > 0)
			fputc(',', out);
		csv_field(json_object_array_get_idx(row, i), out);
	}
	fputs("\r\n", out);
}

/* A terminal gets its lines by the filter that output goes through. */
static void
print_csv(struct json_object *columns, struct json_object *rows)
{
	struct safe_filter filter = { .npending = 0 };
	char *text = NULL;
	size_t i, size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return;
	csv_row(columns, f);
	for (i = 0; i < json_object_array_length(rows); i++)
		csv_row(json_object_array_get_idx(rows, i), f);
	if (fclose(f) == 0 && isatty(STDOUT_FILENO)) {
		safe_filter_put(&filter, text, size, stdout);
		safe_filter_end(&filter, stdout);
	} else if (text != NULL)
		fwrite(text, 1, size, stdout);
	free(text);
}

/* -- table ----------------------------------------------------------------- */

/* Numbers stand under each other. */
static bool
is_numeric(struct json_object *rows, size_t column)
{
	struct json_object *v;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		v = json_object_array_get_idx(json_object_array_get_idx(rows,
		    i), column);
		if (v != NULL && !json_object_is_type(v, json_type_int) &&
		    !json_object_is_type(v, json_type_double))
			return false;
	}
	return true;
}

static void
fill(struct table *t, struct json_object *row, size_t n)
{
	struct json_object *v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = json_object_array_get_idx(row, i);
		table_cell(t, v == NULL ? "null" : json_object_get_string(v),
		    v == NULL ? DIM : PLAIN);
	}
}

static void
print_table(struct json_object *names, struct json_object *rows)
{
	size_t i, n = json_object_array_length(names);
	struct table_column *columns = calloc(n + 1, sizeof(*columns));
	struct table *t;

	if (columns == NULL)
		return;
	for (i = 0; i < n; i++)
		columns[i] = (struct table_column){
			.title = safe_string(json_object_get_string(
			    json_object_array_get_idx(names, i))),
			.right = is_numeric(rows, i) };
	t = table_new(columns, n);
	for (i = 0; i < json_object_array_length(rows); i++)
		fill(t, json_object_array_get_idx(rows, i), n);
	table_print(t, stdout, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
	for (i = 0; i < n; i++)
		free((void *)(uintptr_t)columns[i].title);
	free(columns);
}

/* -- the command ----------------------------------------------------------- */

/* A member that is an array, of arrays if rows. */
static struct json_object *
array_of(struct json_object *o, const char *key, bool rows)
{
	struct json_object *v;
	size_t i;

	if (!json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, json_type_array))
		return NULL;
	for (i = 0; rows && i < json_object_array_length(v); i++)
		if (!json_object_is_type(json_object_array_get_idx(v, i),
		    json_type_array))
			return NULL;
	return v;
}

static int
print_rows(struct json_object *result, enum form form)
{
	struct json_object *columns = array_of(result, "columns", false);
	struct json_object *rows = array_of(result, "rows", true);

	if (columns == NULL || rows == NULL) {
		report("the answer has no rows in it");
		return CTL_UNREACHABLE;
	}
	if (form == FORM_JSON)
		reply_print(result, stdout);
	else
		(form == FORM_CSV ? print_csv : print_table)(columns, rows);
	if (reply_true(result, "truncated") && form != FORM_JSON)
		report("there are more than these %zu rows: --limit takes up "
		    "to %d", json_object_array_length(rows), SQL_ROWS_MAX);
	return report_flush();
}

int
ctl_timeline_sql(struct client *c, int argc, char **argv)
{
	struct json_object *args, *result;
	enum form form = form_of(c);
	long long rows = 0;
	struct timeline t;
	int code;

	(void)argc;
	if (form == FORM_BAD || args_check(argv[1]) == -1 ||
	    (opt_given(&c->opts, OPT_LIMIT) && opt_number(&c->opts,
	    OPT_LIMIT, 1, SQL_ROWS_MAX, &rows) == -1))
		return CTL_USAGE;
	if ((code = tl_reach(&t, c, argv[0])) != CTL_OK)
		return code;
	args = json_object_new_object();
	json_object_object_add(args, "statement",
	    json_object_new_string(argv[1]));
	if (rows > 0)
		args_number(args, "rows", rows);
	code = timeline_ask(&t, "sql", args, &result);
	if (code == CTL_OK) {
		code = print_rows(result, form);
		json_object_put(result);
	}
	tl_shut(&t);
	return code;
}
