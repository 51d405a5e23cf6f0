/* SPDX-License-Identifier: ISC */
/* links: inst/link.c inst/op.c inst/waiters.c */
/* An instrument's link and requests: the spawner's end is this test's. */
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "inst/op.h"
#include "inst/waiters.h"
#include "wire/proto.h"

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

/* -- the spawner's end ----------------------------------------------------- */

static struct channel	 spawner;
/* Messages that came, by one letter each, and the last answer. */
static char		 seen[64];
static char		*got;
static size_t		 got_len, npieces;
static uint32_t		 got_flags, got_action, got_conn;
static uint64_t		 got_request, got_offset;

static int
note(char what)
{
	size_t n = strlen(seen);

	assert_true(n + 1 < sizeof(seen));
	seen[n] = what;
	seen[n + 1] = '\0';
	return 0;
}

static int
on_reply(struct msg *m)
{
	const char *p;
	size_t len;

	if (npieces++ == 0)
		got_len = 0;
	got_flags = msg_get_u32(m);
	p = msg_get_rest(m, &len);
	got = realloc(got, got_len + len + 1);
	assert_non_null(got);
	memcpy(got + got_len, p, len);
	got_len += len;
	got[got_len] = '\0';
	got_conn = m->hdr.conn;
	got_request = m->hdr.request;
	if (got_flags & INST_MORE)
		return 0;
	return note(got_flags & INST_FAILED ? 'F' : 'R');
}

static int
on_does(struct msg *m)
{
	got_action = msg_get_u32(m);
	return note('D');
}

/* The connection by which settle() finds out that all has come. */
#define MARK_CONN	UINT32_MAX

static int
on_left(struct msg *m)
{
	if (m->hdr.conn == MARK_CONN) {
		loop_stop();
		return 0;
	}
	got_conn = m->hdr.conn;
	return note('L');
}

static int
on_arm(struct msg *m)
{
	got_offset = msg_get_u64(m);
	return note('A');
}

static int
on_bye(struct msg *m)
{
	(void)m;
	return note('B');
}

const msg_handler msg_handlers[MSG_COUNT] = {
	[MSG_INST_REQUEST] = inst_on_request,
	[MSG_INST_GONE] = inst_on_gone,
	[MSG_INST_RING] = inst_on_ring,
	[MSG_INST_OUTPUT_NOTICE] = inst_on_output_notice,
	[MSG_INST_RUN_FAILED] = inst_on_run_failed,
	[MSG_INST_REPLY] = on_reply,
	[MSG_INST_DOES] = on_does,
	[MSG_INST_LEFT] = on_left,
	[MSG_INST_ARM] = on_arm,
	[MSG_INST_BYE] = on_bye,
};

static void
on_spawner_gone(struct channel *c, const char *why)
{
	(void)c;
	(void)note(why == NULL ? '.' : '!');
}

static void
on_late(void *arg)
{
	(void)arg;
	fail_msg("a message did not come");
}

/* All that is on its way arrives, and what answers it. */
static void
settle(void)
{
	struct loop_timer late = { 0 };

	assert_int_equal(chan_send(&spawner, msg_new(MSG_INST_GONE, NULL,
	    MARK_CONN, 0), -1), 0);
	loop_timer_set(&late, 60000, on_late, NULL);
	assert_int_equal(loop_run(), 0);
	loop_timer_unset(&late);
}

static void
on_end(void *arg)
{
	(void)arg;
	loop_stop();
}

/* Time for what must not happen. */
static void
pass_time(void)
{
	struct loop_timer end = { 0 };

	loop_timer_set(&end, 50, on_end, NULL);
	assert_int_equal(loop_run(), 0);
}

static void
say_request(uint32_t conn, uint64_t id, enum access access, const char *json)
{
	struct msg_out *o = msg_new(MSG_INST_REQUEST, NULL, conn, id);

	msg_put_u32(o, access);
	msg_put_u32(o, 1000);
	msg_put_bytes(o, json, strlen(json));
	assert_int_equal(chan_send(&spawner, o, -1), 0);
}

/* -- a role ---------------------------------------------------------------- */

static struct op	*kept;
static bool		 allowed = true;
static enum op_fault	 fault;
static char		 detail[100];
static char		 told[200];
static unsigned int	 nfinished, nwent_on, nfreed;
static uint64_t		 noticed;

static void
answer(struct op *op, bool failed, const char *json, size_t len)
{
	if (op->answered)
		return;
	op->answered = true;
	if (op->told != NULL)
		op->told(op, failed, NULL);
	else
		link_reply(&op->ask, failed, json, len);
}

static void
do_look(struct op *op)
{
	struct json_object *v = NULL;

	assert_non_null(op->args);
	(void)json_object_object_get_ex(op->args, "n", &v);
	answer(op, false, json_object_get_int(v) == 5 ? "{\"n\":5}" : "{}",
	    json_object_get_int(v) == 5 ? 7 : 2);
}

static void
do_keep(struct op *op)
{
	kept = op_ref(op);
}

static void
do_forget(struct op *op)
{
	(void)op;
}

static const struct command first[] = {
	{ "look", true, 0, do_look },
	{ "keep", true, 3, do_keep },
	{ .name = NULL }
}, second[] = {
	{ "change", false, 7, do_look },
	{ "forget", true, 0, do_forget },
	{ .name = NULL }
}, *const tables[] = { first, second };

static struct json_object *
parse(const char *text, size_t len, const char **why)
{
	char copy[100];

	assert_true(len < sizeof(copy));
	memcpy(copy, text, len);
	copy[len] = '\0';
	*why = "not JSON";
	return json_tokener_parse(copy);
}

static uint32_t
action(const struct op *op)
{
	return op->command->own;
}

static bool
is_now(struct op *op)
{
	if (!allowed)
		answer(op, true, "{\"not\":\"now\"}", 13);
	return allowed;
}

static void
refuse(struct op *op, enum op_fault f, const char *words)
{
	fault = f;
	(void)snprintf(detail, sizeof(detail), "%s", words);
	answer(op, true, "{}", 2);
}

static const struct op_rules rules = {
	.parse = parse,
	.action = action,
	.is_now = is_now,
	.refuse = refuse,
};

static void
on_ring(int fd)
{
	close(fd);
}

static void
on_notice(uint64_t total)
{
	noticed = total;
}

static void
on_run_failed(const char *code, const char *why)
{
	(void)snprintf(told, sizeof(told), "%s: %s", code, why);
}

static void
on_goes_on(void)
{
	nwent_on++;
}

static int
set_up(void **state)
{
	static const struct link_calls calls = {
		.ask = commands_run,
		.conn_gone = op_conn_gone,
		.ring = on_ring,
		.output_notice = on_notice,
		.run_failed = on_run_failed,
		.goes_on = on_goes_on,
	};
	int pair[2];

	(void)state;
	if (loop_init() == -1 || chan_pair(pair) == -1)
		return -1;
	commands_set(tables, 2, &rules);
	chan_init(&spawner, ROLE_SPAWNER, ROLE_DEBUGGER, on_spawner_gone, NULL);
	link_begin(pair[0], ROLE_DEBUGGER, &calls);
	return chan_open(&spawner, pair[1], 0);
}

static int
begin(void **state)
{
	(void)state;
	seen[0] = '\0';
	npieces = 0;
	allowed = true;
	return 0;
}

/* -- requests -------------------------------------------------------------- */

/* Only the spawner's rule breaks: the process ends, and says so. */
static void
no_request_before_the_greeting(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_false(link_is_greeted());
	pid = fork();
	if (pid == 0) {
		(void)set_up(NULL);
		say_request(1, 1, ACCESS_USE, "{\"command\":\"look\"}");
		settle();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(link_greet());
	assert_false(link_greet());
	assert_true(link_is_greeted());
}

static void
asked(enum access access, const char *json, const char *want)
{
	begin(NULL);
	detail[0] = '\0';
	fault = OP_FAULTS;
	say_request(4, 9, access, json);
	settle();
	assert_string_equal(seen, want);
	assert_int_equal(got_conn, 4);
	assert_int_equal(got_request, 9);
}

static void
requests_are_answered(void **state)
{
	(void)state;
	asked(ACCESS_SEE, "{\"command\":\"look\"}", "R");
	assert_string_equal(got, "{}");
	asked(ACCESS_SEE, "{\"command\":\"look\",\"args\":{\"n\":5}}", "R");
	assert_string_equal(got, "{\"n\":5}");
	assert_int_equal(got_flags, 0);
	/* of the second table, and what the audit log has of it comes first */
	asked(ACCESS_USE, "{\"command\":\"change\"}", "DR");
	assert_int_equal(got_action, 7);
}

static void
requests_are_refused(void **state)
{
	static const struct {
		const char	*json, *want, *detail;
		enum op_fault	 fault;
	} rows[] = {
		{ "{x", "F", "not JSON", OP_UNREAD },
		{ "{}", "F", "", OP_UNNAMED },
		{ "{\"command\":7}", "F", "", OP_UNNAMED },
		{ "{\"command\":\"look\",\"args\":[]}", "F", "", OP_BAD_ARGS },
		{ "{\"command\":\"lok\"}", "F", "lok", OP_UNKNOWN },
		{ "{\"command\":\"change\"}", "DF", "", OP_READ_ONLY },
		{ "{\"command\":\"forget\"}", "F", "", OP_UNANSWERED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		asked(ACCESS_SEE, rows[i].json, rows[i].want);
		assert_int_equal(fault, rows[i].fault);
		assert_string_equal(detail, rows[i].detail);
	}
	begin(NULL);
	allowed = false;
	say_request(4, 9, ACCESS_USE, "{\"command\":\"look\"}");
	settle();
	assert_string_equal(seen, "F");
	assert_string_equal(got, "{\"not\":\"now\"}");
}

static void
on_finished(struct op *op)
{
	(void)op;
	nfinished++;
}

static void
free_data(void *p)
{
	free(p);
	nfreed++;
}

static void
leave(uint32_t conn)
{
	assert_int_equal(chan_send(&spawner, msg_new(MSG_INST_GONE, NULL, conn,
	    0), -1), 0);
	settle();
}

/* The spawner hears that the instrument knows. */
static void
clients_that_leave_get_no_answer(void **state)
{
	(void)state;
	say_request(4, 9, ACCESS_USE, "{\"command\":\"keep\"}");
	settle();
	assert_string_equal(seen, "D");
	kept->finished = on_finished;
	kept->data = malloc(1);
	kept->free_data = free_data;
	leave(5);
	assert_false(kept->answered);
	leave(4);
	assert_string_equal(seen, "DLL");
	assert_int_equal(got_conn, 4);
	assert_true(kept->answered);
	assert_int_equal(nfinished, 1);
	op_unref(kept);
	settle();
	assert_string_equal(seen, "DLL");
	assert_int_equal(nfreed, 1);
}

static void
on_told(struct op *op, bool failed, struct json_object *json)
{
	assert_null(json);
	(void)snprintf(told, sizeof(told), "%s %s", (char *)op->told_data,
	    failed ? "refused" : "done");
}

static void
a_part_asks_as_a_client_may(void **state)
{
	struct ask a = { .conn = 0, .rw = false };
	char who[] = "it";

	(void)state;
	commands_give(&a, "look", NULL, on_told, who);
	assert_string_equal(told, "it done");
	commands_give(&a, "change", json_object_new_object(), on_told, who);
	assert_string_equal(told, "it refused");
	a.rw = true;
	commands_give(&a, "change", NULL, on_told, who);
	assert_string_equal(told, "it done");
	settle();
	assert_string_equal(seen, "DD");
}

static void
waiters_hold_what_waits(void **state)
{
	struct waiters list = TAILQ_HEAD_INITIALIZER(list);
	const struct ask a = { .conn = 1, .id = 2 };
	struct op *one = op_new(&a, NULL, NULL), *two = op_new(&a, NULL, NULL);
	struct waiter *w;

	(void)state;
	w = waiter_add(&list, one);
	(void)waiter_add(&list, two);
	assert_int_equal(one->refs, 2);
	assert_ptr_equal(waiter_of(&list, one), w);
	assert_ptr_equal(waiter_of(&list, two)->op, two);
	waiter_drop(&list, w);
	assert_int_equal(one->refs, 1);
	assert_null(waiter_of(&list, one));
	one->answered = two->answered = true;
	waiter_drop(&list, waiter_of(&list, two));
	assert_true(TAILQ_EMPTY(&list));
	op_unref(one);
	op_unref(two);
}

/* -- the link -------------------------------------------------------------- */

static void
other_messages_come_as_they_went(void **state)
{
	struct msg_out *o;

	(void)state;
	link_arm(0x123456789ULL);
	o = msg_new(MSG_INST_OUTPUT_NOTICE, NULL, 0, 0);
	msg_put_u64(o, 77);
	assert_int_equal(chan_send(&spawner, o, -1), 0);
	o = msg_new(MSG_INST_RUN_FAILED, NULL, 0, 0);
	msg_put_str(o, "busy");
	msg_put_str(o, "not now");
	assert_int_equal(chan_send(&spawner, o, -1), 0);
	settle();
	assert_string_equal(seen, "A");
	assert_true(got_offset == 0x123456789ULL);
	assert_int_equal(noticed, 77);
	assert_string_equal(told, "busy: not now");
}

static void
vectors_have_a_bound(void **state)
{
	char one[] = "one", two[] = "three", three[] = "x";
	char *const v[] = { one, two, three, NULL };
	struct msg_out *o;

	(void)state;
	o = msg_new(MSG_DBG_RUN, NULL, 0, 0);
	assert_true(link_put_vec(o, NULL, 10));
	assert_int_equal(msg_out_len(o), 4);
	assert_true(link_put_vec(o, v, 12));
	assert_int_equal(msg_out_len(o), 4 + 4 + 12);
	/* what does not fit ends it, though what follows would */
	o = msg_new(MSG_DBG_RUN, NULL, 0, 0);
	assert_false(link_put_vec(o, v, 9));
	assert_int_equal(msg_out_len(o), 4 + 4);
	assert_null(link_keep("x", 0));
}

static void
large_answers_go_in_pieces(void **state)
{
	const size_t len = 2 * MSG_PAYLOAD_MAX;
	const struct ask a = { .conn = 3, .id = 8 };
	char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', len);
	text[len - 1] = 'y';
	link_reply(&a, false, text, len);
	settle();
	assert_string_equal(seen, "R");
	assert_int_equal(npieces, 3);
	assert_int_equal(got_len, len);
	assert_memory_equal(got, text, len);
	free(text);
}

/* It asks for no more work than the spawner takes answers. */
static void
a_slow_spawner_is_waited_for(void **state)
{
	const struct ask a = { .conn = 3, .id = 8 };
	const size_t len = (size_t)5 << 20;
	char *text = calloc(1, len);

	(void)state;
	assert_non_null(text);
	assert_false(link_is_full());
	chan_pause(&spawner, true);
	link_reply(&a, false, text, len);
	assert_true(link_is_full());
	say_request(4, 9, ACCESS_USE, "{\"command\":\"look\"}");
	pass_time();
	assert_string_equal(seen, "");
	assert_int_equal(nwent_on, 0);
	chan_pause(&spawner, false);
	settle();
	assert_string_equal(seen, "RR");
	assert_false(link_is_full());
	assert_int_equal(nwent_on, 1);
	free(text);
}

static void
the_last_answer_says_so(void **state)
{
	const struct ask a = { .conn = 3, .id = 8 };

	(void)state;
	link_reply_last();
	link_reply(&a, true, "{}", 2);
	link_bye();
	settle();
	assert_string_equal(seen, "FB");
	assert_int_equal(got_flags, INST_FAILED | INST_LAST);
	free(got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_request_before_the_greeting),
		cmocka_unit_test_setup(requests_are_answered, begin),
		cmocka_unit_test_setup(requests_are_refused, begin),
		cmocka_unit_test_setup(clients_that_leave_get_no_answer, begin),
		cmocka_unit_test_setup(a_part_asks_as_a_client_may, begin),
		cmocka_unit_test_setup(waiters_hold_what_waits, begin),
		cmocka_unit_test_setup(other_messages_come_as_they_went, begin),
		cmocka_unit_test_setup(vectors_have_a_bound, begin),
		cmocka_unit_test_setup(large_answers_go_in_pieces, begin),
		cmocka_unit_test_setup(a_slow_spawner_is_waited_for, begin),
		cmocka_unit_test_setup(the_last_answer_says_so, begin),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
