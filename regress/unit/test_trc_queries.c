/* SPDX-License-Identifier: ISC */
/* links: tracer/session/queries.c tracer/base/op.c tracer/base/params.c inst/op.c inst/waiters.c timeline/store/ common/base/json.c common/base/text.c timeline/query/ */
/* Questions, and what they wait for: time and the link are this test's. */
#include "test_trc_rig.h"

#include <stdbool.h>

#include "base/loop.h"
#include "tracer/session/commands.h"
#include "tracer/engine/clock.h"
#include "tracer/session/session.h"
#include "tracer/record/timeline.h"

#define SECOND 1000000000ULL

/* -- what stands for the rest of a tracer ---------------------------------- */

struct trc_hello session_hello;
static const struct command *const tables[] = { query_commands };

static uint64_t now, settled;
static bool full;
static unsigned int reads;
static struct loop_timer *timer;
static loop_timer_fn timer_fn;
static uint64_t timer_ms;
static char said[4000]; /* answers: "ID:JSON\n" */

uint64_t
clock_ns(void)
{
	return now;
}

uint64_t
loop_now_ms(void)
{
	return now / 1000000;
}

void
loop_timer_set(struct loop_timer *t, uint64_t ms, loop_timer_fn fn, void *arg)
{
	(void)arg;
	timer = t;
	timer_ms = ms;
	timer_fn = fn;
}

void
loop_timer_unset(struct loop_timer *t)
{
	(void)t;
}

bool
link_is_full(void)
{
	return full;
}

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "%u%s:%.*s\n", a->id,
	    failed ? "!" : "", (int)len, json);
}

void
link_does(const struct ask *a, uint32_t action)
{
	(void)a;
	(void)action;
}

struct store *
timeline_store(void)
{
	return st;
}

void
timeline_read(void)
{
	reads++;
	store_settled(st, settled);
}

void
output_drain(void)
{
}

uint64_t
timeline_settled(void)
{
	return settled;
}

uint64_t
timeline_grown(void)
{
	return 0;
}

void
timeline_busy(bool yes)
{
	(void)yes;
}

const char *
timeline_path(void)
{
	return NULL;
}

bool
session_asked(struct op *op)
{
	(void)op;
	return true;
}

const char *
session_state(void)
{
	return "tracing";
}

const char *
session_root(void)
{
	return "/src";
}

pid_t
session_pid(void)
{
	return 4711;
}

uint32_t
probing_shown(void)
{
	return 1;
}

void
probing_patterns(struct text *t)
{
	text_puts(t, "[]");
}

void
probing_functions(struct text *t)
{
	text_puts(t, "[]");
}

void
probing_sampled(struct text *t)
{
	text_puts(t, "[]");
}

/* -- the test -------------------------------------------------------------- */

static int
set_up(void **state)
{
	if (rig_set_up(state) == -1)
		return -1;
	rig_open(true);
	rig_function(1, "work", "/src/work.c");
	(void)rig_call(EVENT_ENTER, 10, 1, START + 10, 0, 1);
	store_output(st, START + 20, EVENT_STDOUT, NULL, "out\n", 4);
	now = START + 100;
	settled = START + 15; /* the output is under way */
	full = false;
	reads = 0;
	timer = NULL;
	said[0] = '\0';
	return 0;
}

static int
tear_down(void **state)
{
	queries_stopping();
	return rig_tear_down(state);
}

static void
ask(uint32_t id, const char *command, const char *args)
{
	const struct ask a = {.conn = 1, .id = id};
	char json[600];
	int n = snprintf(json, sizeof(json), "{\"command\":\"%s\",\"args\":%s}",
	    command, args);

	commands_run(&a, json, (size_t)n);
}

static void
fire(void)
{
	assert_non_null(timer);
	timer = NULL;
	timer_fn(NULL);
}

#define COUNT "{\"statement\":\"SELECT count(*) FROM events\"}"

static void
what_waits_sees_what_was_under_way(void **state)
{
	(void)state;
	ask(1, "query", "{\"eventType\":\"stdout\"}");
	ask(2, "sql", COUNT);
	assert_string_equal(said, "");
	fire();
	assert_string_equal(said, "");
	settled = now;
	fire();
	assert_non_null(strstr(said, "1:{\"events\":[{\"id\":\"0.1\""));
	assert_non_null(strstr(said, "2:{\"columns\":[\"count(*)\"],"
				     "\"rows\":[[2]]"));
	assert_null(timer);
	/* and now nothing is waited for */
	said[0] = '\0';
	ask(3, "query", "{\"limit\":1}");
	ask(4, "sql", COUNT);
	assert_non_null(strstr(said, "3:{\"events\""));
	assert_non_null(strstr(said, "4:{\"columns\""));
}

static void
it_waits_for_a_second_at_most(void **state)
{
	(void)state;
	ask(1, "sql", COUNT);
	now += SECOND - 1;
	fire();
	assert_string_equal(said, "");
	now++;
	fire();
	assert_string_equal(said, "1:{\"columns\":[\"count(*)\"],\"rows\":"
				  "[[1]],\"truncated\":false}\n");
}

static void
what_is_wrong_is_said_at_once(void **state)
{
	(void)state;
	ask(1, "query", "{\"limit\":0}");
	assert_non_null(strstr(said, "1!:{\"code\":\"INVALID_ARGUMENT\""));
	ask(2, "query", "{\"nosuch\":1}");
	assert_non_null(strstr(said, "2!:{\"code\":\"INVALID_ARGUMENT\""));
	ask(3, "sql", "{\"rows\":0,\"statement\":\"SELECT 1\"}");
	assert_non_null(strstr(said, "3!:{\"code\":\"INVALID_ARGUMENT\""));
	ask(4, "sql", "{}");
	assert_non_null(strstr(said, "4!:{\"code\":\"INVALID_ARGUMENT\""));
	assert_null(timer);
}

/* Nothing is looked for that could not be sent, nor so often. */
static void
a_full_link_is_left_alone(void **state)
{
	uint64_t usual;
	unsigned int n;

	(void)state;
	ask(1, "query", "{}");
	usual = timer_ms;
	n = reads;
	settled = now;
	full = true;
	fire();
	assert_string_equal(said, "");
	assert_int_equal(reads, n);
	assert_true(timer_ms >= 10 * usual);
	full = false;
	fire();
	assert_non_null(strstr(said, "1:{\"events\""));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(what_waits_sees_what_was_under_way),
	    TEST(it_waits_for_a_second_at_most),
	    TEST(what_is_wrong_is_said_at_once),
	    TEST(a_full_link_is_left_alone),
	};

	tracer_commands(tables, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
