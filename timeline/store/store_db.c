/* SPDX-License-Identifier: ISC */
/*
 * The database: the session, names of functions, output and crashes.  Rows
 * wait in memory and are written in one transaction per flush; those of a
 * transaction that failed wait for the next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_int.h"

#define APPLICATION	0x646c7472	/* "dltr" */
#define VERSION		3	/* of the calls as well */
#define ROWS_MOST	((size_t)8 << 20)	/* bytes that wait */
#define ROWS_LIMIT	(4 * ROWS_MOST)		/* those that must not be lost */

#define STR(x)	#x
#define NUMBER(x) STR(x)

static const char schema[] = "PRAGMA application_id=" NUMBER(
    APPLICATION) ";"
		 "PRAGMA user_version=" NUMBER(
		     VERSION) ";"
			      "CREATE TABLE session(id TEXT, binary_path TEXT, "
			      "project_root TEXT,"
			      " pid INTEGER, started_at INTEGER, ended_at "
			      "INTEGER, status TEXT,"
			      " start_ns INTEGER, tag INTEGER);"
			      "CREATE TABLE functions(fn INTEGER PRIMARY KEY, "
			      "name TEXT, raw TEXT,"
			      " file TEXT, line INTEGER, ret_type TEXT, shape "
			      "BLOB);"
			      "CREATE TABLE texts(id INTEGER PRIMARY KEY, ts "
			      "INTEGER, kind INTEGER,"
			      " tid INTEGER, parent INTEGER, thread TEXT, body "
			      "BLOB);"
			      "CREATE INDEX texts_ts ON texts(ts);";

/*
 * Exclusive before the log is first looked at, else SQLite wants shared
 * memory.  Nothing is synced while the program runs: what has been written
 * survives the writer, and with the host ends the program that it is about.
 */
static const char settings[] =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY;"
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
    "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=4194304";
static const char reopened[] =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=OFF;"
    "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=4194304";

static int
run(struct store *st, const char *sql)
{
	return sqlite3_exec(st->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 :
	    -1;
}

static int
step_once(sqlite3_stmt *s)
{
	int ret = sqlite3_step(s);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret == SQLITE_DONE ? 0 : -1;
}

static void
bind_text(sqlite3_stmt *s, int i, const char *text)
{
	sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

/* -- writing ------------------------------------------------------------ */
static int
put_meta(struct store *st)
{
	const struct store_meta *m = &st->meta;
	sqlite3_stmt *s;
	int ret = -1;

	if (run(st, "DELETE FROM session") == -1 ||
	    sqlite3_prepare_v2(st->db, "INSERT INTO session VALUES"
	    "(?,?,?,?,?,?,?,?,?)", -1, &s, NULL) != SQLITE_OK)
		return -1;
	bind_text(s, 1, m->id);
	bind_text(s, 2, m->binary_path);
	bind_text(s, 3, m->project_root);
	sqlite3_bind_int64(s, 4, m->pid);
	sqlite3_bind_int64(s, 5, m->started_at);
	sqlite3_bind_int64(s, 6, m->ended_at);
	bind_text(s, 7, m->status);
	sqlite3_bind_int64(s, 8, (sqlite3_int64)m->start_ns);
	sqlite3_bind_int64(s, 9, (sqlite3_int64)st->tag);
	ret = step_once(s);
	sqlite3_finalize(s);
	return ret;
}

static int
put_function(const struct store *st, sqlite3_stmt *s,
    const struct pending *row)
{
	const struct function *f = function_of(st, row->tid);

	if (f == NULL)
		return 0;
	sqlite3_bind_int64(s, 1, row->tid);
	bind_text(s, 2, f->name);
	bind_text(s, 3, f->raw);
	bind_text(s, 4, f->file);
	sqlite3_bind_int64(s, 5, f->line);
	bind_text(s, 6, f->ret_type);
	if (row->len > 0)
		sqlite3_bind_blob(s, 7, row->body, (int)row->len,
		    SQLITE_STATIC);
	return step_once(s);
}

static int
put_text(sqlite3_stmt *s, const struct pending *row)
{
	sqlite3_bind_int64(s, 1, (sqlite3_int64)row->id);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)row->ts);
	sqlite3_bind_int(s, 3, row->kind);
	sqlite3_bind_int64(s, 4, row->tid);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)row->parent);
	bind_text(s, 6, row->name);
	sqlite3_bind_blob(s, 7, row->body, (int)row->len, SQLITE_STATIC);
	return step_once(s);
}

static int
put_rows(struct store *st)
{
	sqlite3_stmt *fns = NULL, *texts = NULL;
	const struct pending *row;
	int ret = 0;

	/* who names one anew need not know how its values are shown */
	if (sqlite3_prepare_v2(st->db,
		"INSERT INTO functions "
		"VALUES(?1,?2,?3,?4,?5,?6,?7) ON CONFLICT(fn) DO UPDATE SET "
		"name=?2,raw=?3,file=?4,line=?5,ret_type=?6,"
		"shape=coalesce(?7,shape)",
		-1, &fns, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(st->db,
		"INSERT INTO texts VALUES"
		"(?,?,?,?,?,?,?)",
		-1, &texts, NULL) != SQLITE_OK)
		ret = -1;
	for (row = st->rows; ret == 0 && row != NULL; row = row->next)
		ret = row->kind == 0 ? put_function(st, fns, row) :
		    put_text(texts, row);
	sqlite3_finalize(fns);
	sqlite3_finalize(texts);
	return ret;
}

static void
free_rows(struct store *st)
{
	struct pending *row;

	while ((row = st->rows) != NULL) {
		st->rows = row->next;
		free(row);
	}
	st->rows_end = &st->rows;
	st->rows_bytes = 0;
}

static int
db_trouble(struct store *st)
{
	int code = sqlite3_extended_errcode(st->db);
	int err = code == SQLITE_FULL ? sqlite3_system_errno(st->db) : 0;

	trouble_set(st->db_trouble, err != 0 ? "output and names" :
	    sqlite3_errstr(code), err);
	return -1;
}

int
db_flush(struct store *st)
{
	if (st->rows == NULL && !st->meta_dirty)
		return 0;
	if (run(st, "BEGIN IMMEDIATE") == -1)
		return db_trouble(st);
	if ((st->meta_dirty && put_meta(st) == -1) || put_rows(st) == -1 ||
	    run(st, "COMMIT") == -1) {
		db_trouble(st);
		if (!sqlite3_get_autocommit(st->db))
			run(st, "ROLLBACK");
		return -1;
	}
	st->meta_dirty = false;
	free_rows(st);
	trouble_clear(st->db_trouble);
	return 0;
}

/*
 * Under a full disk output is given up; names and crashes only when they are
 * far too many.  (A name is still known as long as the store is open.)
 */
static bool
give_up(struct store *st, const struct pending *row)
{
	bool output = row->kind == EVENT_STDOUT || row->kind == EVENT_STDERR;

	if (!output && st->rows_bytes < ROWS_LIMIT)
		return false;
	if (row->kind == 0)
		return true;
	st->lost_bytes += row->len;
	if (output)
		st->output_bytes -= row->len;
	st->ntexts[row->kind]--;
	st->collected--;
	return true;
}

void
db_queue(struct store *st, struct pending *row)
{
	size_t size = sizeof(*row) + row->len;

	/* in trouble only the flush tries, not every line of output */
	if (st->rows_bytes + size > ROWS_MOST && (st->db_trouble[0] != '\0' ||
	    db_flush(st) == -1) && give_up(st, row)) {
		free(row);
		return;
	}
	row->next = NULL;
	*st->rows_end = row;
	st->rows_end = &row->next;
	st->rows_bytes += size;
}

/* -- reading what is there ---------------------------------------------- */
static char *
column(sqlite3_stmt *s, int i)
{
	const char *text = (const char *)sqlite3_column_text(s, i);

	return strndup(text == NULL ? "" : text, STORE_NAME_MAX);
}

static int
get_meta(struct store *st)
{
	struct store_meta *m = &st->meta;
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(st->db, "SELECT id,binary_path,project_root,"
	    "pid,started_at,ended_at,status,start_ns,tag FROM session", -1,
	    &s, NULL) != SQLITE_OK)
		return -1;
	if (sqlite3_step(s) != SQLITE_ROW) {
		sqlite3_finalize(s);
		return -1;
	}
	m->id = column(s, 0);
	m->binary_path = column(s, 1);
	m->project_root = column(s, 2);
	m->pid = (uint32_t)sqlite3_column_int64(s, 3);
	m->started_at = sqlite3_column_int64(s, 4);
	m->ended_at = sqlite3_column_int64(s, 5);
	m->status = column(s, 6);
	m->start_ns = (uint64_t)sqlite3_column_int64(s, 7);
	st->tag = (uint64_t)sqlite3_column_int64(s, 8);
	sqlite3_finalize(s);
	return m->id == NULL || m->binary_path == NULL ||
	    m->project_root == NULL || m->status == NULL ? -1 : 0;
}

static int
get_functions(struct store *st)
{
	struct store_function f;
	sqlite3_stmt *s;
	sqlite3_int64 fn;
	int ret;

	if (sqlite3_prepare_v2(st->db, "SELECT fn,name,raw,file,line,ret_type "
	    "FROM functions", -1, &s, NULL) != SQLITE_OK)
		return -1;
	while ((ret = sqlite3_step(s)) == SQLITE_ROW) {
		fn = sqlite3_column_int64(s, 0);
		if (fn < 0 || fn >= FN_MAX)
			continue;
		f = (struct store_function){ .fn = (uint32_t)fn,
			.name = (const char *)sqlite3_column_text(s, 1),
			.raw = (const char *)sqlite3_column_text(s, 2),
			.file = (const char *)sqlite3_column_text(s, 3),
			.line = (uint32_t)sqlite3_column_int64(s, 4),
			.ret_type = (const char *)sqlite3_column_text(s, 5) };
		function_set(st, &f);
	}
	sqlite3_finalize(s);
	return ret == SQLITE_DONE ? 0 : -1;
}

void *
store_shape(struct store *st, uint32_t fn, size_t *len)
{
	void *bytes = NULL;
	sqlite3_stmt *s;
	int n;

	if (sqlite3_prepare_v2(st->db, "SELECT shape FROM functions "
	    "WHERE fn=?", -1, &s, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(s, 1, fn);
	if (sqlite3_step(s) == SQLITE_ROW &&
	    sqlite3_column_blob(s, 0) != NULL &&
	    (n = sqlite3_column_bytes(s, 0)) > 0 &&
	    (size_t)n <= STORE_SHAPE_MAX && (bytes = malloc((size_t)n)) != NULL) {
		memcpy(bytes, sqlite3_column_blob(s, 0), (size_t)n);
		*len = (size_t)n;
	}
	sqlite3_finalize(s);
	return bytes;
}

static int
get_texts(struct store *st)
{
	sqlite3_stmt *s;
	int ret, kind;

	if (sqlite3_prepare_v2(st->db, "SELECT kind,count(*),max(id),"
	    "sum(length(body)+64),max(ts) FROM texts GROUP BY kind", -1, &s, NULL) !=
	    SQLITE_OK)
		return -1;
	while ((ret = sqlite3_step(s)) == SQLITE_ROW) {
		kind = sqlite3_column_int(s, 0);
		if (kind < EVENT_STDOUT || kind > EVENT_CRASH)
			continue;
		st->ntexts[kind] = (uint64_t)sqlite3_column_int64(s, 1);
		if (st->next_text <= (uint64_t)sqlite3_column_int64(s, 2))
			st->next_text =
			    (uint64_t)sqlite3_column_int64(s, 2) + 1;
		if (st->latest_ts < (uint64_t)sqlite3_column_int64(s, 4))
			st->latest_ts = (uint64_t)sqlite3_column_int64(s, 4);
		if (kind != EVENT_CRASH)
			st->output_bytes +=
			    (uint64_t)sqlite3_column_int64(s, 3);
	}
	sqlite3_finalize(s);
	return ret == SQLITE_DONE ? 0 : -1;
}

/* -- opening ------------------------------------------------------------ */
static void
harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

static int
db_make(struct store *st)
{
	st->meta_dirty = true;
	return run(st, settings) == -1 || run(st, "BEGIN") == -1 ||
	    run(st, schema) == -1 || put_meta(st) == -1 ||
	    run(st, "COMMIT") == -1 ? -1 : 0;
}

static int
connect(struct store *st, char why[STORE_WHY])
{
	st->rows_end = &st->rows;
	st->next_text = 1;
	if (vfs_register(st->files.db_fd, st->files.wal_fd, st->db_name) ==
	    -1 || sqlite3_open_v2(st->db_name, &st->db, SQLITE_OPEN_READWRITE |
	    SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, VFS_NAME) != SQLITE_OK) {
		snprintf(why, STORE_WHY, "no memory for the timeline");
		return -1;
	}
	harden(st->db);
	return 0;
}

static int
no_timeline(struct store *st, const char *what, char why[STORE_WHY])
{
	int code = sqlite3_errcode(st->db);

	snprintf(why, STORE_WHY, "%s%s%s", what, code == SQLITE_OK ? "" :
	    ": ", code == SQLITE_OK ? "" : sqlite3_errmsg(st->db));
	return -1;
}

int
db_peek(struct store *st, char why[STORE_WHY])
{
	if (connect(st, why) == -1)
		return -1;
	return run(st, reopened) == 0 && get_meta(st) == 0 ? 0 :
	    no_timeline(st, "no timeline is in these files", why);
}

/* Whether its calls are written as they are now. */
static int
check_version(struct store *st, char why[STORE_WHY])
{
	sqlite3_stmt *s;
	int version = -1;

	if (sqlite3_prepare_v2(st->db, "PRAGMA user_version", -1, &s, NULL) ==
	    SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		version = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	if (version == VERSION)
		return 0;
	snprintf(why, STORE_WHY, "this timeline has form %d, of another "
	    "release of debuglantern; this one reads form %d", version,
	    VERSION);
	return -1;
}

int
db_open(struct store *st, bool fresh, char why[STORE_WHY])
{
	if (fresh) {
		if (connect(st, why) == -1)
			return -1;
		return db_make(st) == 0 ? 0 : no_timeline(st,
		    "cannot make the timeline's database", why);
	}
	if (db_peek(st, why) == -1 || check_version(st, why) == -1)
		return -1;
	return get_functions(st) == 0 && get_texts(st) == 0 ? 0 :
	    no_timeline(st, "no timeline is in these files", why);
}

void
db_close(struct store *st)
{
	free_rows(st);
	if (st->db != NULL)
		sqlite3_close_v2(st->db);
	if (st->db_name[0] != '\0')
		vfs_unregister(st->db_name);
	st->db = NULL;
}
