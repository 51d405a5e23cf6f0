/* SPDX-License-Identifier: ISC */
/* links: timeline/store/ common/base/json.c common/base/text.c timeline/query/ */
/* The tracer's store: order, eviction, limits, and what is found again. */
#include <sys/wait.h>

#include "test_trc_rig.h"

#include "timeline/query/query_int.h"

#define LITTLE	STORE_CALLS_LEAST

static void
stats(struct store_stats *s)
{
	store_stats(st, s);
}

static void
threads_are_merged(void **state)
{
	(void)state;
	rig_open(true);
	rig_call(EVENT_ENTER, 10, 1, START + 10, 0, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 30, 0, 0);
	rig_call(EVENT_ENTER, 20, 1, START + 20, 0, 0);
	store_output(st, START + 25, EVENT_STDOUT, NULL, "x", 1);
	rig_call(EVENT_ENTER, 20, 1, START + 30, 0, 0);
	store_crash(st, START + 40, 10, "{}", 2);
	/* of the same time: by thread */
	assert_string_equal(rig_ids("{}"), "1.1 2.1 0.1 1.2 2.2 0.2 /6");
}

static void
times_are_mended(void **state)
{
	(void)state;
	rig_open(true);
	rig_call(EVENT_ENTER, 10, 1, START + 30, 0, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 10, 0, 0);
	rig_call(EVENT_ENTER, 20, 1, 5, 0, 0);
	assert_string_equal(rig_ids("{}"), "2.1 1.1 1.2 /3");
	assert_non_null(strstr(answer.p, "\"id\":\"1.2\",\"timestamp_ns\":30"));
	assert_non_null(strstr(answer.p, "\"id\":\"2.1\",\"timestamp_ns\":0"));
}

/* A clock that a program forged must not push all that follows away. */
static void
the_future_is_cut(void **state)
{
	struct event ev = { .kind = EVENT_ENTER, .tid = 1, .fn = 1,
		.ts_ns = UINT64_MAX - 1, .captures = "" };

	(void)state;
	rig_open(true);
	assert_int_equal(store_append(st, &ev, 1, START + 50), 1);
	ev.ts_ns = START + 60;
	assert_int_equal(store_append(st, &ev, 1, START + 70), 1);
	rig_query("{}");
	assert_non_null(strstr(answer.p, "\"id\":\"1.1\",\"timestamp_ns\":50"));
	assert_non_null(strstr(answer.p, "\"id\":\"1.2\",\"timestamp_ns\":60"));
}

static void
nonsense_is_lost_and_counted(void **state)
{
	static const uint8_t captures[UINT16_MAX];
	struct event bad[] = {
		{ .kind = 0, .tid = 1, .fn = 1, .captures = "" },
		{ .kind = EVENT_STDOUT, .tid = 1, .fn = 1, .captures = "" },
		{ .kind = EVENT_ENTER, .tid = 1, .fn = UINT32_MAX,
		    .captures = "" },
		{ .kind = EVENT_ENTER, .tid = 1, .fn = 1, .captures = captures,
		    .len = UINT16_MAX },
	};
	struct store_stats s;

	(void)state;
	rig_open(true);
	assert_int_equal(store_append(st, bad, 4, UINT64_MAX), 1);
	assert_int_equal(bad[0].id, 0);
	assert_int_equal(bad[3].id, (UINT64_C(1) << 40) + 4);
	stats(&s);
	assert_int_equal(s.lost, 3);
	assert_int_equal(s.calls, 1);
	store_thread(st, 7, "w");
	store_lost(st, 7, 10);
	stats(&s);
	assert_int_equal(s.lost, 13);
	query_losses(st, &answer);
	assert_string_equal(answer.p, "[{\"threadId\":1,\"lost\":3},"
	    "{\"threadId\":7,\"lost\":10,\"threadName\":\"w\"}]");
}

static void
parents_are_of_the_same_thread(void **state)
{
	uint64_t a, next;

	(void)state;
	rig_open(true);
	next = store_next_id(st, 10);
	a = rig_call(EVENT_ENTER, 10, 1, START + 1, 0, 0);
	assert_int_equal(a, next);
	rig_call(EVENT_ENTER, 10, 1, START + 2, a, 0);
	rig_call(EVENT_ENTER, 20, 1, START + 3, a, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 4, a + 100, 0);
	rig_query("{\"verbose\":true}");
	assert_non_null(strstr(answer.p, "\"parentEventId\":\"1.1\""));
	assert_null(strstr(answer.p, "\"parentEventId\":\"1.101\""));
	assert_null(strstr(strstr(answer.p, "\"id\":\"2.1\""),
	    "\"parentEventId\":\"1.1\""));
}

static void
a_number_may_be_another_thread(void **state)
{
	(void)state;
	rig_open(true);
	store_thread(st, 10, "a name that is too long for it");
	rig_call(EVENT_ENTER, 10, 1, START + 50, 0, 0);
	store_thread_gone(st, 10);
	store_thread_gone(st, 11);
	rig_call(EVENT_ENTER, 10, 1, START + 20, 0, 0);
	assert_string_equal(rig_ids("{\"threadId\":10}"), "2.1 1.1 /2");
	rig_query("{\"verbose\":true}");
	assert_non_null(strstr(answer.p, "\"threadName\":\"a name that is \""));
}

static void
fill(uint32_t tid, unsigned int n, uint64_t ts)
{
	for (; n > 0; n--)
		rig_call(EVENT_EXIT, tid, n % 3, ts++, 0, n % 4);
}

static void
oldest_calls_go_first(void **state)
{
	struct store_stats s;

	(void)state;
	st = rig_try(true, LITTLE, 1 << 20);
	store_output(st, START + 1, EVENT_STDOUT, NULL, "first\n", 6);
	store_crash(st, START + 2, 1, "{\"signal\":11}", 13);
	fill(10, 40000, START + 10);
	store_flush(st);
	stats(&s);
	assert_true(s.evicted > 0 && s.bytes <= LITTLE);
	assert_int_equal(s.calls + s.evicted, 40000);
	assert_int_equal(s.texts, 2);
	assert_int_equal(s.collected, 40002);
	/* what is counted is what is there */
	rig_query("{\"limit\":3}");
	assert_int_equal(strtoul(strstr(answer.p, "totalCount\":") + 12, NULL,
	    10), s.calls + 2);
	assert_non_null(strstr(answer.p, "first"));
	assert_non_null(strstr(answer.p, "\"signal\":11"));
	/* the newest is the last */
	rig_query("{\"offset\":10000,\"limit\":500}");
	assert_null(strstr(answer.p, "\"id\":\"1.1\""));
}

/* A quiet thread's calls are older than a loud one's, and go before. */
static void
age_goes_over_threads(void **state)
{
	struct store_stats s;

	(void)state;
	st = rig_try(true, LITTLE, 1 << 20);
	fill(10, 10, START + 10);
	fill(20, 40000, START + 1000);
	store_flush(st);
	assert_string_equal(rig_ids("{\"threadId\":10}"), "/0");
	/* it is still there, and what it does next is newer */
	fill(10, 1, START + 100000);
	assert_string_equal(rig_ids("{\"threadId\":10}"), "1.11 /1");
	stats(&s);
	assert_int_equal(s.threads, 2);
}

static void
evicted_is_uncounted_by_value(void **state)
{
	struct store_stats s;
	unsigned long n, i, sum = 0;
	char q[80];

	(void)state;
	st = rig_try(true, LITTLE, 1 << 20);
	rig_function(0, "f0", "a.c");
	rig_function(1, "f1", "a.c");
	rig_function(2, "f2", "a.c");
	fill(10, 40000, START + 10);
	store_flush(st);
	stats(&s);
	for (i = 0; i < 3; i++) {
		snprintf(q, sizeof(q), "{\"function\":{\"equals\":\"f%lu\"},"
		    "\"limit\":1}", i);
		rig_query(q);
		n = strtoul(strstr(answer.p, "totalCount\":") + 12, NULL, 10);
		assert_true(n > 0 && n < 40000 / 3);
		sum += n;
	}
	assert_int_equal(sum, s.calls);
	for (i = sum = 0; i < 4; i++) {
		snprintf(q, sizeof(q), "{\"returnValue\":{\"equals\":\"0x%lx\"},"
		    "\"limit\":1}", i);
		rig_query(q);
		sum += strtoul(strstr(answer.p, "totalCount\":") + 12, NULL,
		    10);
	}
	assert_int_equal(sum, s.calls);
}

static void
a_lower_limit_holds_at_once(void **state)
{
	struct store_stats s;

	(void)state;
	st = rig_try(true, 8 * LITTLE, 1 << 20);
	fill(10, 60000, START);
	store_flush(st);
	stats(&s);
	assert_int_equal(s.evicted, 0);
	store_limit(st, 0);
	store_flush(st);
	stats(&s);
	assert_true(s.evicted > 0 && s.bytes <= LITTLE);
}

/* Size of the calls on disk, without the file system's list of extents. */
static uint64_t
on_disk(void)
{
	struct stat sb;
	uint64_t size;

	assert_int_equal(fstatat(rig_dir_fd, "t.calls", &sb, 0), 0);
	size = (uint64_t)sb.st_blocks * 512;
	return size < 32768 ? 0 : size - 32768;
}

/* New calls reuse the disk space of evicted ones, which still counts. */
static void
room_is_used_again(void **state)
{
	struct store_stats s;
	uint64_t after[3];
	struct stat sb;
	int i;

	(void)state;
	st = rig_try(true, 4 * LITTLE, 1 << 20);
	for (i = 0; i < 3; i++) {
		fill(10 + (uint32_t)i, 200000, START + 200000U * (uint64_t)i);
		store_flush(st);
		stats(&s);
		after[i] = on_disk();
		assert_true(after[i] <= s.bytes && s.bytes <= 4 * LITTLE);
	}
	assert_true(s.evicted > 400000);
	/* a segment that is not full has as much as the one before it */
	assert_in_range(after[2], after[1] - SEG_SIZE, after[1] + SEG_SIZE);
	assert_int_equal(fstatat(rig_dir_fd, "t.calls", &sb, 0), 0);
	/* sparse, as short records fill their segments in number, not bytes */
	assert_true((uint64_t)sb.st_size <= 10 * LITTLE);
	store_limit(st, 0);
	store_flush(st);
	stats(&s);
	assert_true(on_disk() <= s.bytes && s.bytes <= LITTLE);
}

/* Nothing that has gone comes back, and a kept one has no room for it. */
static void
what_has_gone_is_not_found_again(void **state)
{
	struct store_stats before, s;
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	if ((pid = fork()) == 0) {
		/* ends as if it were killed */
		st = rig_try(true, 16 * LITTLE, 1 << 20);
		fill(10, 600000, START + 10);
		store_flush(st);
		stats(&s);
		_exit(write(fds[1], &s, sizeof(s)) != sizeof(s));
	}
	assert_int_equal(read(fds[0], &before, sizeof(before)),
	    sizeof(before));
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	st = rig_try(false, 16 * LITTLE, 1 << 20);
	assert_non_null(st);
	stats(&s);
	assert_int_equal(s.calls, before.calls);
	assert_true(on_disk() < before.bytes && on_disk() <= s.bytes);
	rig_query("{\"limit\":1}");
	assert_null(strstr(answer.p, "\"id\":\"1.1\""));
	/* and it goes on in what is free */
	fill(20, 600000, START + 700010);
	store_flush(st);
	stats(&s);
	assert_int_equal(s.calls + s.evicted, before.calls + 600000);
	assert_true(s.bytes <= 16 * LITTLE && on_disk() <= s.bytes);
	store_close(st, true);
	st = rig_try(false, 16 * LITTLE, 1 << 20);
	assert_non_null(st);
	stats(&before);
	assert_int_equal(before.calls, s.calls);
	assert_true(on_disk() <= before.bytes);
}

static void
output_is_limited(void **state)
{
	struct store_stats s;
	char line[1000];
	int i;

	(void)state;
	st = rig_try(true, LITTLE, 10000);
	memset(line, 'x', sizeof(line));
	for (i = 0; i < 20; i++)
		store_output(st, START, EVENT_STDERR, NULL, line, sizeof(line));
	stats(&s);
	assert_int_equal(s.texts, 9);
	assert_int_equal(s.lost_bytes, 11000);
	store_crash(st, START, 0, "{}", 2);
	stats(&s);
	assert_int_equal(s.texts, 10);
	/* half a character, and its rest is among what was overwritten */
	store_output(st, START, EVENT_STDOUT, NULL, "\xe2\x82", 2);
	store_output_lost(st, 500);
	stats(&s);
	assert_int_equal(s.lost_bytes, 11500);
	assert_int_equal(s.texts, 11);
}

static void
characters_are_not_cut(void **state)
{
	(void)state;
	rig_open(true);
	store_output(st, START, EVENT_STDOUT, NULL, "a\xe2\x82", 3);
	store_output(st, START + 1, EVENT_STDERR, NULL, "b\xc3", 2);
	store_output(st, START + 2, EVENT_STDOUT, NULL, "\xac!", 2);
	rig_query("{}");
	assert_non_null(strstr(answer.p, "\"text\":\"a\""));
	assert_non_null(strstr(answer.p, "\"text\":\"\xe2\x82\xac!\""));
	assert_non_null(strstr(answer.p, "\"text\":\"b\""));
}

static void
long_output_is_parted(void **state)
{
	size_t len = 3 * STORE_TEXT_MAX;
	char *s = malloc(len);
	struct store_stats stat;

	(void)state;
	rig_open(true);
	memset(s, 'y', len);
	/* a character over the end of the first part */
	memcpy(s + STORE_TEXT_MAX - 1, "\xc3\xa9", 2);
	store_output(st, START, EVENT_STDOUT, NULL, s, len);
	stats(&stat);
	assert_int_equal(stat.texts, 4);
	rig_query("{}");
	assert_null(strstr(answer.p, "\xef\xbf\xbd"));
	free(s);
}

static void
crashes_are_json_or_a_string(void **state)
{
	(void)state;
	rig_open(true);
	store_crash(st, START, 1, "{\"a\":1}", 7);
	store_crash(st, START, 1, "{\"a\":1}}", 8);
	store_crash(st, START, 1, "\"},{\"", 5);
	store_crash(st, START, 1, "[1]", 3);
	store_crash(st, START, 1, "{\"a\":\"\xff\"}", 9);
	rig_query("{}");
	assert_non_null(strstr(answer.p, "\"crash\":{\"a\":1}}"));
	assert_non_null(strstr(answer.p, "{\"said\":\"{\\\"a\\\":1}}\"}"));
	assert_non_null(strstr(answer.p, "{\"said\":\"\\\"},{\\\"\"}"));
	assert_non_null(strstr(answer.p, "{\"said\":\"[1]\"}"));
	assert_non_null(strstr(answer.p, "\xef\xbf\xbd"));
}

static void
json_is_strict(void **state)
{
	static const char *const good[] = { "{}", "{ }", "{\"a\":[1,-0.5e+9,"
	    "true,false,null,\"\\u00e9\\n\",{}]}", "{\"a\" : 1 , \"b\":[ ]}",
	    "{\"\xc3\xa9\":\"\x7f\"}" };
	static const char *const bad[] = { "", "[]", "1", "{", "{}}", "{}x",
	    "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}",
	    "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":01}", "{\"a\":1.}",
	    "{\"a\":.5}", "{\"a\":+1}", "{\"a\":1e}", "{\"a\":\"\n\"}",
	    "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\xff\"}",
	    "{\"a\":[1 2]}", "{\"a\":[1,]}", "{\"a\":tru}", "{\n}",
	    "{\"a\":\"", "{\"a\":\"\\", "{/**/}", "{\"a\":[[[[[[[[[[[[[[[[[["
	    "1]]]]]]]]]]]]]]]]]]}" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(json_is_object(good[i], strlen(good[i])));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (json_is_object(bad[i], strlen(bad[i])))
			fail_msg("%s", bad[i]);
}

static void
it_is_found_again(void **state)
{
	struct store_stats before, after;
	char ids[4096];

	(void)state;
	rig_open(true);
	rig_function(0, "zero", "/src/a.c");
	rig_function(1, "one", "/src/a.c");
	rig_function(1, "uno", "/src/b.c");
	store_thread(st, 10, "worker");
	fill(10, 9000, START);
	fill(20, 9000, START + 5);
	store_output(st, START + 100, EVENT_STDERR,
	    &(struct store_writer){10, 0, ""}, "said\n", 5);
	store_set_status(st, "exited", 1700000009);
	store_set_pid(st, 4712);
	store_flush(st);
	stats(&before);
	snprintf(ids, sizeof(ids), "%s", rig_ids("{\"limit\":100,\"offset\":"
	    "7000,\"function\":{\"matches\":\"^(uno|zero)$\"}}"));
	store_close(st, true);
	rig_open(false);
	stats(&after);
	assert_int_equal(after.calls, before.calls);
	assert_int_equal(after.texts, before.texts);
	assert_int_equal(after.collected, before.collected);
	assert_int_equal(after.functions, 2);
	assert_string_equal(ids, rig_ids("{\"limit\":100,\"offset\":"
	    "7000,\"function\":{\"matches\":\"^(uno|zero)$\"}}"));
	assert_non_null(strstr(rig_ids("{\"returnValue\":{\"equals\":"
	    "\"0x3\"},\"limit\":1}"), " /4500+"));
}

/* Numbers have gaps: not all that are chosen are hooked and named. */
static void
numbers_end_behind_the_last(void **state)
{
	(void)state;
	rig_open(true);
	assert_int_equal(store_functions_end(st), 0);
	rig_function(3, "three", "/src/a.c");
	assert_int_equal(store_functions_end(st), 4);
	rig_function(90, "ninety", "/src/a.c");
	rig_function(7, "seven", "/src/a.c");
	assert_int_equal(store_functions_end(st), 91);
	/* one without a name */
	rig_call(EVENT_ENTER, 10, 300, START + 10, 0, 0);
	store_flush(st);
	assert_int_equal(store_functions_end(st), 301);
	store_close(st, true);
	rig_open(false);
	assert_int_equal(store_functions_end(st), 301);
}

/* A timeline that is reopened gives later calls their own ids and threads. */
static void
it_can_go_on(void **state)
{
	(void)state;
	rig_open(true);
	rig_call(EVENT_ENTER, 10, 1, START + 1, 0, 0);
	store_output(st, START + 2, EVENT_STDOUT, NULL, "x", 1);
	store_close(st, true);
	rig_open(false);
	rig_call(EVENT_ENTER, 10, 1, START + 3, 0, 0);
	store_output(st, START + 4, EVENT_STDOUT, NULL, "y", 1);
	assert_string_equal(rig_ids("{}"), "1.1 0.1 2.1 0.2 /4");
}

static void
a_file_that_was_changed_ends_early(void **state)
{
	struct store_stats s;
	int fd;

	(void)state;
	rig_open(true);
	fill(10, 9000, START);
	store_close(st, true);
	st = NULL;
	fd = openat(rig_dir_fd, "t.calls", O_RDWR | O_CLOEXEC);
	/* behind 160 records of 24 and 32 bytes in the second segment; the third
	 * is cut off */
	assert_int_equal(pwrite(fd, "!", 1, SEG_SIZE + SEG_HEAD + 4800), 1);
	assert_int_equal(ftruncate(fd, 2 * SEG_SIZE + SEG_HEAD + 4800), 0);
	close(fd);
	rig_open(false);
	stats(&s);
	assert_int_equal(s.calls, SEG_RECORDS + 160 + 160);
	rig_query("{\"offset\":3500,\"limit\":500}");
}

/* Calls in which nothing else was, some of them flushed in their middle. */
static void
short_calls_are_whole(void **state)
{
	struct store_stats s;
	char ids[8000];
	uint64_t id, ts = START;
	unsigned int i, round;

	(void)state;
	rig_open(true);
	rig_function(1, "uno", "/src/a.c");
	rig_function(2, "due", "/src/a.c");
	id = rig_call(EVENT_ENTER, 10, 1, ts++, 0, 0);
	for (i = 0; i < 9000; i++) {
		uint64_t call = rig_call(EVENT_ENTER, 10, 2, ts, id, i);

		if (i % 500 == 7)
			store_flush(st);
		ts += 5;
		rig_call(EVENT_EXIT, 10, 2, ts, call, i % 50);
	}
	rig_call(EVENT_EXIT, 10, 1, ts, id, 0);
	stats(&s);
	assert_int_equal(s.calls, 18002);
	for (round = 0; round < 2; round++) {
		assert_string_equal(rig_ids("{\"limit\":3}"),
		    "1.1 1.2 1.3 /18002+");
		assert_string_equal(rig_ids("{\"limit\":3,\"offset\":16}"),
		    "1.17 1.18 1.19 /18002+");
		assert_string_equal(rig_ids("{\"limit\":2,\"offset\":17999,"
		    "\"eventType\":\"function_exit\"}"), "/9001");
		/* one half of a record */
		assert_string_equal(rig_ids("{\"afterEventId\":\"1.12000\","
		    "\"limit\":2}"), "1.12001 1.12002 /18002+");
		assert_string_equal(rig_ids("{\"returnValue\":{\"equals\":"
		    "\"0x31\"},\"limit\":2}"), "1.101 1.201 /180+");
		assert_string_equal(rig_ids("{\"returnValue\":{\"equals\":"
		    "\"0x2\"},\"limit\":2,\"offset\":178}"),
		    "1.17807 1.17907 /180");
		rig_query("{\"verbose\":true,\"offset\":16,\"limit\":2}");
		snprintf(ids, sizeof(ids), "%s", answer.p);
		assert_non_null(strstr(ids, "\"parentEventId\":\"1.16\""));
		assert_non_null(strstr(ids, "\"parentEventId\":\"1.1\""));
		assert_non_null(strstr(ids, "\"duration_ns\":5"));
		if (round > 0)
			break;
		store_close(st, true);
		rig_open(false);
		assert_int_equal(store_calls(st, 2), 9000);
	}
}

/* Both events at once, as they would be one after the other. */
static void
calls_at_once(void **state)
{
	const struct rig_word in = rig_word(1), out = rig_word(7);
	const struct {
		uint64_t ts, duration, now, enter, exit;
	} rows[] = {
		{ START + 10, 5, UINT64_MAX, 10, 15 },
		/* back in time, into the future, and for long */
		{ START + 1, 5, UINT64_MAX, 15, 15 },
		{ START + 20, 50, START + 30, 20, 30 },
		{ START + 40, (uint64_t)1 << 33, UINT64_MAX, 40,
		    40 + ((uint64_t)1 << 33) },
	};
	struct event ev = { .kind = EVENT_CALL, .tid = 10, .fn = 1,
		.captures = &in, .len = sizeof(in), .exit_captures = &out,
		.exit_len = sizeof(out), .flags = EVENT_SAMPLED };
	struct store_stats s;
	char want[200];
	size_t i;

	(void)state;
	rig_open(true);
	for (i = 0; i < 4; i++) {
		ev.ts_ns = rows[i].ts;
		ev.duration = rows[i].duration;
		assert_int_equal(store_append(st, &ev, 1, rows[i].now), 2);
		assert_int_equal(ev.id, (uint64_t)1 << 40 | (2 * i + 1));
		snprintf(want, sizeof(want), "{\"offset\":%zu,\"limit\":2,"
		    "\"verbose\":true}", 2 * i);
		rig_query(want);
		snprintf(want, sizeof(want), "\"timestamp_ns\":%llu",
		    (unsigned long long)rows[i].enter);
		assert_non_null(strstr(answer.p, want));
		snprintf(want, sizeof(want), "\"timestamp_ns\":%llu",
		    (unsigned long long)rows[i].exit);
		assert_non_null(strstr(answer.p, want));
		snprintf(want, sizeof(want), "\"duration_ns\":%llu",
		    (unsigned long long)rows[i].duration);
		assert_non_null(strstr(answer.p, want));
		snprintf(want, sizeof(want), "\"parentEventId\":\"1.%zu\"",
		    2 * i + 1);
		assert_non_null(strstr(answer.p, want));
	}
	assert_string_equal(rig_ids("{\"returnValue\":{\"equals\":\"0x7\"}}"),
	    "1.2 1.4 1.6 1.8 /4");
	ev.fn = FN_MAX;
	assert_int_equal(store_append(st, &ev, 1, UINT64_MAX), 0);
	stats(&s);
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.collected, 8);
	assert_int_equal(store_calls(st, 1), 4);
}

/* While a cursor is open, records stay as they are: none are joined. */
static void
a_look_meanwhile(void **state)
{
	struct place from = { 0, 0, 0 };
	struct filter f;
	struct cursor *c;
	struct seen ev;
	uint64_t id;

	(void)state;
	rig_open(true);
	id = rig_call(EVENT_ENTER, 10, 1, START, 0, 0);
	assert_int_equal(filter_make(st, NULL, &f, why), 0);
	c = cursor_open(&f, &from, UINT64_MAX);
	assert_int_equal(cursor_next(c, &ev), 1);
	rig_call(EVENT_EXIT, 10, 1, START + 5, id, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 6, 0, 0);
	assert_int_equal(cursor_next(c, &ev), 1);
	assert_int_equal(ev.kind, EVENT_EXIT);
	assert_int_equal(ev.parent, id);
	assert_int_equal(cursor_next(c, &ev), 1);
	assert_int_equal(ev.kind, EVENT_ENTER);
	assert_int_equal(cursor_next(c, &ev), 0);
	cursor_close(c);
	filter_free(&f);
	assert_string_equal(rig_ids("{}"), "1.1 1.2 1.3 /3");
}

/* A segment's times and numbers have an end before those of a timeline. */
static void
far_apart(void **state)
{
	uint64_t ts[] = { START, START + 1, START + ((uint64_t)1 << 48),
	    START + ((uint64_t)3 << 48) };
	uint64_t id = 0, i;
	char want[64];

	(void)state;
	rig_open(true);
	for (i = 0; i < 4; i++)
		id = rig_call(i % 2 ? EVENT_EXIT : EVENT_ENTER, 10, 1, ts[i],
		    id, 0);
	assert_string_equal(rig_ids("{}"), "1.1 1.2 1.3 1.4 /4");
	rig_query("{\"verbose\":true,\"offset\":3,\"limit\":1}");
	snprintf(want, sizeof(want), "\"timestamp_ns\":%llu",
	    (unsigned long long)3 << 48);
	assert_non_null(strstr(answer.p, want));
	assert_non_null(strstr(answer.p, "\"parentEventId\":\"1.3\""));
}

static void
other_forms_are_refused(void **state)
{
	int fd;

	(void)state;
	rig_open(true);
	store_close(st, true);
	st = NULL;
	/* user_version, big endian, in the head of SQLite's format */
	fd = openat(rig_dir_fd, "t.db", O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "\0\0\0\1", 4, 60), 4);
	close(fd);
	assert_null(rig_try(false, LITTLE, LITTLE));
	assert_non_null(strstr(why, "form 1"));
}

static void
only_timelines_are_opened(void **state)
{
	(void)state;
	assert_null(rig_try(false, LITTLE, LITTLE));
	assert_non_null(strstr(why, "no timeline"));
	rig_open(true);
	assert_null(rig_try(false, LITTLE, LITTLE));
	assert_string_equal(why, "this timeline is in use");
	store_flush(st);
	store_close(st, true);
	st = NULL;
	assert_null(rig_try(true, LITTLE, LITTLE));
	assert_non_null(strstr(why, "is not an empty file"));
}

static void
what_is_not_kept_is_gone(void **state)
{
	struct stat sb;

	(void)state;
	rig_open(true);
	fill(10, 5000, START);
	store_output(st, START, EVENT_STDOUT, NULL, "secret", 6);
	store_flush(st);
	store_close(st, false);
	st = NULL;
	assert_int_equal(fstatat(rig_dir_fd, "t.calls", &sb, 0), 0);
	assert_int_equal(sb.st_size, 0);
	assert_int_equal(fstatat(rig_dir_fd, "t.db", &sb, 0), 0);
	assert_int_equal(sb.st_size, 0);
	assert_int_equal(fstatat(rig_dir_fd, "t.db-wal", &sb, 0), 0);
	assert_int_equal(sb.st_size, 0);
}

/* More threads than there are buffers, each with a little. */
static void
many_threads(void **state)
{
	struct store_stats s;
	uint32_t i, k;

	(void)state;
	rig_open(true);
	for (k = 0; k < 3; k++)
		for (i = 0; i < 500; i++)
			rig_call(EVENT_ENTER, 1000 + i, 1, START + 500 * k + i,
			    0, 0);
	stats(&s);
	assert_int_equal(s.calls, 1500);
	assert_string_equal(rig_ids("{\"limit\":2,\"offset\":499}"),
	    "500.1 1.2 /1500+");
	assert_string_equal(rig_ids("{\"threadId\":1250}"),
	    "251.1 251.2 251.3 /3");
}

static void
large_captures_are_kept(void **state)
{
	static uint8_t captures[SEG_CAPTURES];
	struct event ev = { .kind = EVENT_ENTER, .tid = 1, .fn = 1,
		.captures = captures, .len = SEG_CAPTURES };
	uint16_t len = SEG_CAPTURES - 4;
	int i;

	(void)state;
	rig_open(true);
	memcpy(captures + 2, &len, 2);
	memset(captures + 4, 0xab, len);
	for (i = 0; i < 100; i++) {
		ev.ts_ns = START + (uint64_t)i;
		assert_int_equal(store_append(st, &ev, 1, UINT64_MAX), 1);
	}
	rig_query("{\"verbose\":true,\"limit\":100}");
	assert_non_null(strstr(answer.p, "\"id\":\"1.100\""));
	assert_non_null(strstr(answer.p, "0xababab"));
}

/* Unsettled events are neither shown nor counted: others would be missed. */
static void
unsettled_is_not_shown(void **state)
{
	(void)state;
	rig_open(true);
	rig_call(EVENT_ENTER, 10, 1, START + 10, 0, 0);
	rig_call(EVENT_ENTER, 10, 1, START + 30, 0, 0);
	store_settled(st, START + 20);
	assert_string_equal(rig_ids("{}"), "1.1 /1");
	rig_function(1, "work", "/src/work.c");
	store_output(st, START + 35, EVENT_STDOUT, NULL, "later\n", 6);
	rig_call(EVENT_EXIT, 10, 1, START + 36, 0, 7);
	assert_string_equal(rig_ids("{}"), "1.1 /1");
	assert_string_equal(rig_ids("{\"threadId\":10}"), "1.1 /1");
	assert_string_equal(rig_ids("{\"threadId\":20}"), "/0");
	assert_string_equal(rig_ids("{\"eventType\":\"stdout\"}"), "/0");
	assert_string_equal(
	    rig_ids("{\"function\":{\"equals\":\"work\"}}"), "1.1 /1");
	assert_string_equal(rig_ids("{\"returnValue\":{\"equals\":7}}"), "/0");
	rig_call(EVENT_ENTER, 20, 1, START + 15, 0, 0);
	store_settled(st, START + 40);
	assert_string_equal(
	    rig_ids("{\"afterEventId\":\"1.1\"}"), "2.1 1.2 0.1 1.3 /5");
}

/* How values are shown stays with a function that is named anew. */
static void
shapes_are_kept(void **state)
{
	struct store_function f = { .fn = 3, .name = "f", .shape = "shape",
		.shape_len = 5 };
	void *bytes;
	size_t len;

	(void)state;
	rig_open(true);
	assert_int_equal(store_function(st, &f), 0);
	f.shape = NULL;
	f.name = "g";
	assert_int_equal(store_function(st, &f), 0);
	f.fn = 4;
	assert_int_equal(store_function(st, &f), 0);
	store_close(st, true);
	rig_open(false);
	bytes = store_shape(st, 3, &len);
	assert_non_null(bytes);
	assert_int_equal(len, 5);
	assert_memory_equal(bytes, "shape", 5);
	free(bytes);
	assert_null(store_shape(st, 4, &len));
	assert_null(store_shape(st, 5, &len));
}

static struct store *
open_to_read(void)
{
	const struct store_limits limits = STORE_LIMITS_DEFAULT;
	struct store_files files;

	assert_int_equal(store_files_to_read(rig_dir_fd, "t", &files), 0);
	return store_open(&files, NULL, &limits, why);
}

/* Several may look at what nobody writes, and change nothing. */
static void
it_can_be_read(void **state)
{
	struct store_files files;
	struct store *other;

	(void)state;
	rig_open(true);
	rig_call(EVENT_ENTER, 10, 1, START + 10, 0, 0);
	store_flush(st);
	assert_null(open_to_read());
	assert_string_equal(why, "this timeline is in use");
	store_close(st, true);
	/* a log that somebody has removed was empty */
	assert_int_equal(unlinkat(rig_dir_fd, "t.db-wal", 0), 0);
	st = open_to_read();
	other = open_to_read();
	assert_non_null(st);
	assert_non_null(other);
	assert_string_equal(store_meta(other)->binary_path, "/bin/prog");
	store_close(other, true);
	assert_null(rig_try(false, STORE_CALLS_LEAST, 1000));
	assert_string_equal(rig_ids("{}"), "1.1 /1");
	store_close(st, true);
	assert_int_equal(store_files_to_read(rig_dir_fd, "t", &files), 0);
	st = store_peek(&files, why);
	assert_non_null(st);
	assert_string_equal(store_meta(st)->status, "running");
	store_close(st, true);
	st = NULL;
	/* the tear-down looks for all of them */
	rig_open(false);
	assert_string_equal(rig_ids("{}"), "1.1 /1");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_set_up, rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threads_are_merged), TEST(times_are_mended),
		TEST(the_future_is_cut), TEST(nonsense_is_lost_and_counted),
		TEST(parents_are_of_the_same_thread),
		TEST(a_number_may_be_another_thread),
		TEST(oldest_calls_go_first), TEST(age_goes_over_threads),
		TEST(evicted_is_uncounted_by_value),
		TEST(a_lower_limit_holds_at_once), TEST(room_is_used_again),
		TEST(what_has_gone_is_not_found_again), TEST(output_is_limited),
		TEST(characters_are_not_cut), TEST(long_output_is_parted),
		TEST(crashes_are_json_or_a_string),
		cmocka_unit_test(json_is_strict), TEST(it_is_found_again),
		TEST(numbers_end_behind_the_last),
		TEST(it_can_go_on), TEST(a_file_that_was_changed_ends_early),
		TEST(short_calls_are_whole), TEST(calls_at_once),
		TEST(a_look_meanwhile),
		TEST(far_apart), TEST(other_forms_are_refused),
		TEST(only_timelines_are_opened),
		TEST(what_is_not_kept_is_gone), TEST(many_threads),
		TEST(large_captures_are_kept), TEST(unsettled_is_not_shown),
		TEST(shapes_are_kept), TEST(it_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
