/* SPDX-License-Identifier: ISC */
/* discover: the targets of the local network, as a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/table.h"
#include "discover.h"
#include "mdns.h"
#include "switches.h"

#define DEFAULT_WAIT_S	3

static char *
txt_line(struct json_object *txt)
{
	char *line = NULL;
	size_t size;
	FILE *out;

	if ((out = open_memstream(&line, &size)) == NULL)
		return NULL;
	json_object_object_foreach(txt, key, v)
		fprintf(out, "%s%s=%s", ftell(out) > 0 ? " " : "", key,
		    json_object_get_string(v));
	fclose(out);
	return line;
}

static void
print_found(struct json_object *found)
{
	static const struct table_column columns[] = {
		{ .title = "NAME" }, { .title = "HOST" },
		{ "TARGET", .keep = 1 }, { .title = "TXT" },
	};
	struct json_object *o, *txt;
	struct table *t;
	char *line;
	size_t i;

	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < json_object_array_length(found); i++) {
		o = json_object_array_get_idx(found, i);
		json_object_object_get_ex(o, "txt", &txt);
		line = txt_line(txt);
		table_cell(t, reply_str(o, "name", ""), PLAIN);
		table_cell(t, reply_str(o, "host", ""), PLAIN);
		table_cell(t, reply_str(o, "target", ""), BOLD);
		table_cell(t, line != NULL ? line : "", PLAIN);
		free(line);
	}
	table_print(t, stdout, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

static int
by_name(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	int n;

	n = strcmp(reply_str(*x, "name", ""), reply_str(*y, "name", ""));
	return n != 0 ? n : strcmp(reply_str(*x, "target", ""),
	    reply_str(*y, "target", ""));
}

int
ctl_discover(struct client *c, int argc, char **argv)
{
	long long wait_s = DEFAULT_WAIT_S;
	struct json_object *found;
	int code;

	(void)argc;
	(void)argv;
	if (opt_given(&c->opts, OPT_TIMEOUT) && opt_number(&c->opts,
	    OPT_TIMEOUT, 1, 3600, &wait_s) == -1)
		return CTL_USAGE;
	if ((code = mdns_search(&found, wait_s * 1000)) != CTL_OK)
		return code;
	json_object_array_sort(found, by_name);
	if (c->json)
		reply_print(found, stdout);
	else if (json_object_array_length(found) == 0)
		puts("no targets found");
	else
		print_found(found);
	json_object_put(found);
	return report_flush();
}
