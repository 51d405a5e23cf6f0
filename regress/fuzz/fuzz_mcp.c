/* SPDX-License-Identifier: ISC */
/* links: netproc/mcp/mcp.c netproc/mcp/mcp_rpc.c netproc/mcp/mcp_tools.c netproc/mcp/mcp_call.c netproc/mcp/mcp_pending.c netproc/text/jsonwalk.c netproc/text/jsonlex.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/line.c common/base/errors.c common/wire/label.c common/base/utc.c common/base/base64.c common/base/utf8.c */
/* covers: netproc/mcp/mcp.c netproc/mcp/mcp_rpc.c netproc/mcp/mcp_call.c netproc/mcp/mcp_pending.c netproc/text/jsonwalk.c */
/*
 * Fuzz target of the Model Context Protocol: what a client may say, by the
 * command and by HTTP, and what a tracer may answer.  The first byte says
 * which, and whether there are several messages, with a NUL between them, and
 * many other people.  The answer must be JSON-RPC on one line, whatever is
 * said.
 */
#include <json-c/json.h>

#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"

#include "netproc/text/jsonlex.h"
#include "regress/unit/test_mcp_rig.h"

static bool	fails;

/* json-c reads the same as we do, where it is strict enough. */
static void
check_same(const char *p, size_t len)
{
	struct json_tokener *t = json_tokener_new_ex(128);
	struct json_object *o;
	struct word v = json_whole(p, len);

	must(t != NULL);
	must(v.p >= p && v.len > 0 && v.p + v.len <= p + len);
	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(t, v.p, (int)v.len);
	if (json_kind(&v) == '{' && json_tokener_get_error(t) ==
	    json_tokener_success)
		/* of two members of one name the last is left */
		must(json_object_object_length(o) <= (int)json_count(&v));
	if (json_kind(&v) == '[' && json_tokener_get_error(t) ==
	    json_tokener_success)
		must(json_object_array_length(o) == json_count(&v));
	json_object_put(o);
	json_tokener_free(t);
}

static void
check_one(struct word *answer)
{
	struct word v, other;

	must(json_kind(answer) == '{');
	must(json_member(answer, "jsonrpc", &v) == JSON_ONE &&
	    json_says(&v, "2.0"));
	must(json_member(answer, "id", &v) == JSON_ONE);
	must(json_kind(&v) == '"' || json_kind(&v) == '0' ||
	    json_kind(&v) == 'n');
	must((json_member(answer, "result", &v) == JSON_ONE) !=
	    (json_member(answer, "error", &other) == JSON_ONE));
}

static void
check_answer(void)
{
	struct word v, item;
	struct json_walk w;

	must(said_close && the_conn.mcp == NULL);
	if (said.len == 0) {
		must(said_status == 202);
		return;
	}
	if (said.len > 16 && memcmp(said.p, "invalid_argument", 16) == 0)
		return;
	if (fails && said.len > 8 && memcmp(said.p, "internal", 8) == 0)
		return;
	must(memchr(said.p, '\n', said.len) == NULL || will_answer != NULL);
	must(jsonlex_value(said.p, said.len) == NULL);
	v = json_whole(said.p, said.len);
	if (json_kind(&v) == 'n')
		return;
	if (json_kind(&v) != '[') {
		check_one(&v);
		return;
	}
	json_walk(&w, &v);
	while (json_walk_item(&w, &item))
		check_one(&item);
}

static void
from_client(const char *p, size_t len, bool web, unsigned int how)
{
	static const char *const versions[] = { NULL, "2025-06-18",
	    "2026-07-28", "x" };

	will_answer = how & 4 ? "{\"a\":[1]}" : "{\"code\":\"X\"}";
	will_fail = (how & 4) == 0;
	will_err = how & 8 ? ERR_TRY_AGAIN : ERR_OK;
	if (jsonlex_value(p, len) == NULL)
		check_same(p, len);
	if (!web && (len == 0 || p[0] != '{'))
		return;
	fault_begin();
	if (web)
		rig_post(p, len, versions[how & 3], "tools/call",
		    "debug_query");
	else
		rig_line(p, len);
	fault_end();
	check_answer();
}

#define PEOPLE	64

static void
forget(const struct owner *o)
{
	struct text had;

	pending_had(o, &had);
	pending_done(o, &had);
	text_free(&had);
}

/* Gives each user a pattern that waits for a program, or drops it. */
static void
crowd(bool come)
{
	static const char list[] = "[\"f*\"]";
	struct owner o = { .uid = 2000 };
	struct word all = { list, sizeof(list) - 1 }, none = { list, 0 };

	for (; o.uid < 2000 + PEOPLE; o.uid++)
		if (!come)
			forget(&o);
		else
			must(pending_change(&o, &all, &none) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end;
	struct input in, one;
	unsigned int how;
	char *p;

	/* what is said is kept in a text of ours */
	fault_never = 1U << FAULT_REALLOC;
	fails = fault_plan(&data, &size);
	if (size == 0 || size > LINE_MAX_BYTES)
		return 0;
	how = data[0];
	crowd((how & 64) != 0);
	in = (struct input){ data + 1, size - 1 };
	do {
		end = how & 32 ? memchr(in.p, '\0', in.left) : NULL;
		one = take_part(&in, end == NULL ? in.left :
		    (size_t)(end - in.p));
		if (end != NULL)
			(void)take_u8(&in);
		/* of its own, so that a byte too many is noticed */
		p = copy_of(one.p, one.left, false);
		from_client(p, one.left, (how & 16) != 0, how);
		free(p);
	} while (in.left > 0);
	forget(&the_owner);
	crowd(false);
	return 0;
}
