/* SPDX-License-Identifier: ISC */
/* links: timeline/store/ common/base/json.c common/base/text.c timeline/query/ timeline/export/ */
/* SQL over a timeline: what it may, what it must not, and exports. */
#include "test_trc_rig.h"

#include <sqlite3.h>
#include <time.h>

#include "timeline/export/export.h"
#include "timeline/query/vtab.h"

static const struct sql_limits usual = { .rows = 0 };
/* for what takes a slow machine longer than a statement may */
static const struct sql_limits patient = { .ms = 120000 };

static void
a_timeline(void)
{
	uint64_t main_id, id;

	rig_open(true);
	rig_function(1, "main", "/src/main.c");
	rig_function(2, "form::validate", "/src/form.cc");
	rig_function(3, "';DROP TABLE events;--", NULL);
	store_thread(st, 10, "worker");
	main_id = rig_call(EVENT_ENTER, 10, 1, START + 1000, 0, 1);
	id = rig_call(EVENT_ENTER, 10, 2, START + 2000, main_id, 2);
	rig_call(EVENT_EXIT, 10, 2, START + 3000, id, 0);
	store_output(st, START + 4000, EVENT_STDOUT, NULL, "ou\x1b[2Jt\n", 8);
	rig_call(EVENT_ENTER, 20, 3, START + 5000, 0, 7);
}

static int
sql(const char *text)
{
	text_reset(&answer, SIZE_MAX);
	return store_sql(st, text, strlen(text), &usual, &answer, why);
}

static void
gives(const char *text, const char *rows)
{
	const char *s;
	char want[300];

	if (sql(text) == -1)
		fail_msg("%s: %s", text, why);
	s = strstr(answer.p, "\"rows\":");
	snprintf(want, sizeof(want), "\"rows\":%s,\"truncated\":false}", rows);
	if (strcmp(s, want) != 0)
		fail_msg("%s: %s", text, answer.p);
}

static void
selects_are_answered(void **state)
{
	(void)state;
	a_timeline();
	gives("SELECT count(*) FROM events", "[[5]]");
	gives("SELECT id FROM events ORDER BY timestamp_ns",
	    "[[\"1.1\"],[\"1.2\"],[\"1.3\"],[\"0.1\"],[\"2.1\"]]");
	gives("SELECT id FROM events ORDER BY timestamp_ns DESC LIMIT 1",
	    "[[\"2.1\"]]");
	gives("SELECT id FROM events WHERE timestamp_ns > 2000 AND "
	    "timestamp_ns <= 4000", "[[\"1.3\"],[\"0.1\"]]");
	gives("SELECT id FROM events WHERE timestamp_ns BETWEEN 1999.5 AND "
	    "2000.5", "[[\"1.2\"]]");
	gives("SELECT id FROM events WHERE timestamp_ns = '3000'",
	    "[[\"1.3\"]]");
	gives("SELECT id FROM events WHERE timestamp_ns < -1", "[]");
	gives("SELECT id FROM events WHERE thread_id = 20", "[[\"2.1\"]]");
	gives("SELECT id FROM events WHERE thread_id = 0", "[[\"0.1\"]]");
	gives("SELECT id FROM events WHERE event_type = 'stdout'",
	    "[[\"0.1\"]]");
	gives("SELECT id FROM events WHERE event_type = 'nope'", "[]");
	gives("SELECT id FROM events WHERE event_type IN ('stdout',"
	    "'function_exit') ORDER BY timestamp_ns",
	    "[[\"1.3\"],[\"0.1\"]]");
	gives("SELECT id FROM events WHERE function_name = 'main'",
	    "[[\"1.1\"]]");
	gives("SELECT id FROM events WHERE function_name = 'MAIN'", "[]");
	gives("SELECT id FROM events WHERE function_name = 'MAIN' COLLATE "
	    "NOCASE", "[[\"1.1\"]]");
	gives("SELECT id FROM events WHERE function_name = ''",
	    "[[\"0.1\"]]");
	gives("SELECT id FROM events WHERE function_name LIKE '%VALID%' AND "
	    "return_value IS NOT NULL", "[[\"1.3\"]]");
	gives("SELECT id FROM events WHERE function_name REGEXP '^f.*te$'",
	    "[[\"1.2\"],[\"1.3\"]]");
	gives("SELECT id FROM events WHERE id = '1.2'", "[[\"1.2\"]]");
	gives("SELECT id FROM events WHERE id = '9.9' OR id = '2.1'",
	    "[[\"2.1\"]]");
	gives("SELECT e.id, p.function_name FROM events e JOIN events p ON "
	    "p.id = e.parent_event_id WHERE e.event_type = 'function_enter'",
	    "[[\"1.2\",\"main\"]]");
	gives("SELECT source_file, line_number FROM events WHERE id='1.1'",
	    "[[\"/src/main.c\",1]]");
	gives("SELECT return_value, duration_ns, arguments FROM events WHERE "
	    "event_type='function_exit'", "[[\"\\\"0x0\\\"\",5,null]]");
	gives("SELECT text FROM events WHERE text IS NOT NULL",
	    "[[\"ou\\u001b[2Jt\\n\"]]");
	gives("SELECT id, pid, ended_at, status FROM sessions",
	    "[[\"prog-2026-11-22-10h00\",4711,null,\"running\"]]");
	gives("SELECT count(*) FROM events e, sessions s WHERE "
	    "e.session_id = s.id", "[[5]]");
	gives("SELECT count(*) FROM events WHERE session_id = "
	    "'prog-2026-11-22-10h00' AND thread_id = 20", "[[1]]");
	gives("SELECT count(*) FROM events WHERE session_id = 'prog'",
	    "[[0]]");
	gives("SELECT count(*) FROM events WHERE session_id = "
	    "'PROG-2026-11-22-10h00' COLLATE NOCASE", "[[5]]");
	gives("WITH RECURSIVE up(id) AS (SELECT '1.3' UNION ALL SELECT "
	    "parent_event_id FROM events, up WHERE events.id = up.id AND "
	    "parent_event_id IS NOT NULL) SELECT count(*) FROM up", "[[3]]");
	gives("SELECT function_name, count(*), sum(duration_ns) FROM events "
	    "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1;  ;",
	    "[[\"form::validate\",2,5]]");
	gives("SELECT id, row_number() OVER (ORDER BY timestamp_ns) FROM "
	    "events LIMIT 1", "[[\"1.1\",1]]");
	gives("SELECT 1e999, -1e999, x'00ff', 'a' || char(0) || 'b'",
	    "[[null,null,\"\\u0000\xef\xbf\xbd\",\"a\\u0000b\"]]");
}

static void
all_else_is_denied(void **state)
{
	static const char *const statements[] = {
		"ATTACH '/tmp/x' AS y", "ATTACH ':memory:' AS y",
		"DETACH main", "PRAGMA writable_schema=1",
		"PRAGMA temp_store_directory='/tmp'", "PRAGMA database_list",
		"SELECT * FROM pragma_database_list",
		"SELECT count(*) FROM pragma_database_list",
		"SELECT * FROM sqlite_master", "SELECT * FROM SQLITE_SCHEMA",
		"SELECT count(*) FROM sqlite_master",
		"SELECT name FROM main.sqlite_schema",
		"SELECT * FROM temp.sqlite_temp_master",
		"CREATE TABLE t(a)", "CREATE TEMP TABLE t AS SELECT 1",
		"CREATE VIEW v AS SELECT 1", "CREATE TEMP VIEW v AS SELECT 1",
		"CREATE VIRTUAL TABLE t USING fts5(a)",
		"CREATE VIRTUAL TABLE t USING events",
		"CREATE TEMP TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; "
		"END", "CREATE INDEX i ON events(id)",
		"INSERT INTO events(id) VALUES('x')", "DELETE FROM events",
		"UPDATE events SET id='x'", "DROP TABLE events",
		"ALTER TABLE events RENAME TO e", "REPLACE INTO sessions(id) "
		"VALUES('x')", "VACUUM", "VACUUM INTO '/tmp/x'", "ANALYZE",
		"REINDEX", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a",
		"EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT 1",
		"SELECT load_extension('/tmp/x.so')",
		"SELECT readfile('/etc/passwd')", "SELECT writefile('a','b')",
		"SELECT fts3_tokenizer('simple')", "SELECT fts5('x')",
		"SELECT sqlite_compileoption_get(0)", "SELECT edit('x')",
		"SELECT randomblob(1000000000)", "SELECT zeroblob(1000000000)",
		"SELECT sqlite_log(1,'x')", "SELECT sqlite_version()",
		"SELECT * FROM json_each('[1]')",
		"SELECT count(*) FROM json_tree('[1]')",
		"SELECT * FROM dbstat", "SELECT * FROM bytecode('SELECT 1')",
		"SELECT * FROM generate_series(1,2)",
		"SELECT * FROM fsdir('/')", "SELECT 1; SELECT 2",
		"SELECT 1; DROP TABLE events", "", ";", "-- nothing",
		"SELECT", "SELECT (", "SELEC 1", "SELECT nope FROM events",
		"SELECT * FROM functions", "SELECT * FROM texts",
		"SELECT * FROM session",
		"WITH x AS (SELECT * FROM sqlite_master) SELECT * FROM x",
		"SELECT (SELECT name FROM sqlite_master)",
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM sqlite_master)",
		"VALUES (load_extension('x'))",
	};
	size_t i;

	(void)state;
	a_timeline();
	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (sql(statements[i]) == 0)
			fail_msg("%s: %s", statements[i], answer.p);
		assert_true(why[0] != '\0');
		assert_int_equal(answer.len, 0);
	}
	gives("SELECT count(*) FROM events", "[[5]]");
	assert_int_equal(store_sql(st, "SELECT 1\0;", 10, &usual, &answer,
	    why), -1);
	assert_non_null(strstr(why, "64 KiB"));
}

static void
denials_say_what(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "SELECT * FROM sqlite_master", "the table sqlite_master is "
		    "not allowed" },
		{ "SELECT zeroblob(9)", "the function zeroblob is not" },
		{ "DROP TABLE events", "allowed" },
		{ "SELECT 1; SELECT 2", "one statement" },
		{ "SELECT nope FROM events", "no such column: nope" },
		{ "SELECT 'a' REGEXP '('", "without its )" },
	};
	size_t i;

	(void)state;
	a_timeline();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sql(rows[i].text), -1);
		if (strstr(why, rows[i].words) == NULL)
			fail_msg("%s: %s", rows[i].text, why);
	}
}

/* Statements that would never end or fill the memory end with an error. */
static void
greed_is_ended(void **state)
{
	static const struct sql_limits brief = { .ms = 300 };
	static const char *const rows[] = {
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
		"SELECT count(*) FROM c",
		"WITH RECURSIVE c(x) AS (SELECT 'aaaaaaaaaaaaaaaa' UNION ALL "
		"SELECT x||x FROM c) SELECT max(length(x)) FROM c",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c "
		"LIMIT 100000) SELECT group_concat(hex(printf('%.100000c',"
		"x))) FROM c",
		"SELECT count(*) FROM events a, events b, events c, events d, "
		"events e, events f, events g, events h, events i, events j, "
		"events k, events l",
		"WITH RECURSIVE c(x) AS (SELECT printf('%.900000c','a') UNION "
		"ALL SELECT x||'' FROM c) SELECT x FROM c ORDER BY x||'b'",
	};
	size_t i;

	(void)state;
	a_timeline();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text_reset(&answer, SIZE_MAX);
		if (store_sql(st, rows[i], strlen(rows[i]), &brief, &answer,
		    why) == 0)
			fail_msg("%s: %.100s", rows[i], answer.p);
		assert_true(strstr(why, "too long") != NULL ||
		    strstr(why, "too much memory") != NULL ||
		    strstr(why, "too big") != NULL);
	}
	/* and the timeline is as it was */
	rig_call(EVENT_ENTER, 10, 1, START + 9000, 0, 1);
	assert_int_equal(store_flush(st), 0);
	gives("SELECT count(*) FROM events", "[[6]]");
}

/* Expects the result that SQLite alone gives. */
static void
as_sqlite_has_it(const char *expr)
{
	char text[300], rows[300];
	sqlite3_stmt *s;
	sqlite3 *db;

	snprintf(text, sizeof(text), "SELECT hex(quote(%s))", expr);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", expr, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	snprintf(rows, sizeof(rows), "[[\"%s\"]]",
	    (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	sqlite3_close(db);
	gives(text, rows);
}

static void
functions_are_as_sqlites(void **state)
{
	static const char *const rows[] = {
		"instr('abcabc','c')", "instr('abc','x')", "instr('','a')",
		"instr('abc','')", "instr('','')", "instr(NULL,'a')",
		"instr('a',NULL)", "instr('\u00e4\u20acb\U0001f600c','c')",
		"instr('\u00e4\u20acb','\u20ac')", "instr(12345,34)",
		"instr(x'e282ac61',x'61')", "instr(x'e282ac61',x'82')",
		"instr(x'e282ac61','a')", "instr('\u20aca',x'61')",
		"instr(CAST(x'e282ac8261' AS TEXT),CAST(x'82' AS TEXT))",
		"instr(CAST(x'82e282ac61' AS TEXT),CAST(x'82' AS TEXT))",
		"instr(CAST(x'8282e261' AS TEXT),'a')",
		"instr(x'',x'61')", "instr(x'61',x'')", "instr(x'',x'')",
		"replace('abcabc','bc','x')", "replace('aaa','aa','b')",
		"replace('aaa','a','')", "replace('abc','x','y')",
		"replace('abc','','y')", "replace(17,'','y')",
		"replace(1711,1,'\u20ac')", "replace('','a','b')",
		"replace(NULL,'a','b')", "replace('a',NULL,'b')",
		"replace('a','a',NULL)", "replace('a','',NULL)",
		"replace(x'616263','b','')", "replace('abc',char(0)||'b','')",
		"trim('xxaxbxx','x')", "ltrim('xyaxy','yx')",
		"rtrim('xyaxy','yx')", "trim('aaa','a')", "trim('abc','')",
		"trim('\u20aca\u20ac','\u20ac')", "trim('  a  ')",
		"trim(CAST(x'82e282ac' AS TEXT),'\u20ac')",
		"rtrim('a\u00e4\u20ac','\u20ac\u00e4')", "trim(NULL,'a')",
		"trim('a',NULL)", "trim(1211,1)", "ltrim(x'6162','a')",
		"'abc' LIKE 'A_C'", "'abc' LIKE '%d%'", "'' LIKE ''",
		"'abc' LIKE NULL", "NULL LIKE 'a'", "'10%' LIKE '10\\%' ESCAPE "
		"'\\'", "'100' LIKE '10\\%' ESCAPE '\\'", "'a' LIKE 'a' ESCAPE "
		"NULL", "'a\u20acb' LIKE 'a_b'", "100 LIKE '1%'",
		"'abc' NOT LIKE 'abc'", "'abc' GLOB 'a*'", "'abc' GLOB 'A*'",
		"'abc' GLOB '[a-b]?c'", "'abc' GLOB NULL", "'a' GLOB '[^a]'",
	};
	size_t i;

	(void)state;
	a_timeline();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		as_sqlite_has_it(rows[i]);
}

/* Ones that would be busy for minutes, in calls that nothing interrupts. */
static void
long_calls_are_ended(void **state)
{
#define LONG	"WITH t(a) AS MATERIALIZED (SELECT printf('%.900000c','a')),"\
	"u(b) AS MATERIALIZED (SELECT printf('%.400000c','a')||'b') SELECT "
#define TEN(s)	s "," s "," s "," s "," s "," s "," s "," s "," s "," s
	static const struct sql_limits brief = { .ms = 300 };
	static const struct {
		const char *text, *words;
		const struct sql_limits *limits;
	} rows[] = {
		{ LONG "length(trim(a,b)) FROM t, u", "at most 64 bytes",
		    &patient },
		{ LONG "length(ltrim(a,b)) FROM t, u", "at most 64 bytes",
		    &patient },
		{ LONG "length(rtrim(a,b)) FROM t, u", "at most 64 bytes",
		    &patient },
		{ LONG "length(trim(a,'a')) FROM t, u", NULL, &patient },
		{ LONG "instr(a,b) FROM t, u", NULL, &patient },
		{ LONG "length(replace(a,b,'')) FROM t, u", NULL, &patient },
		{ LONG "length(replace(a,'a','c')) FROM t, u", NULL, &patient },
		{ LONG "length(replace(a,'a','cd')) FROM t, u", "too big",
		    &patient },
		{ LONG "a LIKE '%a%a%a%ab' FROM t, u", NULL, &patient },
		{ LONG "a LIKE 'b' ESCAPE '%' FROM t, u", "neither % nor _",
		    &patient },
		{ LONG TEN(TEN("(a LIKE '%a_________________________________"
		    "______________________________________________b')"))
		    " FROM t, u", "too long", &brief },
		{ LONG TEN(TEN("(a GLOB '*a?????????????????????????????????"
		    "??????????????????????????????????????????????b')"))
		    " FROM t, u", "too long", &brief },
	};
	struct timespec from, until;
	size_t i;

	(void)state;
	a_timeline();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text_reset(&answer, SIZE_MAX);
		why[0] = '\0';
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		if ((store_sql(st, rows[i].text, strlen(rows[i].text),
		    rows[i].limits, &answer, why) == 0) !=
		    (rows[i].words == NULL) || (rows[i].words != NULL &&
		    strstr(why, rows[i].words) == NULL))
			fail_msg("row %zu: %s %.60s", i, why, answer.p);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &until);
		assert_true(until.tv_sec - from.tv_sec < 60);
	}
#undef LONG
#undef TEN
}

static void
answers_are_bounded(void **state)
{
	static const struct sql_limits two = { .rows = 2 };
	const char *many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT "
	    "x+1 FROM c LIMIT 100000) SELECT printf('%.900000c', 'x') FROM c";

	(void)state;
	a_timeline();
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(store_sql(st, "SELECT id FROM events", 21, &two,
	    &answer, why), 0);
	assert_string_equal(answer.p, "{\"columns\":[\"id\"],\"rows\":"
	    "[[\"1.1\"],[\"1.2\"]],\"truncated\":true}");
	assert_int_equal(sql(many), 0);
	assert_true(answer.len < SQL_BYTES_MAX + 1000);
	assert_non_null(strstr(answer.p, "\"truncated\":true}"));
}

static void
on_tick(void *arg)
{
	unsigned int *ticks = arg;

	++*ticks;
	/* enough that segments would have to go */
	for (int i = 0; i < 500; i++)
		rig_call(EVENT_EXIT, 30 + *ticks % 3, 1, START + 10000, 0, 0);
	store_output(st, START + 10000, EVENT_STDERR, NULL, "late\n", 5);
	store_flush(st);
}

/* Events come in, and would evict others, while a statement runs. */
static void
events_may_come_meanwhile(void **state)
{
	unsigned int ticks = 0;
	const char *text = "SELECT count(*) FROM events a, events b WHERE "
	    "a.thread_id < 30 AND b.thread_id < 30";
	struct store_stats s;
	unsigned int i;

	(void)state;
	st = rig_try(true, STORE_CALLS_LEAST, 1 << 20);
	for (i = 0; i < 10; i++)
		store_output(st, START + i, EVENT_STDOUT, NULL, "x\n", 2);
	for (i = 0; i < 100; i++)
		rig_call(EVENT_ENTER, 10 + i % 10, 1, START + 20 + i, 0, 0);
	text_reset(&answer, SIZE_MAX);
	store_set_tick(st, on_tick, &ticks);
	if (store_sql(st, text, strlen(text), &patient, &answer, why) == -1)
		fail_msg("%s after %u ticks", why, ticks);
	assert_true(ticks > 5);
	/* queries are as patient */
	ticks = 0;
	rig_function(1, "f", "a.c");
	rig_query("{\"function\":{\"equals\":\"f\"},"
	    "\"offset\":3000}");
	if (ticks == 0)
		fail_msg("%s", answer.p);
	store_set_tick(st, NULL, NULL);
	store_flush(st);
	store_stats(st, &s);
	assert_true(s.bytes <= STORE_CALLS_LEAST);
	rig_query("{\"limit\":500}");
}

/* -- exports ------------------------------------------------------------ */
static int
to_text(void *arg, const void *data, size_t len)
{
	text_put(arg, data, len);
	return 0;
}

static int
refuse(void *arg, const void *data, size_t len)
{
	(void)arg;
	(void)data;
	(void)len;
	return -1;
}

static const struct export_to to = { to_text, &answer };

static void
chrome(void **state)
{
	(void)state;
	a_timeline();
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_chrome(st, NULL, &to, why), 0);
	assert_string_equal(answer.p,
	    "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
	    "{\"ph\":\"M\",\"pid\":4711,\"tid\":4711,\"name\":\"process_name\""
	    ",\"args\":{\"name\":\"/bin/prog\"}},\n"
	    "{\"ph\":\"M\",\"pid\":4711,\"tid\":10,\"name\":\"thread_name\","
	    "\"args\":{\"name\":\"worker\"}},\n"
	    "{\"ph\":\"B\",\"pid\":4711,\"tid\":10,\"ts\":1.000,\"name\":"
	    "\"main\",\"cat\":\"/src/main.c\",\"args\":{\"arguments\":"
	    "[\"0x1\"]}},\n"
	    "{\"ph\":\"B\",\"pid\":4711,\"tid\":10,\"ts\":2.000,\"name\":"
	    "\"form::validate\",\"cat\":\"/src/form.cc\",\"args\":"
	    "{\"arguments\":[\"0x2\"]}},\n"
	    "{\"ph\":\"E\",\"pid\":4711,\"tid\":10,\"ts\":3.000,\"args\":"
	    "{\"returnValue\":\"0x0\"}},\n"
	    "{\"ph\":\"i\",\"pid\":4711,\"tid\":4711,\"ts\":4.000,\"name\":"
	    "\"stdout\",\"s\":\"t\",\"args\":{\"text\":\"ou\\u001b[2Jt\\n\"}}"
	    ",\n"
	    "{\"ph\":\"B\",\"pid\":4711,\"tid\":20,\"ts\":5.000,\"name\":"
	    "\"';DROP TABLE events;--\",\"cat\":\"\",\"args\":{\"arguments\":"
	    "[\"0x7\"]}}\n]}\n");
}

/* An exit was lost: its caller's next call ends it. */
static void
missing_ends_are_made(void **state)
{
	uint64_t a;
	const char *s;
	int n = 0;

	(void)state;
	rig_open(true);
	rig_function(1, "f", "a.c");
	a = rig_call(EVENT_ENTER, 10, 1, START + 1, 0, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 2, a, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 3, a, 0);
	rig_call(EVENT_EXIT, 10, 1, START + 4, 999, 0);
	rig_call(EVENT_EXIT, 10, 1, START + 5, a, 0);
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_chrome(st, NULL, &to, why), 0);
	for (s = answer.p; (s = strstr(s, "\"ph\":\"B\"")) != NULL; s++)
		n++;
	for (s = answer.p; (s = strstr(s, "\"ph\":\"E\"")) != NULL; s++)
		n--;
	assert_int_equal(n, 0);
}

/* Deeper than is kept: what is too deep is left out, in pairs. */
static void
depth_is_bounded(void **state)
{
	static uint64_t ids[5001];
	int i, n = 0;
	const char *s;

	(void)state;
	rig_open(true);
	rig_function(1, "f", "a.c");
	for (i = 1; i <= 5000; i++)
		ids[i] = rig_call(EVENT_ENTER, 10, 1, START + (uint64_t)i,
		    ids[i - 1], 0);
	for (; --i > 0;)
		rig_call(EVENT_EXIT, 10, 1, START + 9000, ids[i], 0);
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_chrome(st, NULL, &to, why), 0);
	for (s = answer.p; (s = strstr(s, "\"ph\":\"B\"")) != NULL; s++)
		n++;
	assert_int_equal(n, 4096);
	for (s = answer.p; (s = strstr(s, "\"ph\":\"E\"")) != NULL; s++)
		n--;
	assert_int_equal(n, 0);
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_text(st, NULL, true, &to, why), 0);
	assert_int_equal(export_folded(st, NULL, &to, why), 0);
}

static void
folded(void **state)
{
	uint64_t a, b;

	(void)state;
	rig_open(true);
	rig_function(1, "main", "a.c");
	rig_function(2, "a;b\nc d", "a.c");
	a = rig_call(EVENT_ENTER, 10, 1, START + 1, 0, 0);
	b = rig_call(EVENT_ENTER, 10, 2, START + 2, a, 0);
	rig_call(EVENT_EXIT, 10, 2, START + 7, b, 0);
	b = rig_call(EVENT_ENTER, 10, 2, START + 8, a, 0);
	rig_call(EVENT_EXIT, 10, 2, START + 13, b, 0);
	struct event ev = { .kind = EVENT_EXIT, .tid = 10, .fn = 1,
		.ts_ns = START + 20, .parent = a, .duration = 19,
		.captures = "" };
	store_append(st, &ev, 1, UINT64_MAX);
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_folded(st, NULL, &to, why), 0);
	assert_string_equal(answer.p, "main 9\nmain;a:b\\nc d 10\n");
}

static void
text_and_tree(void **state)
{
	struct query q = QUERY_INIT;

	(void)state;
	a_timeline();
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_text(st, NULL, true, &to, why), 0);
	assert_string_equal(answer.p,
	    "     0.000001000      10 > main(\"0x1\")\n"
	    "     0.000002000      10   > form::validate(\"0x2\")\n"
	    "     0.000003000      10   < form::validate = \"0x0\"  (5 ns)\n"
	    "     0.000004000       0 stdout: ou\\x1b[2Jt\n"
	    "     0.000005000      20 > ';DROP TABLE events;--(\"0x7\")\n");
	q.tid = 20;
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(export_text(st, &q, false, &to, why), 0);
	assert_string_equal(answer.p,
	    "     0.000005000      20 > ';DROP TABLE events;--(\"0x7\")\n");
}

static int
take_and_append(void *arg, const void *data, size_t len)
{
	const char *s = data, *end = s + len;
	unsigned int *lines = arg;
	int i;

	for (; s < end; s++)
		*lines += *s == '\n';
	for (i = 0; i < 5000; i++)
		rig_call(EVENT_ENTER, 10, 1, START + 100000, 0, 0);
	store_output(st, START + 100000, EVENT_STDOUT, NULL, "late\n", 5);
	store_flush(st);
	return 0;
}

/* Events come in, and would evict others, while they are exported. */
static void
exports_end_where_they_began(void **state)
{
	unsigned int lines = 0, i;
	const struct export_to busy = { take_and_append, &lines };

	(void)state;
	st = rig_try(true, STORE_CALLS_LEAST, 1 << 20);
	for (i = 0; i < 10000; i++)
		rig_call(EVENT_ENTER, 10 + i % 3, 1, START + i, 0, 0);
	assert_int_equal(export_text(st, NULL, false, &busy, why), 0);
	assert_int_equal(lines, 10000);
}

static void
who_takes_no_more_ends_it(void **state)
{
	const struct export_to no = { refuse, NULL };

	(void)state;
	a_timeline();
	assert_int_equal(export_chrome(st, NULL, &no, why), -1);
	assert_int_equal(export_text(st, NULL, true, &no, why), -1);
	assert_non_null(strstr(why, "not taken"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_set_up, rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(selects_are_answered), TEST(all_else_is_denied),
		TEST(denials_say_what), TEST(greed_is_ended),
		TEST(functions_are_as_sqlites), TEST(long_calls_are_ended),
		TEST(answers_are_bounded), TEST(events_may_come_meanwhile),
		TEST(chrome), TEST(missing_ends_are_made), TEST(depth_is_bounded),
		TEST(folded),
		TEST(text_and_tree), TEST(exports_end_where_they_began),
		TEST(who_takes_no_more_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
