/* SPDX-License-Identifier: ISC */
/* timeline: what a traced program did, printed. A follower whose connection
 * breaks comes back and goes on where it was. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/term.h"
#include "commands.h"
#include "timeline.h"
#include "tl_lines.h"
#include "tl_open.h"
#include "trc_build.h"
#include "trc_show.h"

#define PAGE		500	/* events asked for at once */
#define WAIT_MS		20000	/* of one question; the next one follows */
#define RETRIES		5

struct reader {
	struct timeline		 tl;
	struct tl_lines		 lines;
	struct json_object	*filters;
	char			*after;		/* id of the last event */
	long long		 left;		/* events still to print */
	bool			 follows;
	bool			 started;	/* an answer has come */
	bool			 ended;		/* nothing more will come */
};

static void
print_event(struct reader *r, struct json_object *e)
{
	if (r->tl.client->json)
		reply_print(e, stdout);
	else
		tl_lines_event(&r->lines, e);
}

/* Makes the next query; the caller's. */
static struct json_object *
next_question(const struct reader *r)
{
	struct json_object *q = NULL;

	json_object_deep_copy(r->filters, &q, NULL);
	args_true(q, "verbose");
	args_number(q, "limit", r->left < PAGE ? r->left : PAGE);
	if (r->after != NULL)
		json_object_object_add(q, "afterEventId",
		    json_object_new_string(r->after));
	if (r->follows)
		args_number(q, "wait_ms", WAIT_MS);
	return q;
}

/* Prints a page; how many events it had, -1 after a report. */
static int
print_page(struct reader *r, struct json_object *page)
{
	struct json_object *list, *e;
	const char *id;
	size_t i, n;

	if (!json_object_object_get_ex(page, "events", &list) ||
	    !json_object_is_type(list, json_type_array)) {
		report("the answer has no events in it");
		return -1;
	}
	n = json_object_array_length(list);
	for (i = 0; i < n && r->left > 0; i++, r->left--) {
		e = json_object_array_get_idx(list, i);
		print_event(r, e);
		if ((id = reply_str(e, "id", NULL)) != NULL) {
			free(r->after);
			r->after = strdup(id);
		}
	}
	return (int)n;
}

/* Whether the program has ended; the tracer says so. */
static int
look_for_end(struct reader *r)
{
	struct json_object *status;
	const char *state;
	int code = timeline_ask(&r->tl, "status", json_object_new_object(),
	    &status);

	if (code != CTL_OK)
		return code;
	state = reply_str(status, "state", "");
	r->ended = strcmp(state, "tracing") != 0 &&
	    strcmp(state, "idle") != 0;
	json_object_put(status);
	return CTL_OK;
}

/* Tracing that is stopped is the end for who follows. */
static int
refused(struct reader *r, struct json_object *answer)
{
	if (r->started && trc_is_nowhere(answer)) {
		report("tracing has been stopped");
		json_object_put(answer);
		r->ended = true;
		return CTL_OK;
	}
	/* killed, there will be another one; stopped, there will be none */
	if (r->started && strcmp(trc_code(answer), "tracer_lost") == 0) {
		json_object_put(answer);
		return CTL_UNREACHABLE;
	}
	return trc_refused(r->tl.client, answer);
}

/* Sends a query and prints its answer. */
static int
step(struct reader *r)
{
	struct json_object *page;
	int code, n;

	code = timeline_try(&r->tl, r->follows ? "follow" : "query",
	    next_question(r), &page);
	if (code == CTL_REFUSED)
		return refused(r, page);
	if (code != CTL_OK)
		return code;
	r->started = true;
	n = print_page(r, page);
	r->ended = r->left <= 0 || (!r->follows && (n <= 0 ||
	    !reply_true(page, "hasMore")));
	if (r->ended && !r->follows && !r->tl.client->json)
		trc_note_losses(page);
	json_object_put(page);
	if (n == -1)
		return CTL_UNREACHABLE;
	if ((code = report_flush()) != CTL_OK || !r->follows || n > 0)
		return code;
	return r->ended ? CTL_OK : look_for_end(r);
}

/* Sessions outlive connections, and timelines tracers. */
static int
read_on(struct reader *r)
{
	struct client *c = r->tl.client;
	int code = CTL_OK, tries = 0;

	while (!r->ended) {
		code = step(r);
		if (code == CTL_OK) {
			tries = 0;
			continue;
		}
		if (code != CTL_UNREACHABLE || !r->follows || !r->started ||
		    ++tries > RETRIES)
			break;
		dconn_close(c->conn);
		c->conn = NULL;
		sleep(1);
	}
	return code;
}

/* -- all of it ------------------------------------------------------------- */

static int
put_lines(void *arg, const void *data, size_t len)
{
	tl_lines_put(arg, data, len);
	/* the reader may have closed our output */
	return report_flush();
}

/* Text as the timeline's own writer has it: quicker than event by event. */
static int
print_all(struct reader *r)
{
	int code = timeline_export(&r->tl, r->lines.tree ? "tree" : "text",
	    r->filters, put_lines, &r->lines);

	if (code == CTL_OK && r->tl.status != NULL)
		trc_note_losses(r->tl.status);
	return code;
}

static int
start(struct reader *r, struct client *c)
{
	r->left = LLONG_MAX;
	r->filters = json_object_new_object();
	tl_lines_begin(&r->lines, stdout, opt_given(&c->opts, OPT_TREE));
	if (trc_build_query(c, r->filters) == -1 ||
	    (opt_given(&c->opts, OPT_LIMIT) && opt_number(&c->opts,
	    OPT_LIMIT, 1, LLONG_MAX, &r->left) == -1) ||
	    (opt_given(&c->opts, OPT_AFTER) &&
	    args_check(c->opts.value[OPT_AFTER]) == -1))
		return CTL_USAGE;
	if (opt_given(&c->opts, OPT_AFTER))
		r->after = strdup(c->opts.value[OPT_AFTER]);
	return CTL_OK;
}

static void
finish(struct reader *r)
{
	tl_lines_end(&r->lines);
	json_object_put(r->filters);
	free(r->after);
}

/* Exports look neither at where to begin nor at how many. */
static bool
is_whole(const struct reader *r)
{
	return !r->follows && r->after == NULL && r->left == LLONG_MAX &&
	    !r->tl.client->json;
}

int
timeline_follow(struct client *c, const char *id)
{
	struct reader r = { .follows = true };
	int code;

	r.tl = (struct timeline){ .client = c, .to = { .session = id } };
	if ((code = start(&r, c)) == CTL_OK)
		code = read_on(&r);
	finish(&r);
	if (code == CTL_OK && !c->json)
		report("\"" CTL_NAME " timeline %s\" shows it again, \""
		    CTL_NAME " trace stop %s\" forgets it", id, id);
	return code;
}

int
ctl_timeline(struct client *c, int argc, char **argv)
{
	struct reader r = { .follows = opt_given(&c->opts, OPT_FOLLOW) };
	int code;

	if (opt_given(&c->opts, OPT_KEPT))
		return argc == 0 ? timeline_list_kept(c) :
		    usage_error("--kept lists all of them; \"" CTL_NAME
		    " timeline %s\" shows that one", argv[0]);
	if (argc == 0)
		return usage_error("missing session or file; --kept lists what "
		    "was kept");
	if ((code = start(&r, c)) == CTL_OK)
		code = tl_reach(&r.tl, c, argv[0]);
	if (code == CTL_OK) {
		if (r.follows && r.tl.store != NULL)
			code = usage_error("%s: what has been kept does not "
			    "go on; leave --follow out", argv[0]);
		else
			code = is_whole(&r) ? print_all(&r) : read_on(&r);
		tl_shut(&r.tl);
	}
	finish(&r);
	return code == CTL_OK ? report_flush() : code;
}
