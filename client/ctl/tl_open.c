/* SPDX-License-Identifier: ISC */
/* A timeline, wherever it is. The same requests are put to the tracer of a
 * session, and to what reads files here. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "timeline/export/export.h"
#include "timeline/query/query.h"
#include "timeline/query/vtab.h"
#include "timeline/store/store.h"
#include "timeline/values/shape.h"
#include "tl_file.h"
#include "tl_open.h"

/* -- opening --------------------------------------------------------------- */

static struct json_object *
empty(void)
{
	return json_object_new_object();
}

/* Values are shown by what the timeline has kept of their types. */
static int
use_store(struct timeline *t)
{
	struct store_render render = { shapes_arguments, shapes_result, NULL };

	if (t->store == NULL)
		return CTL_USAGE;
	render.arg = t->shapes = shapes_new(t->store);
	if (t->shapes == NULL)
		return CTL_OK;
	store_set_render(t->store, &render);
	store_set_inverse(t->store, shapes_inverse, t->shapes);
	return CTL_OK;
}

/* Opens a timeline kept here: no tracer has it, or none can be reached. */
static int
open_kept(struct timeline *t, const char *name, int code, const char *why)
{
	bool there;

	t->store = tl_kept_open(name, &there);
	if (t->store != NULL) {
		json_object_put(t->status);
		t->status = NULL;
		return use_store(t);
	}
	if (there)
		code = CTL_USAGE;
	else if (code == CTL_REFUSED) {
		trc_refused(t->client, json_object_get(t->status));
		if (!t->client->json_errors)
			report_more("nor is a timeline of that name kept "
			    "here: \"" CTL_NAME " timeline --kept\" lists "
			    "those that are");
	} else if (why != NULL) {
		report("%s", why);
		report_more("nor is a timeline of that name kept here");
	}
	return code;
}

int
tl_reach(struct timeline *t, struct client *c, const char *word)
{
	int code;
	char *why;

	*t = (struct timeline){ .client = c, .to = { .session = word } };
	if (tl_is_file(word)) {
		t->store = tl_file_open(word);
		return use_store(t);
	}
	report_hold();
	code = trc_try(c, &t->to, "status", empty(), &t->status);
	why = report_release();
	if (code == CTL_UNREACHABLE || (code == CTL_REFUSED &&
	    trc_is_nowhere(t->status)))
		code = open_kept(t, word, code, why);
	else if (code == CTL_REFUSED)
		trc_refused(c, json_object_get(t->status));
	else if (code != CTL_OK && why != NULL)
		report("%s", why);
	free(why);
	if (code != CTL_OK)
		tl_shut(t);
	return code;
}

void
tl_shut(struct timeline *t)
{
	/* true: what has been read is not to be emptied */
	if (t->store != NULL)
		store_close(t->store, true);
	shapes_free(t->shapes);
	json_object_put(t->status);
	t->store = NULL;
	t->shapes = NULL;
	t->status = NULL;
}

/* -- asking ---------------------------------------------------------------- */

static int
run_query(struct store *st, struct json_object *args, struct text *answer,
    char why[STORE_WHY])
{
	struct query q;
	int r;

	if (query_parse(args, &q, why) == -1)
		return -1;
	r = query_run(st, &q, answer, why);
	query_free(&q);
	return r;
}

static int
run_sql(struct store *st, struct json_object *args, struct text *answer,
    char why[STORE_WHY])
{
	const char *statement = reply_str(args, "statement", "");
	struct sql_limits limits = { 0 };
	int64_t rows;

	if (reply_int(args, "rows", &rows))
		limits.rows = (uint32_t)rows;
	return store_sql(st, statement, strlen(statement), &limits, answer,
	    why);
}

/* Refusals look like a tracer's. */
static int
refuse(const char *why, struct json_object **resultp)
{
	struct json_object *o = empty();

	json_object_object_add(o, "ok", json_object_new_boolean(0));
	json_object_object_add(o, "error_code",
	    json_object_new_string("invalid_argument"));
	json_object_object_add(o, "message", json_object_new_string(why));
	*resultp = o;
	return CTL_REFUSED;
}

static int
ask_store(struct store *st, const char *request, struct json_object *args,
    struct json_object **resultp)
{
	struct text answer = { .max = TEXT_MAX };
	char why[STORE_WHY] = "a timeline in files is asked by query and sql";
	int r = -1, code = CTL_OK;

	if (strcmp(request, "query") == 0)
		r = run_query(st, args, &answer, why);
	else if (strcmp(request, "sql") == 0)
		r = run_sql(st, args, &answer, why);
	if (r == -1)
		code = refuse(why, resultp);
	else if ((*resultp = reply_parse(answer.p, answer.len)) == NULL)
		code = usage_error("the timeline gave an answer that is not "
		    "JSON");
	text_free(&answer);
	return code;
}

int
timeline_try(struct timeline *t, const char *request,
    struct json_object *args, struct json_object **resultp)
{
	int code;

	*resultp = NULL;
	if (t->store == NULL)
		return trc_try(t->client, &t->to, request, args, resultp);
	code = ask_store(t->store, request, args, resultp);
	json_object_put(args);
	return code;
}

int
timeline_ask(struct timeline *t, const char *request,
    struct json_object *args, struct json_object **resultp)
{
	int code = timeline_try(t, request, args, resultp);

	if (code != CTL_REFUSED)
		return code;
	trc_refused(t->client, *resultp);
	*resultp = NULL;
	return code;
}

/* -- exporting ------------------------------------------------------------- */

struct piece {
	int	(*write)(void *arg, const void *, size_t);
	void	*arg;
	int	 code;		/* what write has said */
};

static int
pass_on(void *arg, const void *data, size_t len)
{
	struct piece *p = arg;

	p->code = p->write(p->arg, data, len);
	return p->code == 0 ? 0 : -1;
}

static int
export_store(struct store *st, const char *format, const struct query *q,
    struct piece *p)
{
	const struct export_to to = { pass_on, p };
	char why[STORE_WHY];
	int r;

	if (strcmp(format, "chrome") == 0)
		r = export_chrome(st, q, &to, why);
	else if (strcmp(format, "folded") == 0)
		r = export_folded(st, q, &to, why);
	else
		r = export_text(st, q, strcmp(format, "tree") == 0, &to,
		    why);
	if (r == 0 || p->code != 0)
		return p->code;
	return usage_error("%s", why);
}

/*
 * Reads a piece of a tracer's export; *atp becomes the offset of the next one,
 * -1 at the end.
 */
static int
read_piece(struct timeline *t, int64_t number, int64_t *atp, struct piece *p)
{
	struct json_object *args = empty(), *result, *v;
	int code;

	args_number(args, "export", number);
	args_number(args, "offset", *atp);
	if ((code = timeline_ask(t, "read", args, &result)) != CTL_OK)
		return code;
	if (json_object_object_get_ex(result, "data", &v) &&
	    json_object_is_type(v, json_type_string))
		code = pass_on(p, json_object_get_string(v),
		    (size_t)json_object_get_string_len(v)) == 0 ? CTL_OK :
		    p->code;
	else {
		report("the answer has no part of the export in it");
		code = CTL_UNREACHABLE;
	}
	if (!reply_int(result, "next", atp))
		*atp = -1;
	json_object_put(result);
	return code;
}

static int
export_session(struct timeline *t, const char *format,
    struct json_object *query, struct piece *p)
{
	struct json_object *args = empty(), *result;
	int64_t number = -1, at = 0;
	int code;

	json_object_object_add(args, "format",
	    json_object_new_string(format));
	json_object_object_add(args, "query", json_object_get(query));
	if ((code = timeline_ask(t, "export", args, &result)) != CTL_OK)
		return code;
	reply_int(result, "export", &number);
	json_object_put(result);
	while (code == CTL_OK && at >= 0)
		code = read_piece(t, number, &at, p);
	return code;
}

int
timeline_export(struct timeline *t, const char *format,
    struct json_object *query, int (*write)(void *, const void *, size_t),
    void *arg)
{
	struct piece p = { write, arg, 0 };
	char why[STORE_WHY];
	struct query q;
	int code;

	if (t->store == NULL)
		return export_session(t, format, query, &p);
	if (query_parse(query, &q, why) == -1)
		return usage_error("%s", why);
	code = export_store(t->store, format, &q, &p);
	query_free(&q);
	return code;
}
