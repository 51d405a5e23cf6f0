/* SPDX-License-Identifier: ISC */
/* links: tracer/record/feed.c timeline/store/ common/base/json.c common/base/text.c timeline/query/ */
/* From the engine's records to the timeline's events. */
#include "test_trc_rig.h"

#include "tracer/record/feed.h"

static struct feed *feed;

static int
set_up(void **state)
{
	if (rig_set_up(state) == -1)
		return -1;
	rig_open(true);
	rig_function(1, "f", "a.c");
	feed = feed_new(st);
	return feed == NULL ? -1 : 0;
}

static int
tear_down(void **state)
{
	feed_free(feed);
	return rig_tear_down(state);
}

static void
record(uint8_t kind, pid_t tid, uint64_t id, uint64_t parent, uint8_t flags)
{
	static uint64_t ts = START;
	const struct rig_word w = rig_word(5);
	const struct trace_record r = { .ts = ++ts, .id = id,
		.parent = parent, .fn = 1, .tid = tid, .kind = kind,
		.flags = flags, .captures = (const uint8_t *)&w,
		.captures_len = sizeof(w),
		.exit_captures = (const uint8_t *)&w,
		.exit_captures_len = sizeof(w) };

	assert_true(feed_record(feed, &r, UINT64_MAX));
}

/* The parents of all events, in order. */
static const char *
parents(void)
{
	static char all[2000];
	const char *s = rig_query("{\"verbose\":true,\"limit\":500}");
	size_t n = 0;

	all[0] = '\0';
	while ((s = strstr(s, "\"parentEventId\":")) != NULL) {
		s += 16;
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%.*s ",
		    (int)strcspn(s, ","), s);
	}
	return all;
}

static void
ids_are_the_timelines(void **state)
{
	(void)state;
	record(TRACE_ENTER, 10, 7000, 0, 0);
	record(TRACE_ENTER, 10, 7001, 7000, 0);
	record(TRACE_ENTER, 20, 7000, 0, 0);
	record(TRACE_EXIT, 10, 7001, 0, 0);
	record(TRACE_CALL, 10, 7002, 7000, 0);
	record(TRACE_EXIT, 10, 7000, 0, 0);
	record(TRACE_EXIT, 20, 7000, 0, 0);
	assert_string_equal(parents(), "null \"1.1\" null \"1.2\" \"1.1\" "
	    "\"1.4\" \"1.1\" \"2.1\" ");
}

static void
missing_records_do_no_harm(void **state)
{
	(void)state;
	/* the end of 2 is lost, and the beginning of 3 */
	record(TRACE_ENTER, 10, 1, 0, 0);
	record(TRACE_ENTER, 10, 2, 1, 0);
	record(TRACE_EXIT, 10, 3, 0, 0);
	record(TRACE_ENTER, 10, 4, 1, 0);
	/* one that has no end has nothing within */
	record(TRACE_ENTER, 10, 5, 4, TRACE_OPEN);
	record(TRACE_ENTER, 10, 6, 4, 0);
	record(TRACE_ENTER, 10, 8, 777, 0);
	record(TRACE_EXIT, 10, 1, 0, TRACE_UNWOUND);
	assert_string_equal(parents(), "null \"1.1\" null \"1.1\" \"1.4\" "
	    "\"1.4\" null null ");
	assert_non_null(strstr(answer.p, "\"unwound\":true"));
}

static void
events_are_told(void **state)
{
	struct target_event e = { .kind = TARGET_THREAD_NEW, .tid = 10,
		.name = "wor\"ker" };
	struct store_stats s;

	(void)state;
	feed_event(feed, &e);
	record(TRACE_ENTER, 10, 1, 0, 0);
	e.kind = TARGET_CRASH;
	e.signo = SIGSEGV;
	e.addr = 0x10;
	e.nstack = 1;
	e.stack[0] = 0xdead;
	e.pc = 0x401000;
	e.regs[0] = (struct target_reg){ "first", 7 };
	e.regs[1] = (struct target_reg){ "pc", 0x401000 };
	e.nregs = 2;
	e.ts = START + 100000;
	feed_event(feed, &e);
	e.kind = TARGET_LOST;
	e.calls = 5;
	e.torn = 2;
	feed_event(feed, &e);
	e.kind = TARGET_THREAD_GONE;
	feed_event(feed, &e);
	record(TRACE_ENTER, 10, 1, 0, 0);
	store_stats(st, &s);
	assert_int_equal(s.lost, 7);
	assert_string_equal(rig_ids("{\"threadId\":10}"), "1.1 2.1 0.1 /3");
	rig_query("{\"eventType\":\"crash\"}");
	assert_non_null(strstr(answer.p, "\"crash\":{\"signal\":11,"
	    "\"signalName\":\"SIGSEGV\""));
	assert_non_null(strstr(answer.p, "\"address\":\"0x10\",\"threadName\":"
	    "\"wor\\\"ker\""));
	assert_non_null(strstr(answer.p, "\"registers\":{\"first\":\"0x7\","
	    "\"pc\":\"0x401000\"}"));
	assert_non_null(strstr(answer.p, "\"stack\":[\"0xdead\"],"
	    "\"lastEvents\":[{\"eventId\":\"1.1\","));
	assert_non_null(strstr(answer.p, "\"eventType\":\"function_enter\","
	    "\"function\":\"f\"}],\"openCalls\":[\"f\"]}"));
}

/* Deeper than is kept, and threads without end. */
static void
there_are_bounds(void **state)
{
	struct target_event gone = { .kind = TARGET_THREAD_GONE };
	uint64_t i;

	(void)state;
	for (i = 1; i < 5000; i++)
		record(TRACE_ENTER, 10, i, i - 1, 0);
	for (i = 4999; i > 0; i--)
		record(TRACE_EXIT, 10, i, 0, 0);
	for (i = 0; i < 2000; i++) {
		gone.tid = (pid_t)(100 + i);
		record(TRACE_ENTER, gone.tid, 1, 0, 0);
		feed_event(feed, &gone);
	}
	rig_query("{\"limit\":1}");
	assert_non_null(strstr(answer.p, "\"totalCount\":11998"));
	rig_query("{\"offset\":9997,\"limit\":1,\"verbose\":true}");
	assert_non_null(strstr(answer.p, "\"parentEventId\":\"1.1\""));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ids_are_the_timelines), TEST(missing_records_do_no_harm),
		TEST(events_are_told), TEST(there_are_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
