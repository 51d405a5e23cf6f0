/* SPDX-License-Identifier: ISC */
/* links: timeline/store/ common/base/json.c common/base/text.c timeline/query/ */
/* Queries: what is refused and how, and that every filter filters. */
#include "test_trc_rig.h"

#include <inttypes.h>

static void
refused(const char *json, const char *words)
{
	struct query q;

	if (query_parse_text(json, strlen(json), &q, why) == 0)
		fail_msg("%s was taken", json);
	if (strstr(why, words) == NULL)
		fail_msg("%s: %s", json, why);
}

static void
parameters_are_checked(void **state)
{
	(void)state;
	refused("", "JSON object");
	refused("[]", "JSON object");
	refused("{", "JSON object");
	refused("{}x", "JSON object");
	refused("{\"a\":1}", "has no 'a'; it takes sessionId, eventType");
	refused("{\"a\\u001b[2J\":1}", "has no 'a\\x1b[2J'");
	refused("{\"eventType\":\"function\"}", "function_enter, function_ex");
	refused("{\"eventType\":3}", "eventType of debug_query must be");
	refused("{\"function\":\"f\"}", "function of debug_query must be an");
	refused("{\"function\":{\"like\":\"f\"}}", "it takes equals, contains");
	refused("{\"function\":{\"equals\":1}}", "equals of function must be");
	refused("{\"function\":{\"equals\":\"a\\u0000b\"}}", "a string");
	refused("{\"sourceFile\":{\"matches\":\"f\"}}", "equals, contains");
	refused("{\"returnValue\":{\"isNull\":1}}", "true or false");
	refused("{\"returnValue\":null}", "an object");
	refused("{\"threadId\":-1}", "a thread's number");
	refused("{\"threadId\":4294967296}", "a thread's number");
	refused("{\"limit\":0}", "from 1 to 500");
	refused("{\"limit\":501}", "from 1 to 500");
	refused("{\"limit\":1.5}", "from 1 to 500");
	refused("{\"limit\":\"5\"}", "from 1 to 500");
	refused("{\"offset\":-1}", "from 0 on");
	refused("{\"offset\":1e300}", "from 0 on");
	refused("{\"verbose\":\"yes\"}", "true or false");
	refused("{\"afterEventId\":7}", "\"1.42\"");
	refused("{\"afterEventId\":\"1\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"1.\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"1.0\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"01.1\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"1.1x\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"-1.1\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"99999999999.1\"}", "\"1.42\"");
	refused("{\"afterEventId\":\"1.99999999999999999999\"}", "\"1.42\"");
}

static void
numbers_may_have_a_point(void **state)
{
	struct query q;

	(void)state;
	assert_int_equal(query_parse_text("{\"limit\":20.0}", 14, &q, why), 0);
	assert_int_equal(q.limit, 20);
	query_free(&q);
	assert_int_equal(query_parse_text("{}", 2, &q, why), 0);
	assert_int_equal(q.limit, QUERY_LIMIT);
	query_free(&q);
}

static void
run_refused(const char *json, const char *words)
{
	struct query q;

	assert_int_equal(query_parse_text(json, strlen(json), &q, why), 0);
	text_reset(&answer, SIZE_MAX);
	assert_int_equal(query_run(st, &q, &answer, why), -1);
	if (strstr(why, words) == NULL)
		fail_msg("%s: %s", json, why);
	query_free(&q);
}

static void
a_small_timeline(void)
{
	uint64_t main_id, id;

	rig_open(true);
	rig_function(1, "main", "/src/main.c");
	rig_function(2, "form::validate", "/src/form.cc");
	rig_function(3, "form::submit(int)", "/src/form.cc");
	rig_function(4, "\xc3\xa9t\xc3\xa9::f\"x", "/lib/\xc3\xa9.c");
	main_id = rig_call(EVENT_ENTER, 10, 1, START + 1, 0, 0);
	id = rig_call(EVENT_ENTER, 10, 2, START + 2, main_id, 0);
	rig_call(EVENT_EXIT, 10, 2, START + 3, id, 0);
	store_output(st, START + 4, EVENT_STDOUT, NULL, "out\n", 4);
	store_output(st, START + 5, EVENT_STDERR, NULL, "err\n", 4);
	id = rig_call(EVENT_ENTER, 20, 3, START + 6, 0, 7);
	rig_call(EVENT_EXIT, 20, 3, START + 7, id, 7);
	rig_call(EVENT_ENTER, 20, 4, START + 8, 0, 7);
	store_crash(st, START + 9, 20, "{\"signal\":11}", 13);
}

static void
filters_filter(void **state)
{
	static const struct {
		const char *query, *ids;
	} rows[] = {
		{ "{}", "1.1 1.2 1.3 0.1 0.2 2.1 2.2 2.3 0.3 /9" },
		{ "{\"eventType\":\"function_enter\"}", "1.1 1.2 2.1 2.3 /4" },
		{ "{\"eventType\":\"function_exit\"}", "1.3 2.2 /2" },
		{ "{\"eventType\":\"stdout\"}", "0.1 /1" },
		{ "{\"eventType\":\"stderr\"}", "0.2 /1" },
		{ "{\"eventType\":\"crash\"}", "0.3 /1" },
		{ "{\"function\":{\"equals\":\"main\"}}", "1.1 /1" },
		{ "{\"function\":{\"equals\":\"mai\"}}", "/0" },
		{ "{\"function\":{\"contains\":\"form::\"}}",
		    "1.2 1.3 2.1 2.2 /4" },
		{ "{\"function\":{\"matches\":\"^form.*\\\\)$\"}}",
		    "2.1 2.2 /2" },
		{ "{\"function\":{\"matches\":\"^.t.::\"}}", "2.3 /1" },
		{ "{\"function\":{\"contains\":\"form\",\"matches\":\"val\"}}",
		    "1.2 1.3 /2" },
		{ "{\"function\":{}}",
		    "1.1 1.2 1.3 0.1 0.2 2.1 2.2 2.3 0.3 /9" },
		{ "{\"function\":{\"contains\":\"\"}}",
		    "1.1 1.2 1.3 2.1 2.2 2.3 /6" },
		{ "{\"sourceFile\":{\"equals\":\"/src/form.cc\"}}",
		    "1.2 1.3 2.1 2.2 /4" },
		{ "{\"sourceFile\":{\"contains\":\"lib\"}}", "2.3 /1" },
		{ "{\"sourceFile\":{\"contains\":\"src\"},\"eventType\":"
		    "\"stdout\"}", "/0" },
		{ "{\"returnValue\":{\"equals\":\"0x7\"}}", "2.2 /1" },
		{ "{\"returnValue\":{\"equals\":7}}", "/0" },
		{ "{\"returnValue\":{\"isNull\":true}}", "1.3 /1" },
		{ "{\"returnValue\":{\"isNull\":false}}", "2.2 /1" },
		{ "{\"returnValue\":{\"isNull\":true},\"eventType\":"
		    "\"function_enter\"}", "/0" },
		{ "{\"threadId\":10}", "1.1 1.2 1.3 /3" },
		{ "{\"threadId\":20}", "2.1 2.2 2.3 0.3 /4" },
		{ "{\"threadId\":30}", "/0" },
		{ "{\"threadId\":20,\"function\":{\"contains\":\"form\"}}",
		    "2.1 2.2 /2" },
		{ "{\"threadId\":20,\"eventType\":\"function_exit\"}",
		    "2.2 /1" },
		{ "{\"limit\":2}", "1.1 1.2 /9+" },
		{ "{\"limit\":2,\"offset\":7}", "2.3 0.3 /9" },
		{ "{\"offset\":9}", "/9" },
		{ "{\"offset\":9223372036854775807}", "/9" },
		{ "{\"afterEventId\":\"0.1\"}", "0.2 2.1 2.2 2.3 0.3 /9" },
		{ "{\"afterEventId\":\"1.3\",\"limit\":2}", "0.1 0.2 /9+" },
		{ "{\"afterEventId\":\"1.3\",\"limit\":2,\"offset\":1}",
		    "0.2 2.1 /9+" },
		{ "{\"afterEventId\":\"0.3\"}", "/9" },
		{ "{\"sessionId\":\"x\",\"limit\":1}", "1.1 /9+" },
	};
	size_t i;

	(void)state;
	a_small_timeline();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rig_ids(rows[i].query), rows[i].ids) != 0)
			fail_msg("%s: %s, not %s", rows[i].query,
			    rig_ids(rows[i].query), rows[i].ids);
}

static void
some_are_refused_when_they_run(void **state)
{
	(void)state;
	a_small_timeline();
	run_refused("{\"function\":{\"matches\":\"(\"}}",
	    "function.matches: a ( without its )");
	run_refused("{\"function\":{\"matches\":\"(\"},\"eventType\":"
	    "\"stdout\"}", "function.matches");
	run_refused("{\"afterEventId\":\"0.4\"}", "no event has the id 0.4");
	run_refused("{\"afterEventId\":\"1.4\"}", "no event has the id 1.4");
	run_refused("{\"afterEventId\":\"3.1\"}", "no event has the id 3.1");
}

static void
summaries_and_all(void **state)
{
	(void)state;
	a_small_timeline();
	rig_query("{\"limit\":3,\"offset\":1}");
	assert_string_equal(answer.p, "{\"events\":["
	    "{\"id\":\"1.2\",\"timestamp_ns\":2,\"eventType\":"
	    "\"function_enter\",\"function\":\"form::validate\","
	    "\"sourceFile\":\"/src/form.cc\",\"line\":2,\"duration_ns\":null,"
	    "\"returnType\":\"long\"},"
	    "{\"id\":\"1.3\",\"timestamp_ns\":3,\"eventType\":"
	    "\"function_exit\",\"function\":\"form::validate\","
	    "\"sourceFile\":\"/src/form.cc\",\"line\":2,\"duration_ns\":5,"
	    "\"returnType\":\"long\"},"
	    "{\"id\":\"0.1\",\"timestamp_ns\":4,\"eventType\":\"stdout\","
	    "\"text\":\"out\\n\"}],\"totalCount\":9,\"hasMore\":true}");
	rig_query("{\"threadId\":20,\"verbose\":true,\"eventType\":"
	    "\"function_exit\"}");
	assert_string_equal(answer.p, "{\"events\":["
	    "{\"id\":\"2.2\",\"timestamp_ns\":7,\"eventType\":"
	    "\"function_exit\",\"function\":\"form::submit(int)\","
	    "\"sourceFile\":\"/src/form.cc\",\"line\":3,\"duration_ns\":5,"
	    "\"returnType\":\"long\","
	    "\"functionRaw\":\"form::submit(int)\",\"threadId\":20,"
	    "\"parentEventId\":\"2.1\",\"arguments\":[],"
	    "\"returnValue\":\"0x7\"}],\"totalCount\":1,\"hasMore\":false}");
	rig_query("{\"function\":{\"contains\":\"::f\\\"\"}}");
	assert_non_null(strstr(answer.p,
	    "\"function\":\"\xc3\xa9t\xc3\xa9::f\\\"x\""));
}

/* -- values as they are shown -------------------------------------------- */
static const char *const values[] = { "1", "1.0", "-7", "true", "null",
	"\"0x0\"", "\"a\\u00e9\"", "\"a\\n\"", "{\"a\":1,\"b\":[2]}", "[]",
	"12345678901234567890", "\"1\"" };

static size_t
show(void *arg, uint32_t fn, const void *captures, size_t len, char *buf,
    size_t size)
{
	(void)arg;
	(void)captures;
	(void)len;
	return (size_t)snprintf(buf, size, "%s", values[fn]);
}

static void
values_are_compared_not_texts(void **state)
{
	static const struct store_render render = { .result = show };
	static const struct {
		const char *value, *ids;
	} rows[] = {
		{ "{\"equals\":1}", "1.1 1.2 /2" },
		{ "{\"equals\":1.0}", "1.1 1.2 /2" },
		{ "{\"equals\":\"1\"}", "1.12 /1" },
		{ "{\"equals\":-7}", "1.3 /1" },
		{ "{\"equals\":true}", "1.4 /1" },
		{ "{\"equals\":null}", "1.5 /1" },
		{ "{\"equals\":\"0x0\"}", "1.6 /1" },
		{ "{\"equals\":\"a\xc3\xa9\"}", "1.7 /1" },
		{ "{\"equals\":\"a\\u000a\"}", "1.8 /1" },
		{ "{\"equals\":{\"b\":[2],\"a\":1}}", "1.9 /1" },
		{ "{\"equals\":{\"a\":1}}", "/0" },
		{ "{\"equals\":[]}", "1.10 /1" },
		{ "{\"equals\":12345678901234567890}", "1.11 /1" },
		{ "{\"isNull\":true}", "1.5 1.6 /2" },
		{ "{\"isNull\":true,\"equals\":null}", "1.5 /1" },
		{ "{\"isNull\":false,\"equals\":null}", "/0" },
	};
	char q[100];
	uint32_t i;

	(void)state;
	rig_open(true);
	store_set_render(st, &render);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		rig_call(EVENT_EXIT, 1, i, START + i, 0, 99);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(q, sizeof(q), "{\"returnValue\":%s}", rows[i].value);
		if (strcmp(rig_ids(q), rows[i].ids) != 0)
			fail_msg("%s: %s", q, rig_ids(q));
	}
}

/* -- against looking at each -------------------------------------------- */
#define EVENTS	30000
#define FNS	7

static struct {
	uint64_t id, ts, value;
	uint32_t fn, tid;
	uint8_t	 kind;
} all[EVENTS];
static uint32_t	seed;

static uint32_t
chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static int
by_time(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	/* ts is the second member, the id orders by thread and sequence */
	if (a[1] != b[1])
		return a[1] < b[1] ? -1 : 1;
	return a[0] < b[0] ? -1 : a[0] > b[0];
}

static void
a_large_timeline(void)
{
	uint64_t ts[4] = { START, START, START, START };
	char name[8];
	uint32_t i, t;

	rig_open(true);
	for (i = 0; i < FNS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		rig_function(i, name, i % 2 == 0 ? "even.c" : "odd.c");
	}
	for (i = 0; i < EVENTS; i++) {
		/* one thread is rare, and one late */
		t = chance(100) == 0 ? 3 : chance(3);
		ts[t] += chance(t == 2 && i < 5000 ? 400 : 3);
		all[i].tid = 100 + t;
		all[i].ts = ts[t];
		all[i].fn = chance(50) == 0 ? 6 : chance(FNS - 1);
		all[i].kind = chance(2) ? EVENT_EXIT : EVENT_ENTER;
		/* of some functions more values than there are classes */
		all[i].value = chance(all[i].fn < 2 ? 200 : 3);
		all[i].id = rig_call(all[i].kind, all[i].tid, all[i].fn,
		    ts[t], 0, all[i].value);
	}
	qsort(all, EVENTS, sizeof(all[0]), by_time);
}

struct want {
	int	 fn, tid, kind, value;		/* -1 = any */
};

static bool
wanted(const struct want *w, uint32_t i)
{
	return (w->fn == -1 || all[i].fn == (uint32_t)w->fn) &&
	    (w->tid == -1 || all[i].tid == (uint32_t)w->tid) &&
	    (w->kind == -1 || all[i].kind == w->kind) &&
	    (w->value == -1 || (all[i].kind == EVENT_EXIT &&
	    all[i].value == (uint64_t)w->value));
}

static void
query_text(const struct want *w, char *q, size_t size, uint32_t limit,
    uint32_t offset)
{
	int n = snprintf(q, size, "{\"limit\":%u,\"offset\":%u", limit,
	    offset);

	if (w->fn != -1)
		n += snprintf(q + n, size - (size_t)n,
		    ",\"function\":{\"equals\":\"f%d\"}", w->fn);
	if (w->tid != -1)
		n += snprintf(q + n, size - (size_t)n, ",\"threadId\":%d",
		    w->tid);
	if (w->kind != -1)
		n += snprintf(q + n, size - (size_t)n, ",\"eventType\":\"%s\"",
		    w->kind == EVENT_EXIT ? "function_exit" :
		    "function_enter");
	if (w->value != -1)
		n += snprintf(q + n, size - (size_t)n,
		    ",\"returnValue\":{\"equals\":\"0x%x\"}",
		    (unsigned int)w->value);
	snprintf(q + n, size - (size_t)n, "}");
}

static void
expect(const struct want *w, uint32_t limit, uint32_t offset)
{
	char q[300], ids[QUERY_LIMIT_MAX * 24 + 32];
	uint32_t i, seen = 0, shown = 0;
	size_t n = 0;

	for (i = 0; i < EVENTS; i++) {
		if (!wanted(w, i) || seen++ < offset || shown == limit)
			continue;
		shown++;
		n += (size_t)snprintf(ids + n, sizeof(ids) - n,
		    "%" PRIu64 ".%" PRIu64 " ", all[i].id >> 40,
		    all[i].id & SEQ_MAX);
	}
	snprintf(ids + n, sizeof(ids) - n, "/%u%s", seen,
	    seen > offset + shown ? "+" : "");
	query_text(w, q, sizeof(q), limit, offset);
	if (strcmp(rig_ids(q), ids) != 0)
		fail_msg("%s (seed %u): %s, not %s", q, seed, rig_ids(q), ids);
}

static void
answers_are_those_of_looking_at_each(void **state)
{
	struct want w;
	int i;

	(void)state;
	seed = 7;
	a_large_timeline();
	for (i = 0; i < 300; i++) {
		w = (struct want){ -1, -1, -1, -1 };
		if (chance(2) == 0)
			w.fn = (int)chance(FNS);
		if (chance(3) == 0)
			w.tid = 100 + (int)chance(4);
		if (chance(3) == 0)
			w.kind = chance(2) ? EVENT_EXIT : EVENT_ENTER;
		if (chance(4) == 0)
			w.value = (int)chance(4);
		expect(&w, 1 + chance(40), chance(3) == 0 ? 0 :
		    chance(EVENTS));
	}
}

/* From page to page by the cursor, and each event is shown once. */
static void
cursors_go_through_all(void **state)
{
	char q[100] = "{\"limit\":499}", *s;
	uint32_t i = 0;

	(void)state;
	seed = 11;
	a_large_timeline();
	for (;;) {
		s = (char *)(uintptr_t)rig_query(q);
		for (; (s = strstr(s, "{\"id\":\"")) != NULL; i++) {
			uint64_t ord = strtoul(s + 7, &s, 10);

			assert_true(i < EVENTS);
			assert_int_equal(all[i].id, ord << 40 |
			    strtoul(s + 1, &s, 10));
		}
		if (strstr(answer.p, "\"hasMore\":true") == NULL)
			break;
		snprintf(q, sizeof(q), "{\"limit\":499,\"afterEventId\":\"%"
		    PRIu64 ".%" PRIu64 "\"}", all[i - 1].id >> 40,
		    all[i - 1].id & SEQ_MAX);
	}
	assert_int_equal(i, EVENTS);
}

/* A page of large events ends early and says that more follow. */
static void
pages_are_bounded(void **state)
{
	static char text[STORE_TEXT_MAX];
	int i;

	(void)state;
	st = rig_try(true, STORE_CALLS_LEAST, 100 << 20);
	memset(text, 1, sizeof(text));		/* six bytes each as JSON */
	for (i = 0; i < 100; i++)
		store_output(
		    st, START + 1, EVENT_STDOUT, NULL, text, sizeof(text));
	rig_query("{\"limit\":500}");
	assert_true(answer.len > QUERY_BYTES_MAX / 2 &&
	    answer.len < 2 * QUERY_BYTES_MAX);
	assert_non_null(strstr(answer.p, "\"hasMore\":true"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_set_up, rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_checked),
		cmocka_unit_test(numbers_may_have_a_point),
		TEST(filters_filter), TEST(some_are_refused_when_they_run),
		TEST(summaries_and_all), TEST(values_are_compared_not_texts),
		TEST(answers_are_those_of_looking_at_each),
		TEST(cursors_go_through_all), TEST(pages_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
