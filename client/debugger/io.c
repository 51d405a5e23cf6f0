/* SPDX-License-Identifier: ISC */
/* The program's standard input and output. They are the session's own: what
 * one client has read is there for all others as it was. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "build.h"
#include "client/lib/args.h"
#include "client/lib/input.h"
#include "client/lib/printer.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "dbg.h"
#include "io.h"
#include "mark.h"

/* A flood is nothing that anybody reads: more only when asked for. */
#define OUTPUT_MAX	(64U << 10)

/* The id of the session that is meant; the caller frees it. */
static int
find_session(struct dbg *d, char **idp)
{
	struct json_object *result;
	const char *id;
	int code;

	*idp = NULL;
	if ((code = dbg_ask(d, "status", json_object_new_object(),
	    &result)) != CTL_OK)
		return code;
	if ((id = reply_str(result, "session", NULL)) != NULL)
		*idp = strdup(id);
	json_object_put(result);
	if (*idp != NULL)
		return CTL_OK;
	report("the answer does not say which session it is of");
	return CTL_UNREACHABLE;
}

/* Each run counts its output anew: its beginning names it. */
static int
find_run(struct dbg *d, const char *id, struct mark *m)
{
	struct json_object *json;
	int code;

	if ((code = client_ask(&d->client, &json, "STATUS", id,
	    NULL)) != CTL_OK)
		return code;
	code = mark_load(m, id, reply_str(json, "started_at", "-"));
	json_object_put(json);
	return code;
}

/* Where it begins and how much of it, as the options say. */
static int
choose(struct dbg *d, struct printer *p, const struct mark *m,
    long long *lines)
{
	const struct options *o = &d->client.opts;

	if (opt_given(o, DOPT_TAIL)) {
		if (opt_number(o, DOPT_TAIL, 1, INT_MAX, lines) == -1)
			return CTL_USAGE;
	} else if (!opt_given(o, DOPT_ALL)) {
		p->next = m->offset;
		if (!opt_given(o, DOPT_FOLLOW))
			p->most = OUTPUT_MAX;
	}
	p->filtered = isatty(STDOUT_FILENO);
	return CTL_OK;
}

/*
 * Output that was printed or that --tail skipped counts as seen: the next
 * "output" continues after it.
 */
static int
print_output(struct dbg *d, const char *id, struct mark *m)
{
	struct printer p = { .client = &d->client, .id = id, .schema = 1 };
	bool follow = opt_given(&d->client.opts, DOPT_FOLLOW);
	long long lines = 0;
	int code;

	if ((code = choose(d, &p, m, &lines)) != CTL_OK)
		return code;
	if (!follow || lines > 0)
		code = printer_held(&p, lines);
	if (code == CTL_OK && follow)
		code = printer_follow(&p);
	printer_end(&p);
	d->printed = code == CTL_OK;
	if (code == CTL_OK)
		mark_save(m, p.next);
	return code == CTL_OK ? report_flush() : code;
}

/* Marks all output so far as seen. */
static int
clear_output(struct dbg *d, const char *id, struct mark *m)
{
	struct printer p = { .client = &d->client, .id = id };
	uint64_t total;
	int code;

	if ((code = printer_total(&p, &total)) != CTL_OK ||
	    (code = mark_save(m, total)) != CTL_OK)
		return code;
	if (d->client.json_errors) {
		printf("{\"schema\":1,\"offset\":%" PRIu64 "}\n", total);
		d->printed = true;
	}
	return report_flush();
}

/*
 * Three questions: which session, which run of it, what it wrote.  The output
 * is the daemon's own, also where the adapter is busy or gone.
 */
int
dbg_output(struct dbg *d, int argc, char **argv)
{
	struct mark m;
	char *id;
	int code;

	(void)argc;
	(void)argv;
	if ((code = find_session(d, &id)) != CTL_OK)
		return code;
	if ((code = find_run(d, id, &m)) == CTL_OK)
		code = opt_given(&d->client.opts, DOPT_CLEAR) ?
		    clear_output(d, id, &m) : print_output(d, id, &m);
	free(id);
	return code;
}

/* -- input ----------------------------------------------------------------- */

static int
send_text(struct dbg *d, const char *id, int argc, char **argv,
    struct json_object **jsonp)
{
	char *text = words_join(argc, argv);
	size_t len = strlen(text);
	int code;

	/* a program that asks waits for the end of the line */
	if (!opt_given(&d->client.opts, DOPT_NO_NEWLINE))
		text[len++] = '\n';
	code = input_piece(&d->client, id, text, len, jsonp);
	free(text);
	return code;
}

/* "-" is read to its end, byte for byte; --eof alone only closes. */
static int
send_input(struct dbg *d, const char *id, int argc, char **argv)
{
	struct json_object *json = NULL;
	int code = CTL_OK;

	if (argc == 1 && strcmp(argv[0], "-") == 0)
		code = input_send(&d->client, id, "standard input",
		    STDIN_FILENO, &json);
	else if (argc > 0)
		code = send_text(d, id, argc, argv, &json);
	if (code == CTL_OK && opt_given(&d->client.opts, DOPT_EOF)) {
		json_object_put(json);
		code = client_ask(&d->client, &json, "INPUT", id, "eof",
		    NULL);
	}
	if (code == CTL_OK && d->client.json_errors && json != NULL) {
		args_number(json, "schema", 1);
		reply_print(json, stdout);
		d->printed = true;
	}
	json_object_put(json);
	return code == CTL_OK ? report_flush() : code;
}

int
dbg_input(struct dbg *d, int argc, char **argv)
{
	char *id;
	int code;

	if (argc == 0 && !opt_given(&d->client.opts, DOPT_EOF))
		return usage_error("give a text, - for standard input, or "
		    "--eof");
	if ((code = find_session(d, &id)) == CTL_OK)
		code = send_input(d, id, argc, argv);
	free(id);
	return code;
}
