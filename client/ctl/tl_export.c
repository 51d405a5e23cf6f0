/* SPDX-License-Identifier: ISC */
/* timeline export: for other programs, into a file or a pipe. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "client/lib/client.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "commands.h"
#include "timeline.h"
#include "tl_open.h"
#include "trc_build.h"
#include "trc_show.h"

struct out {
	struct atomic_file		 file;
	struct safe_filter	 filter;
	bool			 filtered;	/* a terminal */
};

static int
put(void *arg, const void *data, size_t len)
{
	struct out *o = arg;

	if (!o->filtered)
		return atomic_file_write(&o->file, data, len) == 0 ? CTL_OK :
		    atomic_file_failed(&o->file);
	safe_filter_put(&o->filter, data, len, stdout);
	return report_flush();
}

static const char *
format_of(const struct client *c)
{
	static const char *const formats[] = { "chrome", "folded", "text",
		"tree" };
	const char *given = c->opts.value[OPT_FORMAT];
	size_t i;

	for (i = 0; given != NULL && i < sizeof(formats) / sizeof(formats[0]);
	    i++)
		if (strcmp(given, formats[i]) == 0)
			return given;
	if (given == NULL)
		report("give --format chrome (Perfetto, chrome://tracing) or "
		    "folded (flame graphs), text or tree");
	else
		report("--format %s: give chrome, folded, text or tree",
		    given);
	return NULL;
}

static int
write_out(struct client *c, struct timeline *t, const char *format,
    struct json_object *query)
{
	const char *path = c->opts.value[OPT_OUTFILE];
	struct out o = { 0 };
	int code, named;

	if (atomic_file_begin(&o.file, path != NULL ? path : "-") == -1)
		return CTL_USAGE;
	o.filtered = o.file.out_fd == STDOUT_FILENO && isatty(STDOUT_FILENO);
	code = timeline_export(t, format, query, put, &o);
	if (o.filtered)
		safe_filter_end(&o.filter, stdout);
	named = atomic_file_end(&o.file, code == CTL_OK);
	if (code == CTL_OK && t->status != NULL)
		trc_note_losses(t->status);
	return code == CTL_OK ? named : code;
}

int
ctl_timeline_export(struct client *c, int argc, char **argv)
{
	const char *format = format_of(c);
	struct json_object *query;
	struct timeline t;
	int code = CTL_USAGE;

	(void)argc;
	if (format == NULL)
		return CTL_USAGE;
	query = json_object_new_object();
	if (trc_build_query(c, query) == 0 &&
	    (code = tl_reach(&t, c, argv[0])) == CTL_OK) {
		code = write_out(c, &t, format, query);
		tl_shut(&t);
	}
	json_object_put(query);
	return code == CTL_OK ? report_flush() : code;
}
