/* SPDX-License-Identifier: ISC */
/* links: debugger/dap/adapter.c debugger/text/codec.c debugger/dap/profile.c debugger/text/copy.c debugger/dap/profile_table.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c */
/* debugger: what an adapter is asked, and which of its answers are one. */
#include <sys/epoll.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/profile.h"

struct dbg dbg;

/* The other end: what it reads of us, and what it writes to us. */
static int	from_us = -1, to_us = -1, complain = -1;
static unsigned int events;
static char	lost_why[160];

/* The answer to each request. */
static struct {
	unsigned int n;
	bool	 ok;
	char	 code[32], words[256];
} got[8];

static struct loop_timer stopper;

struct op *
op_ref(struct op *op)
{
	op->refs++;
	return op;
}

void
op_unref(struct op *op)
{
	assert_true(op->refs-- > 0);
}

static void
on_event(const char *name, struct json_object *body)
{
	struct json_object *more;

	assert_true(json_object_is_type(body, json_type_object));
	events++;
	if (strcmp(name, "capabilities") == 0 &&
	    json_object_object_get_ex(body, "capabilities", &more))
		adapter_merge(more);
}

static void
on_lost(const char *why)
{
	(void)snprintf(lost_why, sizeof(lost_why), "%s", why);
}

static void
on_answer(struct op *op, const struct dap_answer *a, void *arg)
{
	const size_t i = (size_t)(uintptr_t)arg;

	(void)op;
	got[i].n++;
	got[i].ok = a->ok;
	(void)snprintf(got[i].code, sizeof(got[i].code), "%s",
	    a->code == NULL ? "" : a->code);
	(void)snprintf(got[i].words, sizeof(got[i].words), "%s",
	    a->message == NULL ? "" : a->message);
}

static void
on_stopper(void *arg)
{
	(void)arg;
	loop_stop();
}

/* All that can be done at once, and what is due in that time. */
static void
turn(uint64_t ms)
{
	loop_timer_set(&stopper, ms, on_stopper, NULL);
	assert_int_equal(loop_run(), 0);
}

static void
opened(void)
{
	int in[2], out[2], err[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	from_us = in[0];
	to_us = out[1];
	complain = err[1];
	(void)fcntl(from_us, F_SETFL, O_NONBLOCK);
	memset(got, 0, sizeof(got));
	lost_why[0] = '\0';
	events = 0;
	adapter_open(in[1], out[0], err[0]);
}

static int
begin_with(unsigned int limit)
{
	static const struct adapter_hooks hooks = { on_event, on_lost };

	dbg.profile = &profiles[0];
	adapter_init(&hooks, limit, limit);
	opened();
	return 0;
}

static int
begin(void **state)
{
	(void)state;
	return begin_with(1);
}

/* For what takes a slow machine longer than that. */
static int
begin_patient(void **state)
{
	(void)state;
	return begin_with(60);
}

static int
end(void **state)
{
	(void)state;
	adapter_gone("the test is over");
	close(from_us);
	close(to_us);
	close(complain);
	return 0;
}

/* Reads what the adapter was sent since then, up to the size of buf. */
static const char *
sent(void)
{
	static char buf[1 << 16];
	ssize_t n;

	turn(1);
	n = read(from_us, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

/* Not yet read: a pipe holds some hundred of these. */
static void
writes(const char *text)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n",
	    strlen(text));

	assert_int_equal(write(to_us, head, (size_t)n), n);
	assert_int_equal(write(to_us, text, strlen(text)), strlen(text));
}

static void
says(const char *text)
{
	writes(text);
	turn(2);
}

static void
announces(const char *capabilities)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "{\"type\":\"event\",\"event\":"
	    "\"capabilities\",\"body\":{\"capabilities\":%s}}", capabilities);
	writes(text);
	turn(0);
}

/* The seq of the only request that it was sent since then. */
static long long
seq_sent(void)
{
	const char *p = strstr(sent(), "\"seq\":");

	assert_non_null(p);
	return atoll(p + 6);
}

static void
answers(long long seq, const char *more)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "{\"type\":\"response\","
	    "\"request_seq\":%lld,%s}", seq, more);
	says(text);
}

static void
nothing_is_sent_that_was_not_announced(void **state)
{
	static const char *const gated[] = { "configurationDone", "terminate",
	    "setFunctionBreakpoints", "dataBreakpointInfo",
	    "setDataBreakpoints", "setInstructionBreakpoints",
	    "breakpointLocations", "stepBack", "reverseContinue",
	    "stepInTargets", "setVariable", "setExpression", "modules",
	    "loadedSources", "exceptionInfo", "readMemory", "writeMemory",
	    "disassemble", "completions", "gotoTargets", "goto", "cancel",
	    /* and what is no request of ours, whatever is announced */
	    "runInTerminal", "startDebugging", "restart", "" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gated) / sizeof(gated[0]); i++) {
		memset(got, 0, sizeof(got));
		assert_false(adapter_takes(gated[i]));
		adapter_ask(gated[i], json_object_new_object(), NULL,
		    on_answer, NULL);
		/* never from within the call */
		assert_int_equal(got[0].n, 0);
		assert_string_equal(sent(), "");
		assert_int_equal(got[0].n, 1);
		assert_string_equal(got[0].code, "unsupported");
		assert_non_null(strstr(got[0].words, "lldb-dap cannot"));
	}
	announces("{\"supportsReadMemoryRequest\":false,"
	    "\"supportsDisassembleRequest\":1,\"supportsStepBack\":\"yes\"}");
	assert_false(adapter_takes("readMemory"));
	assert_false(adapter_takes("disassemble"));
	assert_false(adapter_takes("stepBack"));
	announces("{\"supportsReadMemoryRequest\":true}");
	assert_true(adapter_takes("readMemory"));
	adapter_ask("readMemory", NULL, NULL, on_answer, NULL);
	assert_non_null(strstr(sent(), "\"command\":\"readMemory\""));
}

static void
only_its_own_answer_ends_a_request(void **state)
{
	static const char *const others[] = { "0", "-1", "2", "1e30", "\"x\"",
	    "null", "[]", "{}", "true", "9223372036854775807",
	    "-9223372036854775808", "99999999999999999999999",
	    "18446744073709551617" };
	char text[256];
	long long seq;
	size_t i;

	(void)state;
	/* so that none of these numbers is the request's by chance */
	for (i = 0; i < 4; i++)
		adapter_ask("threads", NULL, NULL, NULL, NULL);
	(void)sent();
	adapter_ask("threads", NULL, NULL, on_answer, NULL);
	seq = seq_sent();
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		(void)snprintf(text, sizeof(text), "{\"type\":\"response\","
		    "\"request_seq\":%s,\"success\":true,\"body\":{}}",
		    others[i]);
		says(text);
	}
	says("{\"type\":\"response\",\"success\":true}");
	says("{\"type\":\"response\"}");
	assert_int_equal(got[0].n, 0);
	answers(seq, "\"success\":true,\"body\":{\"threads\":[]}");
	assert_int_equal(got[0].n, 1);
	assert_true(got[0].ok);
	/* told once more, and otherwise */
	answers(seq, "\"success\":true");
	answers(seq, "\"success\":false,\"message\":\"no\"");
	assert_int_equal(got[0].n, 1);
	assert_true(adapter_up());
}

/* A request refused here is never sent: the adapter cannot answer it. */
static void
what_was_not_sent_is_not_answered(void **state)
{
	static const char text[] = "{\"type\":\"response\",\"success\":true,"
	    "\"request_seq\":-1,\"body\":{}}";
	char frame[256];
	int i, n;

	(void)state;
	n = snprintf(frame, sizeof(frame), "Content-Length: %zu\r\n\r\n%s",
	    sizeof(text) - 1, text);
	for (i = 0; i < 8; i++) {
		assert_int_equal(write(to_us, frame, (size_t)n), n);
		adapter_ask("readMemory", NULL, NULL, on_answer,
		    (void *)(uintptr_t)i);
	}
	turn(10);
	for (i = 0; i < 8; i++) {
		assert_int_equal(got[i].n, 1);
		assert_string_equal(got[i].code, "unsupported");
	}
}

static void
an_answer_that_is_late_is_none(void **state)
{
	long long seq;

	(void)state;
	adapter_ask("evaluate", NULL, NULL, on_answer, NULL);
	seq = seq_sent();
	turn(1300);
	assert_int_equal(got[0].n, 1);
	assert_string_equal(got[0].code, "timeout");
	assert_non_null(strstr(got[0].words, "\"evaluate\" within 1 s"));
	answers(seq, "\"success\":true,\"body\":{}");
	assert_int_equal(got[0].n, 1);
	assert_string_equal(got[0].code, "timeout");
}

static void
what_it_is_at_is_told(void **state)
{
	static const struct adapter_hooks hooks = { on_event, on_lost };
	uint64_t ms = 0;
	long long seq;

	(void)state;
	adapter_init(&hooks, 30, 30);
	assert_null(adapter_busy(&ms));
	adapter_ask("evaluate", NULL, NULL, NULL, NULL);
	seq = seq_sent();
	turn(200);
	adapter_ask("threads", NULL, NULL, NULL, NULL);
	/* what is refused is no work */
	adapter_ask("readMemory", NULL, NULL, NULL, NULL);
	turn(1);
	assert_string_equal(adapter_busy(&ms), "evaluate");
	assert_true(ms >= 200);
	answers(seq, "\"success\":true");
	assert_string_equal(adapter_busy(&ms), "threads");
	adapter_gone("it has ended");
	assert_null(adapter_busy(&ms));
}

/* The one behind it, whose limit comes while the first is still at work. */
static void
who_waits_is_told_for_what(void **state)
{
	static const struct adapter_hooks hooks = { on_event, on_lost };

	(void)state;
	adapter_init(&hooks, 1, 30);
	adapter_ask("evaluate", NULL, NULL, NULL, NULL);
	adapter_ask("initialize", NULL, NULL, on_answer, NULL);
	turn(1300);
	assert_string_equal(got[0].code, "timeout");
	assert_non_null(strstr(got[0].words, "busy with \"evaluate\""));
}

static void
refusals_have_words(void **state)
{
	static const struct {
		const char	*more, *words;
	} rows[] = {
		{ "\"success\":false,\"message\":\"short\"", "short" },
		{ "\"success\":false,\"message\":\"short\",\"body\":{\"error\":"
		    "{\"format\":\"no {a} and {b}\",\"variables\":"
		    "{\"a\":\"one\"}}}", "no one and {b}" },
		{ "\"success\":false,\"message\":\"\",\"body\":{\"error\":"
		    "{\"format\":\"\"}}", "lldb-dap refused without words" },
		{ "\"success\":false,\"message\":[],\"body\":{\"error\":7}",
		    "lldb-dap refused without words" },
		{ "\"success\":false,\"body\":[]",
		    "lldb-dap refused without words" },
		{ "\"message\":\"neither yes nor no\"", "neither yes nor no" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		adapter_ask("launch", NULL, NULL, on_answer, NULL);
		answers(seq_sent(), rows[i].more);
		assert_int_equal(got[0].n, i + 1);
		assert_false(got[0].ok);
		assert_string_equal(got[0].code, "refused");
		assert_string_equal(got[0].words, rows[i].words);
	}
}

static void
what_it_asks_is_answered(void **state)
{
	static const char *const asks[] = {
		"{\"type\":\"request\",\"seq\":7,\"command\":\"runInTerminal\","
		"\"arguments\":{\"args\":[\"/bin/sh\"]}}",
		"{\"type\":\"request\",\"seq\":7,\"command\":\"startDebugging\"}",
		"{\"type\":\"request\",\"seq\":7,\"command\":\"x\\\"y\"}",
	};
	const char *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		says(asks[i]);
		text = sent();
		assert_non_null(strstr(text, "\"type\":\"response\""));
		assert_non_null(strstr(text, "\"request_seq\":7"));
		assert_non_null(strstr(text, "\"success\":false"));
	}
	assert_non_null(strstr(text, "x\\\"y"));
	/* without a number or a name, and what is no kind of message */
	says("{\"type\":\"request\"}");
	assert_non_null(strstr(sent(), "\"success\":false"));
	says("{\"type\":\"request\",\"seq\":{},\"command\":[]}");
	assert_non_null(strstr(sent(), "\"success\":false"));
	says("{\"type\":\"other\",\"seq\":1}");
	says("{\"type\":[],\"event\":\"stopped\"}");
	says("{\"type\":\"event\",\"event\":7}");
	assert_string_equal(sent(), "");
	assert_int_equal(events, 0);
	says("{\"type\":\"event\",\"event\":\"unheardOf\",\"body\":[]}");
	assert_int_equal(events, 1);
}

/* It asks and asks, and does not read: bounded, and it stays its fault. */
static void
one_that_does_not_read(void **state)
{
	const char *text = "{\"type\":\"request\",\"command\":\"runInTerminal\"}";
	struct json_object *args;
	char *large = malloc(1 << 20);
	int i;

	(void)state;
	for (i = 0; i < 4000; i++) {
		writes(text);
		if (i % 100 == 0)
			turn(1);
	}
	memset(large, 'x', 1 << 20);
	large[(1 << 20) - 1] = '\0';
	for (i = 0; i < 8; i++) {
		args = json_object_new_object();
		json_object_object_add(args, "expression",
		    json_object_new_string(large));
		adapter_ask("evaluate", args, NULL, on_answer,
		    (void *)(uintptr_t)i);
	}
	free(large);
	turn(2);
	/* four megabytes are kept, then it is told that nobody reads them */
	assert_int_equal(got[0].n, 0);
	assert_int_equal(got[7].n, 1);
	assert_string_equal(got[7].code, "adapter_failed");
	assert_true(adapter_up());
}

static void
too_many_at_once(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		adapter_ask("threads", NULL, NULL, NULL, NULL);
	adapter_ask("threads", NULL, NULL, on_answer, NULL);
	turn(1);
	assert_int_equal(got[0].n, 1);
	assert_string_equal(got[0].code, "busy");
}

static void
ask_anew(struct op *op, const struct dap_answer *a, void *arg)
{
	on_answer(op, a, arg);
	adapter_ask("threads", NULL, op, on_answer, (void *)1);
}

static void
its_end_answers_everybody(void **state)
{
	struct op op = { .refs = 1 };

	(void)state;
	adapter_ask("threads", NULL, &op, ask_anew, NULL);
	assert_int_equal(op.refs, 2);
	adapter_gone("lldb-dap was killed by SIGABRT");
	assert_int_equal(got[0].n, 1);
	assert_string_equal(got[0].code, "adapter_exited");
	assert_non_null(strstr(got[0].words, "SIGABRT"));
	/* asked in the middle of that: refused a turn later */
	assert_int_equal(got[1].n, 0);
	turn(1);
	assert_int_equal(got[1].n, 1);
	assert_string_equal(got[1].code, "adapter_exited");
	assert_int_equal(op.refs, 1);
	assert_false(adapter_up());
}

static void
broken_framing_is_its_end(void **state)
{
	(void)state;
	adapter_ask("threads", NULL, NULL, on_answer, NULL);
	assert_int_equal(write(to_us, "Hello\r\n\r\n", 9), 9);
	turn(2);
	assert_non_null(strstr(lost_why, "Content-Length"));
	assert_false(adapter_up());
	/* who waits is told when it is known how it ended */
	assert_int_equal(got[0].n, 0);
	adapter_gone(lost_why);
	assert_string_equal(got[0].code, "adapter_exited");
	/* the next one begins with nothing of that */
	close(from_us);
	close(to_us);
	close(complain);
	opened();
	adapter_ask("threads", NULL, NULL, on_answer, NULL);
	answers(seq_sent(), "\"success\":true");
	assert_true(got[0].ok);
}

/* Events that announce without end: what nobody asks for is not kept. */
static void
announcements_are_bounded(void **state)
{
	struct json_object *o = adapter_capabilities();
	char text[256];
	int i;

	(void)state;
	announces("{\"supportsReadMemoryRequest\":true,"
	    "\"exceptionBreakpointFilters\":[{\"filter\":\"x\"}],"
	    "\"__lldb\":{\"version\":\"lldb version 19.1.7\"}}");
	for (i = 0; i < 600; i++) {
		(void)snprintf(text, sizeof(text), "{\"made%d\":true,"
		    "\"text%d\":\"xxxxxxxxxxxxxxxx\",\"list%d\":[1,2,3]}", i,
		    i, i);
		announces(text);
	}
	o = adapter_capabilities();
	assert_int_equal(json_object_object_length(o), 256);
	assert_true(adapter_can("made0"));
	assert_false(adapter_can("text0"));
	/* what it has it may still change */
	announces("{\"supportsReadMemoryRequest\":false,"
	    "\"supportsStepBack\":true}");
	assert_false(adapter_can("supportsReadMemoryRequest"));
	assert_false(adapter_can("supportsStepBack"));
	assert_true(json_object_object_get_ex(o, "exceptionBreakpointFilters",
	    NULL));
}

static void
its_complaints_are_harmless(void **state)
{
	char line[4096];
	int i;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	assert_int_equal(write(complain, line, sizeof(line)), sizeof(line));
	assert_int_equal(write(complain, "last \033[31m words\n\n", 18), 18);
	turn(2);
	assert_string_equal(adapter_complaint(), "last \\x1b[31m words");
	assert_true(adapter_up());
	/* what came since is not left in the pipe */
	for (i = 0; i < 10; i++)
		assert_int_equal(write(complain, line, sizeof(line)),
		    sizeof(line));
	assert_int_equal(write(complain, "very last\n", 10), 10);
	assert_string_equal(adapter_complaint(), "very last");
}

#define T(f)	cmocka_unit_test_setup_teardown(f, begin, end)

static int
all_over(void **state)
{
	(void)state;
	loop_end();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_is_sent_that_was_not_announced),
		T(only_its_own_answer_ends_a_request),
		T(what_was_not_sent_is_not_answered),
		T(an_answer_that_is_late_is_none),
		T(what_it_is_at_is_told),
		T(who_waits_is_told_for_what),
		T(refusals_have_words),
		T(what_it_asks_is_answered),
		cmocka_unit_test_setup_teardown(one_that_does_not_read,
		    begin_patient, end),
		T(too_many_at_once),
		T(its_end_answers_everybody),
		T(broken_framing_is_its_end),
		T(announcements_are_bounded),
		T(its_complaints_are_harmless),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_init() == -1)
		return 1;
	return cmocka_run_group_tests_name("adapter", tests, NULL, all_over);
}
