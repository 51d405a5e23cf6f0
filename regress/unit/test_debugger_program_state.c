/* SPDX-License-Identifier: ISC */
/* links: debugger/base/program_state.c debugger/dap/profile_table.c */
/* debugger: from events to what the program does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include <signal.h>
#include <string.h>

#include "debugger/base/program_state.h"
#include "debugger/dap/profile.h"

static struct dbg d;

static enum change
event(const char *name, const char *body)
{
	struct json_object *o = json_tokener_parse(body);
	enum change c;

	assert_non_null(o);
	c = state_event(&d, name, o);
	json_object_put(o);
	return c;
}

/* A program that runs, of an adapter of the first profile. */
static void
running(bool entry)
{
	memset(&d, 0, sizeof(d));
	d.profile = &profiles[0];
	state_begin(&d);
	assert_int_equal(d.phase, PHASE_INITIALIZING);
	d.phase = PHASE_CONFIGURING;
	state_configured(&d, entry);
	assert_int_equal(d.phase, PHASE_RUNNING);
}

static void
in_wire_order(void **state)
{
	uint64_t epoch;

	(void)state;
	running(true);
	epoch = d.epoch;
	assert_int_equal(event("stopped", "{\"reason\":\"entry\",\"threadId\":7}"),
	    CHANGE_STOPPED);
	assert_true(d.epoch > epoch && d.thread == 7 && d.has_thread);
	assert_string_equal(d.stop.reason, "entry");
	state_resume(&d, INTENT_STEP);
	epoch = d.epoch;
	assert_int_equal(event("continued", "{\"threadId\":7}"), CHANGE_NONE);
	assert_int_equal(d.epoch, epoch);
	assert_int_equal(event("stopped", "{\"reason\":\"step\"}"),
	    CHANGE_STOPPED);
	assert_false(d.has_thread);
	assert_int_equal(event("continued", "{}"), CHANGE_RESUMED);
	assert_int_equal(d.phase, PHASE_RUNNING);
}

static void
rolled_back(void **state)
{
	(void)state;
	running(true);
	(void)event("stopped", "{\"reason\":\"entry\",\"threadId\":7}");
	state_resume(&d, INTENT_CONTINUE);
	assert_int_equal(state_refused(&d, "no"), CHANGE_STOPPED);
	assert_int_equal(d.phase, PHASE_STOPPED);
	assert_int_equal(d.thread, 7);
	assert_int_equal(d.intent, INTENT_ENTRY);
	assert_string_equal(d.refused, "no");
	/* not when events have said more */
	state_resume(&d, INTENT_CONTINUE);
	(void)event("exited", "{\"exitCode\":0}");
	assert_int_equal(state_refused(&d, "no"), CHANGE_NONE);
	assert_int_equal(d.phase, PHASE_TERMINATED);
	assert_string_equal(d.refused, "");
}

/* A stop after a refusal is another one: the adapter did what it refused. */
static void
refused_and_done(void **state)
{
	uint64_t epoch;

	(void)state;
	running(false);
	(void)event("stopped", "{\"reason\":\"breakpoint\",\"threadId\":7,"
	    "\"hitBreakpointIds\":[1]}");
	state_resume(&d, INTENT_STEP);
	(void)state_refused(&d, "no");
	epoch = d.epoch;
	assert_int_equal(event("stopped", "{\"reason\":\"step\",\"threadId\":"
	    "8}"), CHANGE_MOVED);
	assert_true(d.epoch > epoch);
	assert_string_equal(d.stop.reason, "step");
	assert_int_equal(d.stop.nhits, 0);
	assert_int_equal(d.thread, 8);
	assert_string_equal(d.refused, "");
	/* and what follows it is the same stop */
	assert_int_equal(event("stopped", "{\"reason\":\"step\",\"threadId\":"
	    "9}"), CHANGE_FOCUS);
}

/* A program that is not let begin stands at its entry. */
static void
refused_at_the_start(void **state)
{
	(void)state;
	running(false);
	assert_int_equal(state_refused(&d, "no"), CHANGE_STOPPED);
	assert_string_equal(d.stop.reason, "entry");
	assert_false(d.has_thread);
}

static void
merged(void **state)
{
	(void)state;
	running(false);
	assert_int_equal(event("stopped", "{\"reason\":\"breakpoint\","
	    "\"threadId\":1,\"hitBreakpointIds\":[0],"
	    "\"preserveFocusHint\":true}"), CHANGE_STOPPED);
	assert_int_equal(event("stopped", "{\"reason\":\"step\",\"threadId\":2,"
	    "\"hitBreakpointIds\":[-1,0]}"), CHANGE_FOCUS);
	assert_int_equal(d.thread, 2);
	assert_string_equal(d.stop.raw_reason, "step");
	assert_int_equal(d.stop.nhits, 2);
	/* a further one does not take the focus away */
	assert_int_equal(event("stopped", "{\"reason\":\"pause\",\"threadId\":3,"
	    "\"hitBreakpointIds\":[5],\"preserveFocusHint\":true}"),
	    CHANGE_FOCUS);
	assert_int_equal(d.thread, 2);
	assert_int_equal(d.stop.nhits, 3);
}

/* lldb's own breakpoint at loads hides nothing that another thread tells. */
static void
own_breakpoints_come_last(void **state)
{
	static const char load[] = "{\"reason\":\"breakpoint\",\"threadId\":1,"
	    "\"description\":\"breakpoint -1.1\",\"hitBreakpointIds\":[-1]}";
	static const char crash[] = "{\"reason\":\"exception\",\"threadId\":2,"
	    "\"description\":\"signal SIGSEGV\",\"preserveFocusHint\":true}";
	static const char hit[] = "{\"reason\":\"breakpoint\",\"threadId\":3,"
	    "\"hitBreakpointIds\":[4],\"preserveFocusHint\":true}";

	(void)state;
	running(false);
	(void)event("stopped", load);
	assert_true(state_is_internal(&d.stop));
	assert_int_equal(event("stopped", crash), CHANGE_FOCUS);
	assert_false(state_is_internal(&d.stop));
	assert_string_equal(d.stop.reason, "signal");
	assert_int_equal(d.thread, 2);
	assert_int_equal(d.fatal, SIGSEGV);

	running(false);
	(void)event("stopped", hit);
	(void)event("stopped", load);
	assert_false(state_is_internal(&d.stop));
	assert_int_equal(d.thread, 3);

	/* CodeLLDB says it in words alone */
	running(false);
	(void)event("stopped", "{\"reason\":\"breakpoint\",\"threadId\":1,"
	    "\"description\":\"breakpoint -2.1\"}");
	assert_true(state_is_internal(&d.stop));
}

static void
too_early(void **state)
{
	(void)state;
	memset(&d, 0, sizeof(d));
	state_begin(&d);
	assert_int_equal(event("stopped", "{\"reason\":\"exception\","
	    "\"description\":\"signal SIGSTOP\",\"threadId\":4}"), CHANGE_NONE);
	d.phase = PHASE_CONFIGURING;
	state_configured(&d, true);
	assert_int_equal(state_settled(&d), CHANGE_STOPPED);
	assert_string_equal(d.stop.reason, "entry");
	assert_int_equal(d.thread, 4);
	assert_int_equal(state_settled(&d), CHANGE_NONE);
	/* it was not asked to stop there: it goes on by itself */
	state_begin(&d);
	(void)event("stopped", "{\"reason\":\"entry\",\"threadId\":4}");
	d.phase = PHASE_CONFIGURING;
	state_configured(&d, false);
	assert_int_equal(state_settled(&d), CHANGE_NONE);
	assert_int_equal(d.phase, PHASE_RUNNING);
}

static void
reasons(void **state)
{
	static const struct {
		enum intent	 intent;
		const char	*body, *reason;
	} rows[] = {
		{ INTENT_PAUSE, "{\"reason\":\"exception\",\"description\":"
		    "\"signal SIGSTOP\"}", "pause" },
		{ INTENT_PAUSE, "{\"reason\":\"exception\",\"description\":"
		    "\"signal SIGSEGV\"}", "signal" },
		{ INTENT_PAUSE, "{\"reason\":\"breakpoint\"}", "breakpoint" },
		{ INTENT_CONTINUE, "{\"reason\":\"exception\",\"description\":"
		    "\"signal SIGSTOP\"}", "signal" },
		{ INTENT_CONTINUE, "{\"reason\":\"exception\",\"description\":"
		    "\"breakpoint 2.1\"}", "exception" },
		{ INTENT_CONTINUE, "{\"reason\":\"breakpoint\",\"description\":"
		    "\"watchpoint 1\"}", "watchpoint" },
		{ INTENT_CONTINUE, "{\"reason\":\"data breakpoint\"}",
		    "watchpoint" },
		{ INTENT_CONTINUE, "{\"reason\":\"instruction breakpoint\"}",
		    "breakpoint" },
		{ INTENT_CONTINUE, "{}", "other" },
		{ INTENT_ENTRY, "{\"reason\":\"exception\",\"description\":"
		    "\"signal SIGSTOP\"}", "entry" },
		{ INTENT_ENTRY, "{\"reason\":\"breakpoint\","
		    "\"hitBreakpointIds\":[1]}", "breakpoint" },
		{ INTENT_ENTRY, "{\"reason\":\"exception\",\"description\":"
		    "\"signal SIGILL\"}", "signal" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		running(false);
		d.intent = rows[i].intent;
		(void)event("stopped", rows[i].body);
		assert_string_equal(d.stop.reason, rows[i].reason);
	}
}

static void
endings(void **state)
{
	(void)state;
	running(false);
	assert_int_equal(event("exited", "{\"exitCode\":11}"), CHANGE_ENDED);
	assert_true(d.ending.known && d.ending.code == 11 &&
	    d.ending.signal == 0);
	assert_int_equal(event("terminated", "{}"), CHANGE_NONE);
	assert_int_equal(event("stopped", "{\"reason\":\"step\"}"),
	    CHANGE_NONE);
	/* the same number, of the signal that it was let run with */
	running(false);
	(void)event("stopped", "{\"reason\":\"exception\",\"description\":"
	    "\"signal SIGSEGV: x\"}");
	state_resume(&d, INTENT_CONTINUE);
	(void)event("exited", "{\"exitCode\":11}");
	assert_int_equal(d.ending.signal, SIGSEGV);
	/* another number is a code; a negative one a signal */
	running(false);
	d.fatal = SIGSEGV;
	(void)event("exited", "{\"exitCode\":6}");
	assert_int_equal(d.ending.code, 6);
	running(false);
	(void)event("exited", "{\"exitCode\":-15}");
	assert_int_equal(d.ending.signal, SIGTERM);
	running(false);
	(void)event("exited", "{\"exitCode\":4294967281}");
	assert_int_equal(d.ending.signal, SIGTERM);
	/* but for lldb, which has lost its connection then */
	running(false);
	assert_int_equal(event("exited", "{\"exitCode\":-1}"), CHANGE_ENDED);
	assert_true(d.ending.lost && !d.ending.known);
	/* its parent may know better, later: then it goes on no more */
	d.ending.lives = true;
	state_known(&d, 0, SIGKILL);
	assert_true(d.ending.signal == SIGKILL && !d.ending.lives);
	running(false);
	d.profile = &profiles[2];
	assert_string_equal(d.profile->name, "debugpy");
	(void)event("exited", "{\"exitCode\":-1}");
	assert_int_equal(d.ending.signal, SIGHUP);
}

static void
codes_in_words(void **state)
{
	(void)state;
	running(false);
	(void)event("output", "{\"category\":\"stdout\",\"output\":"
	    "\"Process 1 exited with status = 9\"}");
	assert_false(d.ending.known);
	(void)event("output", "{\"output\":\"Process 1 exited with status = "
	    "x\"}");
	assert_false(d.ending.known);
	assert_int_equal(event("terminated", "{}"), CHANGE_ENDED);
	assert_false(d.ending.known);
	(void)event("output", "{\"category\":\"console\",\"output\":"
	    "\"Process 1 exited with status = 5 (0x5)\"}");
	assert_true(d.ending.known && d.ending.code == 5);
}

static void
odd_bodies(void **state)
{
	(void)state;
	running(false);
	assert_int_equal(event("process", "{\"systemProcessId\":-3}"),
	    CHANGE_NONE);
	assert_int_equal(event("process", "{\"systemProcessId\":1e99}"),
	    CHANGE_NONE);
	assert_int_equal(event("process", "{\"systemProcessId\":77}"),
	    CHANGE_PROCESS);
	assert_int_equal(d.pid, 77);
	assert_int_equal(event("whatever", "{}"), CHANGE_NONE);
	assert_int_equal(event("stopped", "{\"reason\":[],\"threadId\":\"x\","
	    "\"hitBreakpointIds\":{}}"), CHANGE_STOPPED);
	assert_false(d.has_thread);
	assert_int_equal(d.stop.nhits, 0);
	assert_int_equal(event("exited", "{\"exitCode\":\"x\"}"), CHANGE_ENDED);
	assert_false(d.ending.known);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_wire_order),
		cmocka_unit_test(rolled_back),
		cmocka_unit_test(refused_and_done),
		cmocka_unit_test(refused_at_the_start),
		cmocka_unit_test(merged),
		cmocka_unit_test(own_breakpoints_come_last),
		cmocka_unit_test(too_early),
		cmocka_unit_test(reasons),
		cmocka_unit_test(endings),
		cmocka_unit_test(codes_in_words),
		cmocka_unit_test(odd_bodies),
	};

	return cmocka_run_group_tests_name("program state", tests, NULL, NULL);
}
