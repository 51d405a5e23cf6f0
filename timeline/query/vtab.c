/* SPDX-License-Identifier: ISC */
/*
 * The tables events and sessions.  A constraint on a column that the timeline
 * can look up (ids, time, thread, type, name, file) becomes a filter.  SQLite
 * checks each row once more, so a filter may let too many rows through but
 * never too few.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "query_regex.h"
#include "vtab_int.h"

enum column {
	C_ID, C_SESSION, C_TIME, C_THREAD, C_PARENT, C_TYPE, C_NAME, C_RAW,
	C_FILE, C_LINE, C_ARGUMENTS, C_RESULT, C_DURATION, C_TEXT
};

static const char events_schema[] =
    "CREATE TABLE events(id TEXT, session_id TEXT, timestamp_ns INTEGER,"
    " thread_id INTEGER, parent_event_id TEXT, event_type TEXT,"
    " function_name TEXT, function_name_raw TEXT, source_file TEXT,"
    " line_number INTEGER, arguments TEXT, return_value TEXT,"
    " duration_ns INTEGER, text TEXT)";
static const char sessions_schema[] =
    "CREATE TABLE sessions(id TEXT, binary_path TEXT, project_root TEXT,"
    " pid INTEGER, started_at INTEGER, ended_at INTEGER, status TEXT)";

struct table {
	sqlite3_vtab base;
	struct store *st;
};

struct table_cursor {
	sqlite3_vtab_cursor base;
	struct store *st;
	struct query q;
	struct filter f;
	struct cursor *c;
	struct seen ev;
	sqlite3_int64 row;
	bool	 end;
};

/* -- both tables -------------------------------------------------------- */
static int
connect(sqlite3 *db, struct store *st, const char *schema,
    sqlite3_vtab **out)
{
	struct table *t = sqlite3_malloc(sizeof(*t));
	int ret;

	if (t == NULL)
		return SQLITE_NOMEM;
	memset(t, 0, sizeof(*t));
	t->st = st;
	ret = sqlite3_declare_vtab(db, schema);
	if (ret != SQLITE_OK) {
		sqlite3_free(t);
		return ret;
	}
	*out = &t->base;
	return SQLITE_OK;
}

static int
connect_events(sqlite3 *db, void *st, int argc, const char *const *argv,
    sqlite3_vtab **out, char **err)
{
	(void)argc;
	(void)argv;
	(void)err;
	return connect(db, st, events_schema, out);
}

static int
connect_sessions(sqlite3 *db, void *st, int argc, const char *const *argv,
    sqlite3_vtab **out, char **err)
{
	(void)argc;
	(void)argv;
	(void)err;
	return connect(db, st, sessions_schema, out);
}

static int
disconnect(sqlite3_vtab *t)
{
	sqlite3_free(t);
	return SQLITE_OK;
}

static int
cursor_make(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
	struct table_cursor *c = sqlite3_malloc(sizeof(*c));

	if (c == NULL)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	c->st = ((struct table *)(void *)t)->st;
	c->end = true;
	*out = &c->base;
	return SQLITE_OK;
}

static struct table_cursor *
of(sqlite3_vtab_cursor *c)
{
	return (struct table_cursor *)(void *)c;
}

static void
stop(struct table_cursor *c)
{
	cursor_close(c->c);
	c->c = NULL;
	filter_free(&c->f);
	query_free(&c->q);
	c->end = true;
}

static int
cursor_free(sqlite3_vtab_cursor *c)
{
	stop(of(c));
	sqlite3_free(c);
	return SQLITE_OK;
}

static int
at_end(sqlite3_vtab_cursor *c)
{
	return of(c)->end;
}

static int
rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *id)
{
	*id = of(c)->row;
	return SQLITE_OK;
}

static void
result_text(sqlite3_context *ctx, const char *s, size_t len)
{
	sqlite3_result_text(ctx, s, (int)len, SQLITE_TRANSIENT);
}

/* -- events: what is asked ---------------------------------------------- */
/* Usable constraints: each adds its letter to the plan, and its value. */
static const struct {
	int column, op;
	char letter;
} usable[] = {
	{ C_TIME, SQLITE_INDEX_CONSTRAINT_EQ, '=' },
	{ C_TIME, SQLITE_INDEX_CONSTRAINT_GT, '>' },
	{ C_TIME, SQLITE_INDEX_CONSTRAINT_GE, '>' },
	{ C_TIME, SQLITE_INDEX_CONSTRAINT_LT, '<' },
	{ C_TIME, SQLITE_INDEX_CONSTRAINT_LE, '<' },
	{ C_THREAD, SQLITE_INDEX_CONSTRAINT_EQ, 't' },
	{ C_TYPE, SQLITE_INDEX_CONSTRAINT_EQ, 'k' },
	{ C_NAME, SQLITE_INDEX_CONSTRAINT_EQ, 'n' },
	{ C_FILE, SQLITE_INDEX_CONSTRAINT_EQ, 'f' },
	{ C_ID, SQLITE_INDEX_CONSTRAINT_EQ, 'i' },
	{ C_SESSION, SQLITE_INDEX_CONSTRAINT_EQ, 's' },
};

static char
letter_of(sqlite3_index_info *info, int k)
{
	const struct sqlite3_index_constraint *kc = &info->aConstraint[k];
	size_t i;

	/* to NOCASE more is equal than to a filter */
	if (!kc->usable || (kc->iColumn != C_TIME && kc->iColumn != C_THREAD &&
	    strcmp(sqlite3_vtab_collation(info, k), "BINARY") != 0))
		return '\0';
	for (i = 0; i < sizeof(usable) / sizeof(usable[0]); i++)
		if (usable[i].column == kc->iColumn && usable[i].op == kc->op)
			return usable[i].letter;
	return '\0';
}

static int
best_events(sqlite3_vtab *t, sqlite3_index_info *info)
{
	char *plan = sqlite3_malloc(info->nConstraint + 1), letter;
	double cost = 1e7;
	int i, n = 0;

	(void)t;
	if (plan == NULL)
		return SQLITE_NOMEM;
	for (i = 0; i < info->nConstraint; i++) {
		if ((letter = letter_of(info, i)) == '\0')
			continue;
		plan[n++] = letter;
		info->aConstraintUsage[i].argvIndex = n;
		cost /= letter == 'i' ? 1e6 : letter == 's' ? 1 : 10;
	}
	plan[n] = '\0';
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	info->estimatedCost = cost;
	info->estimatedRows = (sqlite3_int64)cost + 1;
	if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == C_TIME &&
	    !info->aOrderBy[0].desc)
		info->orderByConsumed = 1;
	return SQLITE_OK;
}

struct bounds {
	uint64_t from, to;
	bool	 none;		/* something that no row can be */
};

/* A time since the start as the clock's, with all that cannot be. */
static uint64_t
clock_of(const struct store *st, sqlite3_value *v)
{
	double d = sqlite3_value_double(v);

	if (sqlite3_value_numeric_type(v) == SQLITE_INTEGER) {
		sqlite3_int64 n = sqlite3_value_int64(v);

		return n < 0 ? 0 : (uint64_t)n + st->meta.start_ns;
	}
	/* not a number at all: left to SQLite, nothing is ruled out */
	return !(d > 0) || d > 9e18 ? 0 : (uint64_t)d + st->meta.start_ns;
}

static void
bound_time(const struct store *st, char letter, sqlite3_value *v,
    struct bounds *b)
{
	int type = sqlite3_value_numeric_type(v);
	uint64_t ts = clock_of(st, v);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	/* what was before the start is shown as 0 */
	if (letter != '<' && ts > st->meta.start_ns && ts > b->from)
		b->from = ts;
	/* fractions are cut, so one more */
	if (letter != '>' && type == SQLITE_INTEGER && ts < b->to)
		b->to = ts < st->meta.start_ns ? st->meta.start_ns : ts;
}

static void
keep_text(char **to, sqlite3_value *v)
{
	const char *s = (const char *)sqlite3_value_text(v);

	if (*to == NULL && s != NULL)
		*to = strdup(s);
}

static void
bound_id(struct table_cursor *c, sqlite3_value *v, struct bounds *b)
{
	const char *s = (const char *)sqlite3_value_text(v);
	struct place p;
	uint64_t id;

	if (s == NULL || id_parse(s, strlen(s), &id) == -1 ||
	    place_of(c->st, id, &p) == -1) {
		b->none = true;
	} else if (p.seq != 0) {
		b->from = p.ts > b->from ? p.ts : b->from;
		b->to = p.ts < b->to ? p.ts : b->to;
	}
}

static void
bound(struct table_cursor *c, char letter, sqlite3_value *v,
    struct bounds *b)
{
	const char *s;
	uint8_t kind;

	switch (letter) {
	case 't':
		if (sqlite3_value_numeric_type(v) == SQLITE_INTEGER &&
		    sqlite3_value_int64(v) > 0)
			c->q.tid = sqlite3_value_int64(v);
		break;
	case 'k':
		s = (const char *)sqlite3_value_text(v);
		kind = s == NULL ? 0 : kind_of(s);
		if (kind == 0)
			b->none = true;
		else
			c->q.kinds = 1U << kind;
		break;
	case 'n':
		/* output has a name, too: the empty one */
		s = (const char *)sqlite3_value_text(v);
		if (s != NULL && s[0] != '\0')
			keep_text(&c->q.fn_equals, v);
		break;
	case 'f':
		s = (const char *)sqlite3_value_text(v);
		if (s != NULL && s[0] != '\0')
			keep_text(&c->q.file_equals, v);
		break;
	case 'i':
		bound_id(c, v, b);
		break;
	case 's':
		/* there is only this one */
		s = (const char *)sqlite3_value_text(v);
		if (s == NULL || strcmp(s, c->st->meta.id) != 0)
			b->none = true;
		break;
	default:
		bound_time(c->st, letter, v, b);
	}
}

static int
next_event(sqlite3_vtab_cursor *vc)
{
	struct table_cursor *c = of(vc);

	c->row++;
	c->end = cursor_next(c->c, &c->ev) != 1;
	return SQLITE_OK;
}

static int
filter_events(sqlite3_vtab_cursor *vc, int num, const char *plan, int argc,
    sqlite3_value **argv)
{
	struct table_cursor *c = of(vc);
	struct bounds b = { 0, UINT64_MAX, false };
	struct place p;
	char why[STORE_WHY];
	int i;

	(void)num;
	stop(c);
	c->q = (struct query)QUERY_INIT;
	c->row = 0;
	for (i = 0; i < argc; i++)
		bound(c, plan[i], argv[i], &b);
	if (b.none)
		return SQLITE_OK;
	if (filter_make(c->st, &c->q, &c->f, why) == -1)
		return SQLITE_NOMEM;
	p = (struct place){ b.from, 0, 0 };
	if ((c->c = cursor_open(&c->f, &p, b.to)) == NULL)
		return SQLITE_NOMEM;
	c->end = false;
	return next_event(vc);
}

/* -- events: a row ------------------------------------------------------ */
static void
column_id(sqlite3_context *ctx, uint64_t id)
{
	char text[24];

	if (id == 0)
		return;
	event_id_text(id, text);
	result_text(ctx, text, strlen(text));
}

/* Text as it is, but UTF-8. */
static void
column_text(sqlite3_context *ctx, const char *s, size_t len)
{
	struct text t = { .max = 8 * STORE_TEXT_MAX };
	size_t n;

	for (; len > 0; s += n, len -= n) {
		if ((n = utf8_sequence(s, len)) > 0 && *s != '\0') {
			text_put(&t, s, n);
		} else {
			text_puts(&t, "\xef\xbf\xbd");
			n = 1;
		}
	}
	if (t.bad)
		sqlite3_result_error_nomem(ctx);
	else
		result_text(ctx, t.p == NULL ? "" : t.p, t.len);
	text_free(&t);
}

static void
column_value(sqlite3_context *ctx, const struct table_cursor *c, int i)
{
	static char buf[STORE_RENDER_MAX];
	const struct seen *ev = &c->ev;

	if (i == C_ARGUMENTS && ev->kind == EVENT_ENTER)
		result_text(ctx, buf, shown_arguments(c->st, ev->fn,
		    ev->data, ev->len, buf));
	else if (i == C_RESULT && ev->kind == EVENT_EXIT && ev->len > 0)
		result_text(ctx, buf, shown_result(c->st, ev->fn, ev->data,
		    ev->len, buf));
}

static void
column_function(sqlite3_context *ctx, const struct table_cursor *c, int i)
{
	const struct function *f = c->ev.thread == NULL ? NULL :
	    function_of(c->st, c->ev.fn);

	if (i == C_NAME)
		column_text(ctx, f == NULL ? "" : f->name,
		    f == NULL ? 0 : strlen(f->name));
	else if (f == NULL)
		return;
	else if (i == C_RAW)
		column_text(ctx, f->raw, strlen(f->raw));
	else if (i == C_FILE && f->file[0] != '\0')
		column_text(ctx, f->file, strlen(f->file));
	else if (i == C_LINE && f->line != 0)
		sqlite3_result_int64(ctx, f->line);
}

static int
column_event(sqlite3_vtab_cursor *vc, sqlite3_context *ctx, int i)
{
	struct table_cursor *c = of(vc);
	const struct seen *ev = &c->ev;

	switch (i) {
	case C_ID:
		column_id(ctx, ev->id);
		break;
	case C_SESSION:
		column_text(ctx, c->st->meta.id, strlen(c->st->meta.id));
		break;
	case C_TIME:
		sqlite3_result_int64(ctx,
		    (sqlite3_int64)shown_ns(c->st, ev->ts));
		break;
	case C_THREAD:
		sqlite3_result_int64(ctx, ev->tid);
		break;
	case C_PARENT:
		column_id(ctx, ev->parent);
		break;
	case C_TYPE:
		sqlite3_result_text(ctx, kind_name(ev->kind), -1,
		    SQLITE_STATIC);
		break;
	case C_ARGUMENTS:
	case C_RESULT:
		column_value(ctx, c, i);
		break;
	case C_DURATION:
		if (ev->kind == EVENT_EXIT)
			sqlite3_result_int64(ctx, (sqlite3_int64)ev->duration);
		break;
	case C_TEXT:
		if (ev->thread == NULL)
			column_text(ctx, ev->data, ev->len);
		break;
	default:
		column_function(ctx, c, i);
	}
	return SQLITE_OK;
}

/* -- sessions ----------------------------------------------------------- */
static int
best_sessions(sqlite3_vtab *t, sqlite3_index_info *info)
{
	(void)t;
	info->estimatedCost = 1;
	info->estimatedRows = 1;
	return SQLITE_OK;
}

static int
filter_sessions(sqlite3_vtab_cursor *c, int num, const char *plan, int argc,
    sqlite3_value **argv)
{
	(void)num;
	(void)plan;
	(void)argc;
	(void)argv;
	of(c)->end = false;
	return SQLITE_OK;
}

static int
next_session(sqlite3_vtab_cursor *c)
{
	of(c)->end = true;
	return SQLITE_OK;
}

static int
column_session(sqlite3_vtab_cursor *vc, sqlite3_context *ctx, int i)
{
	const struct store_meta *m = &of(vc)->st->meta;
	const char *texts[] = { m->id, m->binary_path, m->project_root, NULL,
		NULL, NULL, m->status };
	sqlite3_int64 numbers[] = { 0, 0, 0, m->pid, m->started_at,
		m->ended_at, 0 };

	if (i < 0 || i > 6)
		return SQLITE_OK;
	if (texts[i] != NULL)
		column_text(ctx, texts[i], strlen(texts[i]));
	else if (i != 5 || numbers[i] != 0)
		sqlite3_result_int64(ctx, numbers[i]);
	return SQLITE_OK;
}

/* Without xCreate: they are there and cannot be made. */
static const sqlite3_module events_module = {
	.xConnect = connect_events,
	.xBestIndex = best_events,
	.xDisconnect = disconnect,
	.xOpen = cursor_make,
	.xClose = cursor_free,
	.xFilter = filter_events,
	.xNext = next_event,
	.xEof = at_end,
	.xColumn = column_event,
	.xRowid = rowid,
};

static const sqlite3_module sessions_module = {
	.xConnect = connect_sessions,
	.xBestIndex = best_sessions,
	.xDisconnect = disconnect,
	.xOpen = cursor_make,
	.xClose = cursor_free,
	.xFilter = filter_sessions,
	.xNext = next_session,
	.xEof = at_end,
	.xColumn = column_session,
	.xRowid = rowid,
};

/* -- REGEXP ------------------------------------------------------------- */
static void
regex_gone(void *re)
{
	regex_free(re);
}

/* regexp(pattern, text), the pattern made ready once per statement. */
static void
regexp(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct regex *re = sqlite3_get_auxdata(ctx, 0);
	const char *pattern = (const char *)sqlite3_value_text(argv[0]);
	const char *text = (const char *)sqlite3_value_text(argv[1]);
	char why[REGEX_WHY];
	bool matches;

	(void)argc;
	if (pattern == NULL || text == NULL)
		return;
	if (re != NULL) {
		sqlite3_result_int(ctx, regex_match(re, text,
		    (size_t)sqlite3_value_bytes(argv[1])));
		return;
	}
	re = regex_new(pattern, (size_t)sqlite3_value_bytes(argv[0]), why);
	if (re == NULL) {
		sqlite3_result_error(ctx, why, -1);
		return;
	}
	matches = regex_match(re, text, (size_t)sqlite3_value_bytes(argv[1]));
	/* it may be freed there and then */
	sqlite3_set_auxdata(ctx, 0, re, regex_gone);
	sqlite3_result_int(ctx, matches);
}

int
vtab_add(sqlite3 *db, struct store *st)
{
	/* whatever tables SQLite was built with */
	return sqlite3_drop_modules(db, NULL) == SQLITE_OK &&
	    sqlite3_create_module_v2(db, "events", &events_module, st,
	    NULL) == SQLITE_OK &&
	    sqlite3_create_module_v2(db, "sessions", &sessions_module, st,
	    NULL) == SQLITE_OK &&
	    sqlite3_create_function_v2(db, "regexp", 2, SQLITE_UTF8 |
	    SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, regexp, NULL,
	    NULL, NULL) == SQLITE_OK ? 0 : -1;
}
