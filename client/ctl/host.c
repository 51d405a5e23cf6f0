/* SPDX-License-Identifier: ISC */
/* Commands about the target itself: deps, activity, version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "client/lib/term.h"
#include "commands.h"
#include "host.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void
finish_table(struct table *t)
{
	table_print(t, stdout, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

static bool
is_true(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
	    json_object_get_boolean(v);
}

/* Remedies are sentences: they stand below the table, uncut. */
static void
print_remedies(struct json_object *deps)
{
	struct json_object *d;
	const char *remedy;
	char *name, *text;
	size_t i;

	for (i = 0; i < json_object_array_length(deps); i++) {
		d = json_object_array_get_idx(deps, i);
		remedy = reply_str(d, "remedy", "");
		if (*remedy == '\0' || is_true(d, "available"))
			continue;
		name = safe_string(reply_str(d, "name", "?"));
		text = safe_string(remedy);
		printf("%s: %s\n", name, text);
		free(name);
		free(text);
	}
}

static void
print_deps(struct json_object *json)
{
	static const struct table_column columns[] = {
		{ "NAME", .keep = 1 }, { "HERE", .keep = 1 },
		{ "NEEDED", .keep = 1 }, { .title = "PURPOSE" },
	};
	struct json_object *deps, *d;
	struct table *t;
	bool have, need;
	size_t i;

	if (!json_object_object_get_ex(json, "deps", &deps) ||
	    !json_object_is_type(deps, json_type_array))
		return;
	t = table_new(columns, N(columns));
	for (i = 0; i < json_object_array_length(deps); i++) {
		d = json_object_array_get_idx(deps, i);
		/* red is only what the daemon cannot do its work without */
		have = is_true(d, "available");
		need = is_true(d, "required");
		table_cell(t, reply_str(d, "name", "?"), PLAIN);
		table_cell(t, have ? "yes" : "no",
		    have ? GREEN : need ? RED : YELLOW);
		table_cell(t, need ? "yes" : "no", PLAIN);
		table_cell(t, reply_str(d, "description", ""), PLAIN);
	}
	finish_table(t);
	print_remedies(deps);
}

static void
print_activity(struct json_object *json)
{
	struct json_object *e;
	char *when, *what;
	size_t i;

	if (!json_object_is_type(json, json_type_array))
		return;
	/* No table: events are read to their end, however long. */
	for (i = 0; i < json_object_array_length(json); i++) {
		e = json_object_array_get_idx(json, i);
		when = safe_string(reply_str(e, "time", ""));
		what = safe_string(reply_str(e, "message", ""));
		printf("%s  %s\n", when, what);
		free(when);
		free(what);
	}
}

static int
show(struct client *c, void (*print)(struct json_object *))
{
	struct json_object *json;
	int code;

	if ((code = client_ask(c, &json, c->command->verb, NULL)) != CTL_OK)
		return code;
	if (c->json)
		reply_print(json, stdout);
	else
		print(json);
	json_object_put(json);
	return report_flush();
}

int
ctl_deps(struct client *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(c, print_deps);
}

int
ctl_activity(struct client *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(c, print_activity);
}

static void
print_text(const char *s)
{
	char *text = safe_string(s == NULL ? "null" : s);

	printf(" %s", text);
	free(text);
}

static void
print_version_member(const char *key, struct json_object *v)
{
	char *name = safe_string(key);
	size_t i, left, n = 1;

	printf("%-11s", name);
	free(name);
	if (json_object_is_type(v, json_type_array)) {
		n = json_object_array_length(v);
		for (i = 0; i < n; i++)
			print_text(json_object_get_string(
			    json_object_array_get_idx(v, i)));
	} else if (json_object_is_type(v, json_type_object)) {
		left = n = (size_t)json_object_object_length(v);
		json_object_object_foreach(v, k, member) {
			print_text(k);
			/* a string is shown without its quotes */
			print_text(json_object_get_string(member));
			if (--left > 0)
				putchar(',');
		}
	} else if (v == NULL)
		n = 0;
	else
		print_text(json_object_get_string(v));
	puts(n == 0 ? " none" : "");
}

static void
print_version(struct json_object *json)
{
	struct json_object *warnings;
	size_t i;

	printf("%-11s %s\n", "client", DL_VERSION);
	if (!json_object_is_type(json, json_type_object))
		return;
	json_object_object_foreach(json, key, v)
		if (strcmp(key, "warnings") != 0)
			print_version_member(strcmp(key, "version") == 0 ?
			    "daemon" : key, v);
	if (!json_object_object_get_ex(json, "warnings", &warnings) ||
	    !json_object_is_type(warnings, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(warnings); i++)
		print_version_member("warning",
		    json_object_array_get_idx(warnings, i));
}

int
ctl_version(struct client *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(c, print_version);
}
