/* SPDX-License-Identifier: ISC */
/* links: debugger/editor/dapserver.c debugger/editor/dapreq.c debugger/editor/dapcheck.c debugger/editor/dapset.c debugger/editor/dapbps.c debugger/editor/dapout.c debugger/editor/dapwarn.c debugger/view/misread.c debugger/dap/repl.c inst/op.c inst/waiters.c debugger/base/op.c debugger/text/redact.c debugger/text/copy.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c debugger/base/format.c debugger/base/command.c debugger/base/debuggee.c debugger/stop/wait.c debugger/text/codec.c common/wire/debugger_audit.c common/base/log.c common/base/loop.c common/wire/ring.c debugger/text/clean.c common/base/base64.c common/base/utf8.c */
/* covers: debugger/editor/dapserver.c debugger/editor/dapreq.c debugger/editor/dapcheck.c debugger/editor/dapset.c debugger/editor/dapbps.c debugger/editor/dapout.c inst/op.c debugger/base/op.c debugger/base/command.c debugger/text/codec.c */
/*
 * Fuzz target of the editors' side of a debugger: each line of the input is a
 * request of a client, or begins with a byte that says what else happens: an
 * editor's message or end, an answer of the adapter, output, a stop, time.  The
 * adapter and what sets breakpoints are played here.  Every request has one
 * answer, and each is JSON.
 */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FUZZ_CLOCK
#define FUZZ_LOOP
#include "regress/fuzz/fuzz.h"

#include "debugger/base/command.h"
#include "debugger/base/op.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/catch.h"
#include "debugger/bps/watch.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/editor/dapserver.h"
#include "debugger/run/exec.h"
#include "debugger/stop/summary.h"
#include "debugger/stop/wait.h"
#include "debugger/text/codec.h"
#include "debugger/view/looks.h"
#include "debugger/view/set_value.h"

#define ASKS	16
#define POINTS	8

static unsigned int	asked, answered;
static uint8_t		mood;		/* of what is played here */

/* -- the adapter ----------------------------------------------------------- */

static struct {
	dap_fn	 fn;
	void	*arg;
} asks[ASKS];
static size_t	nasks;

static void
answer_adapter(struct json_object *body, bool ok)
{
	const struct dap_answer a = { .ok = ok, .code = "adapter_error",
	    .message = "so it says", .body = body };

	if (nasks == 0)
		return;
	nasks--;
	asks[nasks].fn(NULL, &a, asks[nasks].arg);
}

void
adapter_ask(const char *request, struct json_object *args, struct op *op,
    dap_fn fn, void *arg)
{
	must(request != NULL && op == NULL);
	json_object_put(args);
	if (nasks == ASKS)
		answer_adapter(NULL, false);
	asks[nasks].fn = fn;
	asks[nasks++].arg = arg;
}

bool
adapter_can(const char *what)
{
	return (mood & 1) != 0 && what != NULL;
}

/* -- breakpoints and catchpoints ------------------------------------------- */

static struct bp	points[POINTS];
static size_t		npoints;
static int64_t		last_id;

size_t
bps_count(void)
{
	return npoints;
}

struct bp *
bps_at(size_t i)
{
	return &points[i];
}

struct bp *
bps_find(int64_t id)
{
	size_t i;

	for (i = 0; i < npoints; i++)
		if (points[i].id == id)
			return &points[i];
	return NULL;
}

const struct catch_kind catch_kinds[] = {
	{ "throw", "thrown", true }, { "panic", "panics", false },
	{ .name = NULL }
};

bool
catch_possible(const char *kind)
{
	return (mood & 2) == 0 || *kind == 't';
}

const char *
catch_kind_of(const char *filter)
{
	return strcmp(filter, "cpp_throw") == 0 ? "throw" : filter;
}

const char *
catch_message(int64_t id)
{
	return id % 2 == 0 ? NULL : "no such filter";
}

bool
catch_there(int64_t id, bool *verified)
{
	*verified = (mood & 4) != 0;
	return id % 2 == 0;
}

static void
say_id(struct op *op, const char *name)
{
	struct json_object *o = json_object_new_object(),
	    *inner = json_object_new_object();

	json_object_object_add(inner, "id", json_object_new_int64(last_id));
	json_object_object_add(o, name, inner);
	op_reply(op, o);
}

static void
add(struct op *op)
{
	const char *file = NULL, *function = NULL, *text = NULL;
	int64_t line = 0;

	last_id++;
	if (!op_string(op, "file", false, &file) ||
	    !op_int(op, "line", false, &line) ||
	    !op_string(op, "condition", false, &text) ||
	    !op_string(op, "function", false, &function))
		return;
	if (npoints == POINTS || (mood & 8)) {
		op_fail(op, "busy", "no room for %s", file == NULL ? "it" :
		    file);
		return;
	}
	points[npoints++] = (struct bp){ .id = last_id, .line = line,
	    .verified = last_id % 2 == 0, .hit = true,
	    .actual_line = last_id % 3 };
	say_id(op, "breakpoint");
}

static void
remove_one(struct op *op)
{
	int64_t id = 0;
	struct bp *bp;

	if (!op_int(op, "id", true, &id))
		return;
	if ((bp = bps_find(id)) == NULL) {
		op_fail(op, "no_such", "there is none");
		return;
	}
	*bp = points[--npoints];
	op_reply(op, json_object_new_object());
}

static void
add_catch(struct op *op)
{
	const char *type = NULL;

	last_id++;
	if (op_string(op, "type", false, &type))
		say_id(op, "catchpoint");
}

static void
done(struct op *op)
{
	bool flag = false;

	if (op_bool(op, "wait", &flag))
		op_reply(op, json_object_new_object());
}

static void
stopped_only(struct op *op)
{
	uint64_t ms;

	if (op_stopped(op) && wait_limit(op, true, &ms))
		wait_add(op, dbg.epoch, ms);
}

static void
forgets(struct op *op)
{
	const struct dap_answer a = { .code = "x", .message = NULL };

	if (mood & 16)
		op_fail_dap(op, &a);
}

const struct command exec_commands[] = {
	{ "continue", false, ON_STOPPED, done },
	{ "next", false, ON_STOPPED, done },
	{ "step", false, ON_STOPPED, done },
	{ "finish", false, ON_STOPPED, done },
	{ "pause", false, ON(PHASE_RUNNING), done },
	{ "restart", false, ON_ANY, done },
	{ "stop", false, ON_ANY, done },
	{ "await", true, ON_ANY, stopped_only },
	{ "start", false, ON(PHASE_IDLE) | ON(PHASE_TERMINATED), done },
	{ .name = NULL }
};
const struct command bp_commands[] = {
	{ "breakpoint_add", false, ON_ANY, add },
	{ "breakpoint_remove", false, ON_ANY, remove_one },
	{ .name = NULL }
};
const struct command catch_commands[] = {
	{ "catch_add", false, ON_ANY, add_catch },
	{ "catch_remove", false, ON_ANY, done },
	{ .name = NULL }
};
const struct command look_commands[] = {
	{ "status", true, ON_ANY, forgets },
	{ .name = NULL }
};
const struct command print_commands[] = { { .name = NULL } };
const struct command set_commands[] = { { .name = NULL } };
const struct command machine_commands[] = { { .name = NULL } };
const struct command memory_commands[] = { { .name = NULL } };
const struct command source_commands[] = { { .name = NULL } };
const struct command watch_commands[] = { { .name = NULL } };

static const struct command *const tables[] = {
	exec_commands, bp_commands, watch_commands, catch_commands,
	look_commands, source_commands, print_commands, set_commands,
	memory_commands, machine_commands, dap_commands,
};

static const char *
over_words(bool looks)
{
	return looks || (mood & 32) != 0 ? "it has ended" : "nothing is there";
}

struct json_object *
summary_make(struct op *op)
{
	(void)op;
	return json_object_new_object();
}

const struct dialect *
dialect(void)
{
	static struct dialect d;

	d.expression_prefix = mood & 64 ? "/nat " : NULL;
	return &d;
}

struct assignment {
	set_value_fn	 fn;
	void		*arg;
};

static void
on_assigned(struct op *op, const struct dap_answer *a, void *arg)
{
	struct assignment *x = arg;
	const struct set_value v = { a->ok ? NULL : "evaluate_failed",
	    a->message, "1", "2", "int" };

	x->fn(op, &v, x->arg);
	free(x);
}

bool
set_value_can(void)
{
	return dialect()->expression_prefix != NULL;
}

void
set_value(struct op *op, int64_t frame, const char *target, const char *value,
    set_value_fn fn, void *arg)
{
	struct assignment *x = calloc(1, sizeof(*x));

	must(x != NULL && target != NULL && value != NULL);
	(void)frame;
	*x = (struct assignment) { fn, arg };
	adapter_ask("evaluate", json_object_new_object(), op, on_assigned, x);
}

/* -- the link -------------------------------------------------------------- */

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	const char *why = NULL;
	struct json_object *o = codec_parse(json, len, &why), *v;

	must(a->conn != 0 && a->id <= asked);
	must(json_object_is_type(o, json_type_object));
	must(!failed || json_object_object_get_ex(o, "message", &v));
	json_object_put(o);
	answered++;
}

void
link_does(const struct ask *a, uint32_t action)
{
	(void)a;
	must(dbg_action_name((enum dbg_action)action) != NULL);
}

static bool	armed;

void
link_arm(uint64_t offset)
{
	(void)offset;
	armed = true;
}

/* -- the input ------------------------------------------------------------- */

static void
ask(struct input line, uint32_t conn)
{
	struct ask a = { .conn = conn, .id = ++asked, .uid = 1000,
	    .rw = conn != 3 };
	char *text = copy_of(line.p, line.left, false);

	commands_run(&a, text, line.left);
	free(text);
}

/* An editor's message, without what is around it. */
static void
send_message(struct input line)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "{\"command\":\"dap_send\","
	    "\"args\":{\"client\":%lld,\"message\":%.*s}}",
	    LIST_EMPTY(&editors) ? 0LL :
	    (long long)LIST_FIRST(&editors)->id, (int)line.left, line.p);
	struct input whole = { (const uint8_t *)text, (size_t)n <
	    sizeof(text) ? (size_t)n : sizeof(text) - 1 };

	ask(whole, 1);
}

static void
close_first(void)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "{\"command\":\"dap_close\","
	    "\"args\":{\"client\":%lld}}", LIST_EMPTY(&editors) ? 0LL :
	    (long long)LIST_FIRST(&editors)->id);

	ask((struct input){ (const uint8_t *)text, (size_t)n }, 1);
}

/* An editor fetches messages; a timeout in seconds stands in the line. */
static void
receive(struct input line)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "{\"command\":\"dap_receive\","
	    "\"args\":{\"client\":%lld,\"timeout_s\":%u}}",
	    LIST_EMPTY(&editors) ? 0LL : (long long)LIST_FIRST(&editors)->id,
	    take_u8(&line) % 64U);
	struct input whole = { (const uint8_t *)text, (size_t)n };

	ask(whole, 2);
}

static struct json_object *
parse(struct input line)
{
	const char *why = NULL;

	return codec_parse((const char *)line.p, line.left, &why);
}

static void
write_output(struct input line, uint32_t stream)
{
	struct iovec iov[2];
	size_t n;

	if (line.left == 0)
		return;
	(void)ring_space(&dbg.ring, line.left, iov);
	n = iov[0].iov_len < line.left ? iov[0].iov_len : line.left;
	memcpy(iov[0].iov_base, line.p, n);
	ring_commit(&dbg.ring, n, stream);
	if (armed) {
		armed = false;
		dap_output();
	}
}

/* So much that nobody keeps up. */
static void
flood(struct input line)
{
	static const uint8_t kib[1024] = { 'x', '\n' };
	unsigned int n = take_u8(&line);

	for (; n > 0; n--)
		write_output((struct input){ kib, sizeof(kib) }, 1 + n % 2);
}

/* More than a line holds: so many KiB, of a category or of none. */
static struct json_object *
big_output(struct input line)
{
	struct json_object *o = json_object_new_object();
	static char text[255 << 10];
	size_t n = (size_t)take_u8(&line) << 10;

	memset(text, 'x', n);
	json_object_object_add(o, "output", json_object_new_string_len(text,
	    (int)n));
	if (line.left > 0)
		json_object_object_add(o, "category",
		    json_object_new_string_len((const char *)line.p,
		    (int)line.left));
	return o;
}

static void
set_phase(uint8_t how)
{
	static const char *const reasons[] = { NULL, "breakpoint", "signal",
	    "watchpoint", "until", "step" };

	dbg.phase = how % PHASE_COUNT;
	dbg.epoch++;
	dbg.gathering = (how & 64) != 0;
	dbg.stop.reason = reasons[how / 8 % 6];
	dbg.ending.known = (how & 8) != 0;
	dbg.ending.signal = how & 16 ? 11 : 0;
	(void)snprintf(dbg.stop.description, sizeof(dbg.stop.description),
	    how & 32 ? "d" : "");
	wait_settle();
	dap_phase();
}

static void
act(uint8_t what, struct input line)
{
	struct json_object *o;

	switch (what) {
	case 'm':
		send_message(line);
		break;
	case 'r':
		receive(line);
		break;
	case 'a':
	case 'A':
		o = parse(line);
		answer_adapter(o, what == 'a');
		json_object_put(o);
		break;
	case 'e':
		if ((o = parse(line)) != NULL)
			dap_event(json_object_get_type(o) ==
			    json_type_object ? "output" : "module", o);
		json_object_put(o);
		break;
	case 'b':
		o = big_output(line);
		dap_event("output", o);
		json_object_put(o);
		break;
	case 'B':
		o = big_output(line);
		answer_adapter(o, true);
		json_object_put(o);
		break;
	case 'c':
		close_first();
		break;
	case 'd':
		dap_end();
		break;
	case 'o':
	case 'E':
		write_output(line, what == 'o' ? 1 : 2);
		break;
	case 'F':
		flood(line);
		break;
	case 'p':
		set_phase(take_u8(&line));
		break;
	case 't':
		turn(take_u8(&line) * 300U);
		break;
	case 'g':
		op_conn_gone(1 + take_u8(&line) % 3U);
		break;
	case 'n':
		dap_new_output();
		break;
	case 'f':
		mood = take_u8(&line);
		break;
	default:
		break;
	}
}

/* Events tell of all that runs here. */
static void
no_look(void)
{
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	quiet();
	must(loop_init() == 0 && ring_create(&dbg.ring, 65536) == 0);
	wait_init(60, 60);
	debugger_commands(tables, sizeof(tables) / sizeof(tables[0]),
	    over_words, no_look);
	debuggee_on_touched(dap_phase);
	return 0;
}

/* Ends all requests and editors: nothing of theirs may be left. */
static void
clean_up(void)
{
	unsigned int i;

	while (nasks > 0)
		answer_adapter(NULL, false);
	for (i = 0; i < 3; i++)
		op_conn_gone(1 + i);
	for (i = 0; i < 4; i++)
		turn(70000);
	while (nasks > 0)
		answer_adapter(NULL, false);
	must(LIST_EMPTY(&editors));
	npoints = 0;
	last_id = 0;
	mood = 0;
	ring_close(&dbg.ring);
	must(ring_create(&dbg.ring, 65536) == 0);
	dap_new_output();
	dbg.phase = PHASE_IDLE;
	dbg.gathering = false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len }, line;
	const uint8_t *nl;
	unsigned int lines = 0;

	asked = answered = 0;
	for (; in.left > 0 && lines < 200; lines++) {
		nl = memchr(in.p, '\n', in.left);
		line = take_part(&in, nl == NULL ? in.left :
		    (size_t)(nl - in.p));
		if (nl != NULL)
			(void)take_u8(&in);
		if (line.left > 0 && line.p[0] == '{')
			ask(line, 1);
		else
			act(take_u8(&line), line);
		turn(1);
	}
	must(answered <= asked);
	clean_up();
	return 0;
}
