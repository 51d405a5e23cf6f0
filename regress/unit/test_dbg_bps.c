/* SPDX-License-Identifier: ISC */
/* The registry of breakpoints: what is sent, what is answered, what is hit. */
/* links: debugger/bps/bps.c debugger/text/pairs.c debugger/text/copy.c debugger/bps/hits.c debugger/base/format.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/debuggee.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/hits.h"

#include "test_dbg_op.h"

static const struct bp_skills all_skills = { .condition = true,
	.hit_count = true, .log = true, .hit_format = ">= " };
static const struct bp_skills no_skills = { .hit_format = "" };

static int
fresh(void **state)
{
	(void)state;
	bps_clear();
	return 0;
}

static struct bp *
at_line(const char *file, int64_t line)
{
	struct bp *bp = bps_new(BP_LINE);

	assert_non_null(bp);
	bps_set(&bp->file, file);
	bps_set(&bp->path, file);
	bp->line = line;
	return bp;
}

static void
wire_is(const char *path, const struct bp_skills *can, const char *want)
{
	struct json_object *o;

	bps_decide(can);
	o = bps_wire(path, can);
	assert_string_equal(json_object_to_json_string_ext(o,
	    JSON_C_TO_STRING_PLAIN), want);
	json_object_put(o);
}

static void
reply(const char *path, const char *text)
{
	struct json_object *sent, *o = json_tokener_parse(text);

	bps_decide(&all_skills);
	sent = bps_wire(path, &all_skills);
	bps_replied(path, sent, o);
	json_object_put(sent);
	json_object_put(o);
}

static void
only_enabled_ones_of_a_file_are_sent(void **state)
{
	(void)state;
	at_line("/a.c", 1);
	at_line("/a.c", 2)->enabled = false;
	at_line("/b.c", 3);
	at_line("/a.c", 4)->going = true;
	at_line("/a.c", 5);
	wire_is("/a.c", &all_skills, "[{\"line\":1},{\"line\":5}]");
	wire_is("/b.c", &all_skills, "[{\"line\":3}]");
	wire_is("/c.c", &all_skills, "[]");
}

static void
answers_belong_to_what_was_sent(void **state)
{
	struct bp *off, *one, *two, *there, *same;

	(void)state;
	off = at_line("/a.c", 1);
	off->enabled = false;
	one = at_line("/a.c", 2);
	two = at_line("/a.c", 3);
	/* these are at the line of one, and were not sent with it */
	there = at_line("/b.c", 2);
	same = at_line("/a.c", 2);
	same->enabled = false;
	reply("/a.c", "[{\"id\":0,\"verified\":true,\"line\":2},"
	    "{\"id\":-4,\"verified\":true,\"line\":9,"
	    "\"instructionReference\":\"0x10\"}]");
	assert_false(off->sent);
	assert_false(there->sent || there->verified);
	assert_false(same->sent || same->verified);
	assert_true(one->verified && one->has_adapter_id);
	assert_int_equal(one->adapter_id, 0);
	assert_false(bp_moved(one));
	assert_int_equal(two->adapter_id, -4);
	assert_int_equal(two->address, 0x10);
	assert_true(bp_moved(two));
}

static void
a_short_reply_is_no_harm(void **state)
{
	struct bp *bp;

	(void)state;
	at_line("/a.c", 1);
	bp = at_line("/a.c", 2);
	reply("/a.c", "[{\"verified\":true}]");
	assert_false(bp->verified);
	reply("/a.c", "[7,\"x\",null,[],{}]");
	assert_false(bp->verified);
}

static void
one_place_is_one_breakpoint(void **state)
{
	struct bp *a, *b;

	(void)state;
	a = at_line("/a.c", 1);
	b = at_line("/a.c", 1);
	wire_is("/a.c", &all_skills, "[{\"line\":1}]");
	assert_false(a->checked_here || b->checked_here);
	reply("/a.c", "[{\"id\":7,\"verified\":true}]");
	assert_true(a->adapter_id == 7 && b->adapter_id == 7);
	/* what they want differs: it is checked here, and not told */
	bps_set(&b->condition, "x > 1");
	wire_is("/a.c", &all_skills, "[{\"line\":1}]");
	assert_true(a->checked_here && b->checked_here);
	a->enabled = false;
	wire_is("/a.c", &all_skills, "[{\"line\":1,\"condition\":\"x > 1\"}]");
	assert_false(b->checked_here);
}

static void
what_it_cannot_we_do(void **state)
{
	struct bp *bp = at_line("/a.c", 1);

	(void)state;
	bp->hit_count = 3;
	wire_is("/a.c", &all_skills, "[{\"line\":1,"
	    "\"hitCondition\":\">= 3\"}]");
	assert_false(bp->checked_here);
	bps_set(&bp->log, "i {i}");
	/* adapters differ in what two of these mean together */
	wire_is("/a.c", &all_skills, "[{\"line\":1}]");
	assert_true(bp->checked_here);
	bp->hit_count = 0;
	wire_is("/a.c", &all_skills, "[{\"line\":1,"
	    "\"logMessage\":\"i {i}\"}]");
	assert_false(bp->checked_here);
	bps_set(&bp->condition, "i");
	wire_is("/a.c", &no_skills, "[{\"line\":1}]");
	assert_true(bp->checked_here);
	bp = bps_new(BP_FUNCTION);
	bps_set(&bp->function, "f");
	bps_set(&bp->log, "x");
	wire_is(NULL, &all_skills, "[{\"name\":\"f\"}]");
	assert_true(bp->checked_here);
}

static void
words(const struct bp *bp, const char *part)
{
	char out[1024];

	bp_words(bp, out, sizeof(out));
	if (strstr(out, part) == NULL)
		fail_msg("\"%s\" has no \"%s\"", out, part);
}

static void
words_are_loud(void **state)
{
	struct bp *bp = at_line("/a.c", 9999);

	(void)state;
	words(bp, "for the next start");
	reply("/a.c", "[{\"verified\":false,\"message\":\"no code\"}]");
	words(bp, "NOT set (yet)");
	words(bp, "no code");
	reply("/a.c", "[{\"verified\":true,\"line\":26}]");
	words(bp, "MOVED");
	words(bp, "a.c:26");
	bps_set(&bp->condition_error, "no x");
	words(bp, "condition failed: no x");
	bps_untold();
	words(bp, "for the next start");
}

static void
ids_are_never_used_twice(void **state)
{
	int64_t first = at_line("/a.c", 1)->id;

	(void)state;
	bps_free(bps_find(first));
	assert_null(bps_find(first));
	assert_true(at_line("/a.c", 1)->id > first);
}

static void
there_is_a_most(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < BPS_MOST; i++)
		at_line("/a.c", (int64_t)i + 1);
	assert_null(bps_new(BP_LINE));
	bps_clear();
	assert_int_equal(bps_count(), 0);
}

static enum hit
hit(const struct bp *bp, const struct stop *stop, const char *frame)
{
	struct json_object *o = json_tokener_parse(frame);
	enum hit h = hit_of(bp, stop, o);

	json_object_put(o);
	return h;
}

static void
hits_by_id_address_and_line(void **state)
{
	static const char here[] = "{\"name\":\"f\",\"line\":2,"
	    "\"source\":{\"path\":\"/x/a.c\"},"
	    "\"instructionPointerReference\":\"0x10\"}";
	struct stop ids = { .nhits = 1, .hits = { 7 } }, none = { .nhits = 0 };
	struct stop odd = { .nhits = 1, .hits = { -1 } };
	struct bp *bp = at_line("/a.c", 2);

	(void)state;
	assert_int_equal(hit(bp, &ids, here), HIT_NO);
	reply("/a.c", "[{\"id\":7,\"verified\":true,\"line\":2}]");
	assert_int_equal(hit(bp, &ids, here), HIT_YES);
	/* it was not named, though another one was */
	bp->adapter_id = 8;
	assert_int_equal(hit(bp, &ids, here), HIT_NO);
	bp->address = 0x10;
	assert_int_equal(hit(bp, &ids, here), HIT_YES);
	bps_set(&bp->condition, "x");
	assert_int_equal(hit(bp, &ids, here), HIT_MAYBE);
	bps_set(&bp->condition, NULL);
	bp->address = 0;
	/* none was named: by line; -1 is no name */
	assert_int_equal(hit(bp, &none, here), HIT_YES);
	assert_int_equal(hit(bp, &odd, here), HIT_YES);
	bp->actual_line = 3;
	assert_int_equal(hit(bp, &none, here), HIT_NO);
	assert_int_equal(hit(bp, &none, "{}"), HIT_NO);
}

static void
functions_are_hit_where_they_begin(void **state)
{
	static const char in_f[] = "{\"name\":\"f\",\"line\":2}";
	struct stop begin = { .raw_reason = "function breakpoint" };
	struct stop later = { .raw_reason = "breakpoint" };
	struct json_object *sent, *o;
	struct bp *bp = bps_new(BP_FUNCTION);

	(void)state;
	bps_set(&bp->function, "f");
	bp->verified = true;
	assert_int_equal(hit(bp, &begin, in_f), HIT_YES);
	assert_int_equal(hit(bp, &later, in_f), HIT_NO);
	bp->enabled = false;
	assert_int_equal(hit(bp, &begin, in_f), HIT_NO);
	/* the reply to the list of functions, by name */
	bp->enabled = true;
	o = json_tokener_parse("[{\"id\":3,\"verified\":false}]");
	sent = bps_wire(NULL, &all_skills);
	bps_replied(NULL, sent, o);
	assert_int_equal(bp->adapter_id, 3);
	assert_false(bp->verified);
	json_object_put(sent);
	json_object_put(o);
}

static struct bp *
function(const char *name)
{
	struct bp *bp = bps_new(BP_FUNCTION);

	assert_non_null(bp);
	bps_set(&bp->function, name);
	return bp;
}

static void
each_list_of_functions_has_one_new(void **state)
{
	struct bp *a = function("a"), *b = function("b"), *again;

	(void)state;
	wire_is(NULL, &all_skills, "[{\"name\":\"a\"}]");
	reply(NULL, "[{\"id\":1,\"verified\":true,\"line\":10}]");
	assert_non_null(bps_function_next());
	wire_is(NULL, &all_skills, "[{\"name\":\"a\"},{\"name\":\"b\"}]");
	/* as its hash table has them */
	reply(NULL, "[{\"id\":2,\"verified\":true,\"line\":20},"
		    "{\"id\":1,\"verified\":true,\"line\":10}]");
	assert_true(a->adapter_id == 1 && a->actual_line == 10);
	assert_true(b->adapter_id == 2 && b->actual_line == 20);
	assert_null(bps_function_next());
	/* a second one of a place is not new there */
	again = function("b");
	assert_null(bps_function_next());
	reply(NULL, "[{\"id\":2,\"verified\":true,\"line\":20},"
		    "{\"id\":1,\"verified\":true,\"line\":10}]");
	assert_true(a->adapter_id == 1 && again->adapter_id == 2);
	/* one that was not answered was sent nevertheless */
	function("c");
	reply(NULL, "[]");
	assert_null(bps_function_next());
	assert_true(a->adapter_id == 1 && b->adapter_id == 2);
}

static void
functions_with_new_ids_are_in_order(void **state)
{
	struct bp *a = function("a"), *b = function("b");

	(void)state;
	reply(NULL, "[{\"id\":1,\"verified\":true}]");
	reply(NULL, "[{\"id\":2,\"verified\":true},"
		    "{\"id\":3,\"verified\":true}]");
	assert_true(a->adapter_id == 2 && b->adapter_id == 3);
	reply(NULL, "[{\"verified\":true,\"line\":4},"
		    "{\"verified\":true,\"line\":5}]");
	assert_true(a->actual_line == 4 && b->actual_line == 5);
}

static void
lines_are_known_by_ids_and_lines(void **state)
{
	struct bp *a = at_line("/a.c", 10), *b = at_line("/a.c", 20), *c;

	(void)state;
	reply("/a.c", "[{\"id\":2,\"verified\":true,\"line\":20},"
		      "{\"id\":1,\"verified\":true,\"line\":10}]");
	assert_true(a->adapter_id == 1 && b->adapter_id == 2);
	c = at_line("/a.c", 30);
	reply("/a.c", "[{\"id\":3,\"verified\":true,\"line\":31},"
		      "{\"id\":2,\"verified\":true,\"line\":21},"
		      "{\"id\":1,\"verified\":true,\"line\":11}]");
	assert_true(a->actual_line == 11 && b->actual_line == 21);
	assert_true(c->adapter_id == 3 && c->actual_line == 31);
}

static void
moved_lines_are_in_order(void **state)
{
	struct bp *a = at_line("/a.c", 10), *b = at_line("/a.c", 11);

	(void)state;
	/* the first is at the line of the second, which has moved as well */
	reply("/a.c", "[{\"id\":1,\"verified\":true,\"line\":11},"
		      "{\"id\":2,\"verified\":true,\"line\":12}]");
	assert_true(a->adapter_id == 1 && b->adapter_id == 2);
	reply("/a.c", "[{\"id\":8,\"verified\":true,\"line\":11},"
		      "{\"id\":9,\"verified\":true,\"line\":11}]");
	assert_true(a->adapter_id == 8 && b->adapter_id == 9);
}

static void
an_entry_that_is_left_out_is_nobody_elses(void **state)
{
	struct bp *a = at_line("/a.c", 10), *b = at_line("/a.c", 20), *c;

	(void)state;
	reply("/a.c", "[{\"id\":1,\"verified\":true,\"line\":10},"
		      "{\"id\":2,\"verified\":true,\"line\":20}]");
	c = at_line("/a.c", 30);
	reply("/a.c", "[{\"id\":3,\"verified\":true,\"line\":31},"
		      "{\"id\":1,\"verified\":true,\"line\":10}]");
	assert_true(a->adapter_id == 1 && b->adapter_id == 2);
	assert_int_equal(b->actual_line, 20);
	assert_true(c->adapter_id == 3 && c->actual_line == 31);
	reply("/a.c", "[{\"id\":8,\"verified\":true,\"line\":30}]");
	assert_true(a->adapter_id == 1 && c->adapter_id == 8);
}

static void
a_log_point_is_no_stop(void **state)
{
	struct stop none = { .nhits = 0 };
	struct bp *bp = at_line("/a.c", 2);

	(void)state;
	bp->verified = true;
	bps_set(&bp->log, "x");
	bps_decide(&all_skills);
	assert_int_equal(hit(bp, &none, "{\"line\":2,"
	    "\"source\":{\"path\":\"/a.c\"}}"), HIT_NO);
	bps_decide(&no_skills);
	assert_int_equal(hit(bp, &none, "{\"line\":2,"
	    "\"source\":{\"path\":\"/a.c\"}}"), HIT_YES);
}

static void
truth(void **state)
{
	static const char *const yes[] = { "1", "true", "True", "-1", "0x1",
		"\"a\"", "{a:1}", "'a'" };
	static const char *const no[] = { "0", "false", "False", "None",
		"0x0", "nil", "", "\"\"", "'\\0'" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!hit_true(yes[i]))
			fail_msg("%s is true", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (hit_true(no[i]))
			fail_msg("%s is false", no[i]);
}

#define T(f)	cmocka_unit_test_setup(f, fresh)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    T(only_enabled_ones_of_a_file_are_sent),
	    T(answers_belong_to_what_was_sent),
	    T(a_short_reply_is_no_harm),
	    T(one_place_is_one_breakpoint),
	    T(what_it_cannot_we_do),
	    T(words_are_loud),
	    T(ids_are_never_used_twice),
	    T(there_is_a_most),
	    T(hits_by_id_address_and_line),
	    T(functions_are_hit_where_they_begin),
	    T(each_list_of_functions_has_one_new),
	    T(functions_with_new_ids_are_in_order),
	    T(lines_are_known_by_ids_and_lines),
	    T(moved_lines_are_in_order),
	    T(an_entry_that_is_left_out_is_nobody_elses),
	    T(a_log_point_is_no_stop),
	    T(truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
