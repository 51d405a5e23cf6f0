/* SPDX-License-Identifier: ISC */
/*
 * Running one statement over a timeline.  Everything is denied but SELECT on
 * the two tables and the functions named here; time, memory, rows and bytes
 * have limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "vtab.h"
#include "vtab_int.h"

#define STEPS	20		/* of SQLite's machine between two looks */

/* SQL functions that neither read files nor make much out of little. */
static const char *const functions[] = {
	"abs", "avg", "ceil", "char", "coalesce", "count", "cume_dist", "date",
	"datetime", "dense_rank", "first_value", "floor", "format", "glob",
	"group_concat", "hex", "ifnull", "iif", "instr", "json",
	"json_array_length", "json_extract", "json_type", "json_valid",
	"julianday", "lag", "last_value", "lead", "length", "like", "lower",
	"ltrim", "max", "min", "nth_value", "ntile", "nullif", "percent_rank",
	"printf", "quote", "rank", "regexp", "replace", "round", "row_number",
	"rtrim", "sign", "strftime", "substr", "substring", "sum", "time",
	"total", "trim", "typeof", "unicode", "unixepoch", "upper", "->",
	"->>",
};

static const struct {
	int id, value;
} limits_of[] = {
	{ SQLITE_LIMIT_LENGTH, 1 << 20 },
	{ SQLITE_LIMIT_SQL_LENGTH, SQL_LONGEST },
	{ SQLITE_LIMIT_COLUMN, 100 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 20 },
	{ SQLITE_LIMIT_VDBE_OP, 100000 }, { SQLITE_LIMIT_FUNCTION_ARG, 20 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 10 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

struct run {
	struct store *st;
	const struct sql_limits *limits;
	struct vtab_clock clock;
	struct timespec end, looked;
	bool	 late;
	char	 denied[100];
};

/* -- what is allowed ---------------------------------------------------- */
static bool
listed(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_stricmp(functions[i], name) == 0)
			return true;
	return false;
}

/*
 * A table of which no column is read, as in count(*), is told by the name
 * that the statement has for it, which may be one that it gave itself.  There
 * are only our two, SQLite's own and those that it makes for pragmas.
 */
static bool
may_read(const char *table, const char *column)
{
	if (column == NULL || column[0] == '\0')
		return sqlite3_strnicmp(table, "sqlite_", 7) != 0 &&
		    sqlite3_strnicmp(table, "pragma_", 7) != 0;
	return strcmp(table, "events") == 0 || strcmp(table, "sessions") == 0;
}

static void
deny(struct run *r, const char *what, const char *name)
{
	struct text t = { .max = sizeof(r->denied) - 1 };

	text_plain(&t, name, strnlen(name, 40));
	snprintf(r->denied, sizeof(r->denied), "%s%s", what,
	    t.p == NULL ? "" : t.p);
	text_free(&t);
}

static int
authorize(void *arg, int action, const char *a, const char *b,
    const char *db, const char *trigger)
{
	struct run *r = arg;

	(void)db;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		if (a != NULL && may_read(a, b))
			return SQLITE_OK;
		deny(r, "the table ", a == NULL ? "" : a);
		return SQLITE_DENY;
	case SQLITE_FUNCTION:
		if (b != NULL && listed(b))
			return SQLITE_OK;
		deny(r, "the function ", b == NULL ? "" : b);
		return SQLITE_DENY;
	default:
		deny(r, "this statement", "");
		return SQLITE_DENY;
	}
}

/* -- how long ----------------------------------------------------------- */
static bool
is_late(const struct timespec *now, const struct timespec *end)
{
	return now->tv_sec > end->tv_sec || (now->tv_sec == end->tv_sec &&
	    now->tv_nsec > end->tv_nsec);
}

/* A step may take long, so they are few; the rest is seen to each ms. */
static bool
look(void *arg)
{
	struct run *r = arg;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	r->late = is_late(&now, &r->end);
	if (now.tv_sec != r->looked.tv_sec ||
	    now.tv_nsec - r->looked.tv_nsec >= 1000000L) {
		r->looked = now;
		store_tick(r->st);
	}
	return r->late;
}

static int
progress(void *arg)
{
	return look(arg);
}

static void
set_end(struct run *r)
{
	uint32_t ms = r->limits->ms > 0 ? r->limits->ms : SQL_MS;

	clock_gettime(CLOCK_MONOTONIC, &r->end);
	r->end.tv_sec += ms / 1000;
	r->end.tv_nsec += ms % 1000 * 1000000L;
	if (r->end.tv_nsec >= 1000000000L) {
		r->end.tv_sec++;
		r->end.tv_nsec -= 1000000000L;
	}
}

/* -- the connection ----------------------------------------------------- */
/* Tables are declared at their first use, which the authorizer would deny. */
static const char set_up[] = "PRAGMA temp_store=MEMORY;"
    "SELECT 1 FROM events, sessions LIMIT 0";

static sqlite3 *
connection(struct run *r)
{
	sqlite3 *db = NULL;
	size_t i;

	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE |
	    SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, VFS_NAME) !=
	    SQLITE_OK || vtab_add(db, r->st) == -1 ||
	    vtab_functions(db, &r->clock) == -1 ||
	    sqlite3_exec(db, set_up, NULL, NULL, NULL) != SQLITE_OK) {
		sqlite3_close_v2(db);
		return NULL;
	}
	for (i = 0; i < sizeof(limits_of) / sizeof(limits_of[0]); i++)
		sqlite3_limit(db, limits_of[i].id, limits_of[i].value);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_set_authorizer(db, authorize, r);
	sqlite3_progress_handler(db, STEPS, progress, r);
	return db;
}

/* -- the answer --------------------------------------------------------- */
static void
add_value(sqlite3_stmt *s, int i, struct text *t)
{
	double d;

	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		text_printf(t, "%lld", sqlite3_column_int64(s, i));
		break;
	case SQLITE_FLOAT:
		d = sqlite3_column_double(s, i);
		if (d - d != 0)
			text_puts(t, "null");	/* JSON has no infinity */
		else
			text_printf(t, "%.17g", d);
		break;
	case SQLITE_NULL:
		text_puts(t, "null");
		break;
	default:
		json_quoted(t, (const char *)sqlite3_column_blob(s, i),
		    (size_t)sqlite3_column_bytes(s, i));
	}
}

static void
add_columns(sqlite3_stmt *s, struct text *t)
{
	const char *name;
	int i;

	text_puts(t, "{\"columns\":[");
	for (i = 0; i < sqlite3_column_count(s); i++) {
		name = sqlite3_column_name(s, i);
		text_puts(t, i > 0 ? "," : "");
		json_quoted(t, name == NULL ? "" : name,
		    name == NULL ? 0 : strlen(name));
	}
	text_puts(t, "],\"rows\":[");
}

/* Adds one row at a time, so that an answer never ends within a row. */
static void
add_row(sqlite3_stmt *s, struct text *row)
{
	int i;

	text_reset(row, SIZE_MAX);
	text_puts(row, "[");
	for (i = 0; i < sqlite3_column_count(s); i++) {
		text_puts(row, i > 0 ? "," : "");
		add_value(s, i, row);
	}
	text_puts(row, "]");
}

static int
add_rows(struct run *r, sqlite3_stmt *s, struct text *t)
{
	uint32_t most = r->limits->rows == 0 ? SQL_ROWS : r->limits->rows, n;
	struct text row = { .max = SQL_BYTES_MAX };
	size_t first = t->len;
	int ret;

	if (most > SQL_ROWS_MAX)
		most = SQL_ROWS_MAX;
	add_columns(s, t);
	for (n = 0; (ret = sqlite3_step(s)) == SQLITE_ROW; n++) {
		if (n == most)
			break;
		add_row(s, &row);
		if (row.bad || t->len - first + row.len > SQL_BYTES_MAX)
			break;
		text_puts(t, n > 0 ? "," : "");
		text_put(t, row.p, row.len);
	}
	text_free(&row);
	text_printf(t, "],\"truncated\":%s}", ret == SQLITE_ROW ? "true" :
	    "false");
	return ret == SQLITE_ROW || ret == SQLITE_DONE ? 0 : -1;
}

/* -- errors ------------------------------------------------------------- */
static void
explain(const struct run *r, sqlite3 *db, char why[STORE_WHY])
{
	struct text t = { .max = STORE_WHY - 1 };
	const char *said = sqlite3_errmsg(db);

	if (r->denied[0] != '\0')
		snprintf(why, STORE_WHY, "%s is not allowed: one SELECT on "
		    "events and sessions is", r->denied);
	else if (r->late)
		snprintf(why, STORE_WHY, "the statement took too long; ask "
		    "for less, for instance by timestamp_ns, thread_id, "
		    "event_type or function_name");
	else if (sqlite3_errcode(db) == SQLITE_NOMEM)
		snprintf(why, STORE_WHY, "the statement needs too much "
		    "memory; ask for less, or with a LIMIT");
	else {
		text_plain(&t, said, strnlen(said, 200));
		snprintf(why, STORE_WHY, "%s", t.p == NULL ? "" : t.p);
	}
	text_free(&t);
}

/* Only blanks and semicolons may follow the statement. */
static bool
is_all(const char *tail, const char *end)
{
	while (tail < end && strchr(" \t\r\n;", *tail) != NULL && *tail != '\0')
		tail++;
	return tail == end;
}

static int
run_one(struct run *r, sqlite3 *db, const char *sql, size_t len,
    struct text *t, char why[STORE_WHY])
{
	const char *tail = sql;
	sqlite3_stmt *s = NULL;
	size_t first = t->len;
	int ret = -1;

	if (sqlite3_prepare_v3(db, sql, (int)len, 0, &s, &tail) != SQLITE_OK)
		explain(r, db, why);
	else if (s == NULL || !is_all(tail, sql + len))
		snprintf(why, STORE_WHY, "one statement, please: a SELECT on "
		    "events and sessions");
	else if (sqlite3_stmt_readonly(s) == 0 ||
	    sqlite3_stmt_isexplain(s) != 0 || sqlite3_column_count(s) == 0)
		snprintf(why, STORE_WHY, "only SELECT is allowed");
	else if ((ret = add_rows(r, s, t)) == -1)
		explain(r, db, why);
	sqlite3_finalize(s);
	if (ret == -1) {
		t->len = first;
		if (t->p != NULL)
			t->p[first] = '\0';
	}
	return ret;
}

int
store_sql(struct store *st, const char *sql, size_t len,
    const struct sql_limits *limits, struct text *t, char why[STORE_WHY])
{
	struct run r = { .st = st, .limits = limits,
		.clock = { look, &r } };
	sqlite3_int64 before;
	sqlite3 *db;
	int ret;

	if (len > SQL_LONGEST || memchr(sql, '\0', len) != NULL) {
		snprintf(why, STORE_WHY, "a statement is a text of at most "
		    "64 KiB");
		return -1;
	}
	store_flush(st);
	if ((db = connection(&r)) == NULL) {
		snprintf(why, STORE_WHY, "no memory");
		return -1;
	}
	set_end(&r);
	/* else what comes in meanwhile could keep it going for ever */
	st->horizon = st->latest_ts;
	/* the limit is the whole process's, so it is for as long as this */
	before = sqlite3_hard_heap_limit64(sqlite3_memory_used() +
	    SQL_MEMORY);
	ret = run_one(&r, db, sql, len, t, why);
	sqlite3_close_v2(db);
	sqlite3_hard_heap_limit64(before);
	st->horizon = UINT64_MAX;
	return ret;
}
