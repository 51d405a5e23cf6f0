/* SPDX-License-Identifier: ISC */
/* The Model Context Protocol: messages, revisions, tools and their errors. */
/* links: netproc/mcp/mcp.c netproc/mcp/mcp_rpc.c netproc/mcp/mcp_tools.c netproc/mcp/mcp_call.c netproc/mcp/mcp_pending.c netproc/text/jsonwalk.c netproc/text/jsonlex.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/line.c common/base/base64.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "netproc/text/jsonlex.h"
#include "test_mcp_rig.h"

#define MODERN	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" \
		"\"2026-07-28\",\"io.modelcontextprotocol/" \
		"clientCapabilities\":{}}"
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct json_object *answer;

/* Parses the answer, which is one JSON value on one line. */
static void
parsed(void)
{
	assert_true(said_close);
	assert_null(the_conn.mcp);
	json_object_put(answer);
	answer = NULL;
	if (said.len == 0)
		return;
	assert_null(memchr(said.p, '\n', said.len));
	assert_null(jsonlex_value(said.p, said.len));
	text_put(&said, "", 1);
	answer = json_tokener_parse(said.p);
}

static void
line(const char *version, const char *message)
{
	static char text[160 * 1024];

	(void)snprintf(text, sizeof(text), "{%s%s%s\"message\":%s}",
	    version != NULL ? "\"protocolVersion\":\"" : "", version != NULL ?
	    version : "", version != NULL ? "\"," : "", message);
	rig_line(text, strlen(text));
	if (said_close)
		parsed();
}

static void
ask(const char *version, const char *method, const char *params)
{
	static char text[128 * 1024];

	(void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"method\":\"%s\",\"params\":{%s}}", method, params);
	line(version, text);
}

static void
call(const char *version, const char *tool, const char *arguments)
{
	static char text[120 * 1024];

	(void)snprintf(text, sizeof(text), "\"name\":\"%s\",\"arguments\":"
	    "{%s}%s", tool, arguments, version == NULL ? "," MODERN : "");
	ask(version, "tools/call", text);
}

/* A member by its path, "a.b.0". */
static struct json_object *
at(const char *path)
{
	struct json_object *o = answer;
	char part[64];
	size_t n;

	while (o != NULL && *path != '\0') {
		n = strcspn(path, ".");
		(void)snprintf(part, sizeof(part), "%.*s", (int)n, path);
		path += n + (path[n] == '.');
		if (json_object_is_type(o, json_type_array))
			o = json_object_array_get_idx(o,
			    strtoul(part, NULL, 10));
		else if (!json_object_object_get_ex(o, part, &o))
			o = NULL;
	}
	return o;
}

static const char *
text_at(const char *path)
{
	const char *s = json_object_get_string(at(path));

	return s == NULL ? "(none)" : s;
}

static void
says(const char *path, const char *want)
{
	if (strcmp(text_at(path), want) != 0)
		fail_msg("%s is %s, not %s", path, text_at(path), want);
}

static void
tells(const char *path, const char *want)
{
	if (strstr(text_at(path), want) == NULL)
		fail_msg("\"%s\" is not in %s: %s", want, path,
		    text_at(path));
}

/* -- JSON where it lies --------------------------------------------------- */

static const struct {
	const char	*text;
	bool		 good;
} values[] = {
	{ "{}", true }, { " [1, 2.5e3 ,\"a\"]\n", true }, { "\"x\"", true },
	{ "null", true }, { "-0", true }, { "{\"a\":{\"b\":[[],{}]}}", true },
	{ "", false }, { " ", false }, { "{", false }, { "[1,]", false },
	{ "[,1]", false }, { "{\"a\"}", false }, { "{\"a\":}", false },
	{ "{\"a\":1,}", false }, { "{1:2}", false }, { "{}{}", false },
	{ "[}", false }, { "{\"a\":1]", false }, { "1 2", false },
	{ "[1 2]", false }, { "{\"a\" 1}", false }, { "nul", false },
	{ "[\"a\":1]", false }, { ",", false }, { ":", false }, { "]", false },
	{ "{\"a\"::1}", false }, { "\"\\x\"", false }, { "\"a", false },
	{ "{\"a\":1 \"b\":2}", false }, { "01", false }, { "\"\x01\"", false },
};

static void
values_are_strict(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(values); i++)
		if ((jsonlex_value(values[i].text, strlen(values[i].text)) ==
		    NULL) != values[i].good)
			fail_msg("%s", values[i].text);
}

static void
walks(void **state)
{
	static const char text[] = " { \"a\" : [1, {\"x\":\"]\\\"\"} ,null],\n"
	    "\"\\u0062\":\"\\ud83d\\ude00\\n\\u00e9\", \"c\":-1.5,\"c\":{} } ";
	struct word o = json_whole(text, sizeof(text) - 1), v, item;
	struct json_walk w;
	char buf[16];

	(void)state;
	assert_null(jsonlex_value(text, sizeof(text) - 1));
	assert_int_equal(json_kind(&o), '{');
	assert_int_equal(json_count(&o), 4);
	assert_int_equal(json_member(&o, "a", &v), JSON_ONE);
	assert_int_equal(json_count(&v), 3);
	json_walk(&w, &v);
	assert_true(json_walk_item(&w, &item) && word_is(&item, "1"));
	assert_true(json_walk_item(&w, &item) &&
	    word_is(&item, "{\"x\":\"]\\\"\"}"));
	assert_true(json_walk_item(&w, &item) && word_is(&item, "null"));
	assert_false(json_walk_item(&w, &item));
	assert_int_equal(json_member(&o, "b", &v), JSON_ONE);
	assert_true(json_says(&v, "😀\né"));
	assert_false(json_says(&v, "😀\n"));
	assert_int_equal(json_unquote(&v, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "😀\né");
	assert_int_equal(json_unquote(&v, buf, 7), SIZE_MAX);
	assert_int_equal(json_unquote(&v, buf, 8), 7);
	assert_int_equal(json_member(&o, "c", &v), JSON_TWICE);
	assert_int_equal(json_member(&o, "d", &v), JSON_NONE);
	assert_int_equal(json_member(&item, "d", &v), JSON_NONE);
}

/* -- JSON-RPC ------------------------------------------------------------- */

static const struct {
	const char	*message;
	const char	*code, *id;
} wrong[] = {
	{ "[", "-32700", "(none)" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},5", "-32700",
	    "(none)" },
	{ "5", "-32600", "(none)" }, { "null", "-32600", "(none)" },
	{ "{}", "-32600", "(none)" }, { "[]", "-32600", "(none)" },
	{ "{\"id\":1}", "-32600", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", "-32600", "1" },
	{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600", "1" },
	{ "{\"id\":\"a\",\"method\":\"ping\"}", "-32600", "a" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600",
	    "(none)" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600",
	    "(none)" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600",
	    "(none)" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
	    "-32600", "(none)" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"method\":\"b\"}",
	    "-32600", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
	    "-32602", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", "-32601", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
	    "-32601", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", "-32602",
	    "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", "-32602",
	    "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"
	    "{\"cursor\":\"x\"}}", "-32602", "1" },
};

static void
what_is_wrong(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		line(NULL, wrong[i].message);
		if (strcmp(text_at("error.code"), wrong[i].code) != 0 ||
		    strcmp(text_at("id"), wrong[i].id) != 0)
			fail_msg("%s: %s", wrong[i].message, said.p);
		says("jsonrpc", "2.0");
	}
}

static void
never_answered(void **state)
{
	static const char *const messages[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":"
		    "{\"name\":\"debug_stop\",\"arguments\":"
		    "{\"sessionId\":\"here\"}}}",
		"{\"method\":\"x\",\"params\":5}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}",
		"[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},"
		    "{\"jsonrpc\":\"2.0\",\"method\":\"b\"}]",
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(messages); i++) {
		line(NULL, messages[i]);
		assert_string_equal(said.p, "null");
		assert_string_equal(asked, "");
		rig_post(messages[i], strlen(messages[i]), NULL, NULL, NULL);
		parsed();
		assert_int_equal(said.len, 0);
		assert_int_equal(said_status, 202);
	}
}

static void
ids_come_back(void **state)
{
	static const char *const ids[] = { "0", "-5", "\"\"", "\"a\\u00e9\\n\"",
		"123456789012345678901234567890" };
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(ids); i++) {
		(void)snprintf(text, sizeof(text), "{\"id\":%s,\"jsonrpc\":"
		    "\"2.0\",\"method\":\"ping\"}", ids[i]);
		line(NULL, text);
		(void)snprintf(text, sizeof(text),
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i]);
		assert_string_equal(said.p, text);
	}
}

static void
batches(void **state)
{
	static const char two[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	    "\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},5,{\"jsonrpc\":"
	    "\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-03-26\"}}]";
	char many[8192] = "[1";
	size_t i;

	(void)state;
	line("2025-03-26", two);
	assert_int_equal(json_object_array_length(answer), 3);
	says("0.id", "1");
	says("0.result", "{ }");
	says("1.error.code", "-32600");
	says("2.error.code", "-32600");
	tells("2.error.message", "batch");
	line("2025-11-25", two);
	says("error.code", "-32600");
	tells("error.message", "2025-03-26");
	for (i = 0; i < 64; i++)
		strcat(many, ",1");
	line(NULL, strcat(many, "]"));
	says("error.code", "-32600");
}

/* Calls of a batch are answered one after the other, also when they wait. */
static void
batches_wait(void **state)
{
	(void)state;
	will_answer = NULL;
	line("2025-03-26", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	    "\"tools/call\",\"params\":{\"name\":\"debug_query\",\"arguments\":"
	    "{\"sessionId\":\"here\"}}},{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
	    "\"tools/call\",\"params\":{\"name\":\"debug_stop\",\"arguments\":"
	    "{\"sessionId\":\"here\"}}}]");
	assert_false(said_close);
	assert_non_null(strstr(asked, "\"query\""));
	will_answer = "{\"events\":[]}";
	rig_answer(&the_conn);
	parsed();
	assert_int_equal(json_object_array_length(answer), 3);
	says("0.id", "1");
	says("1.id", "2");
	says("2.id", "3");
	assert_non_null(strstr(asked, "\"stop\""));
}

/* A client that goes while it waits leaves nothing. */
static void
goes_away(void **state)
{
	(void)state;
	will_answer = NULL;
	call("2025-11-25", "debug_query", "\"sessionId\":\"here\"");
	assert_false(said_close);
	rig_end(&the_conn);
	rig_end(&the_conn);
	assert_null(the_conn.mcp);
}

/* -- revisions ------------------------------------------------------------ */

static void
handshakes(void **state)
{
	static const struct {
		const char	*asked, *got;
	} rows[] = {
		{ "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
		{ "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
		/* has none; and what nobody knows */
		{ "2026-07-28", "2025-11-25" }, { "1900-01-01", "2025-11-25" },
		{ "", "2025-11-25" },
	};
	char params[128];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		(void)snprintf(params, sizeof(params),
		    "\"protocolVersion\":\"%s\"", rows[i].asked);
		ask(NULL, "initialize", params);
		says("result.protocolVersion", rows[i].got);
		says("result.serverInfo.name", "debuglantern");
		assert_non_null(at("result.capabilities.tools"));
		assert_null(at("result.resultType"));
		assert_true((at("result.serverInfo.title") != NULL) ==
		    (strcmp(rows[i].got, "2025-06-18") >= 0));
	}
}

static void
without_handshake(void **state)
{
	(void)state;
	ask(NULL, "server/discover", MODERN);
	says("result.resultType", "complete");
	assert_int_equal(json_object_array_length(
	    at("result.supportedVersions")), 5);
	says("result.supportedVersions.0", "2026-07-28");
	says("result.cacheScope", "public");
	assert_non_null(at("result._meta"));
	ask(NULL, "server/discover", "");
	says("error.code", "-32602");
	/* these are of the other time */
	ask(NULL, "ping", MODERN);
	says("error.code", "-32601");
	ask("2025-11-25", "ping", "");
	says("result", "{ }");
	ask(NULL, "tools/list", "\"_meta\":{\"io.modelcontextprotocol/"
	    "protocolVersion\":\"2026-07-28\"}");
	says("error.code", "-32602");
	tells("error.message", "clientCapabilities");
	ask(NULL, "tools/list", "\"_meta\":{\"io.modelcontextprotocol/"
	    "protocolVersion\":\"2030-01-01\",\"io.modelcontextprotocol/"
	    "clientCapabilities\":{}}");
	says("error.code", "-32022");
	says("error.data.requested", "2030-01-01");
	assert_int_equal(json_object_array_length(at("error.data.supported")),
	    5);
	/* other metadata are nobody's business */
	ask("2025-06-18", "tools/list", "\"_meta\":{\"progressToken\":1}");
	assert_non_null(at("result.tools"));
	assert_null(at("result.resultType"));
}

static void
lists(void **state)
{
	static const struct {
		const char	*version;
		bool		 title, output, hints, modern;
	} rows[] = {
		{ "2024-11-05", false, false, false, false },
		{ "2025-03-26", false, false, true, false },
		{ "2025-06-18", true, true, true, false },
		{ "2025-11-25", true, true, true, false },
		{ NULL, true, true, true, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		ask(rows[i].version, "tools/list", rows[i].modern ? MODERN :
		    "");
		assert_int_equal(json_object_array_length(at("result.tools")),
		    4);
		says("result.tools.0.name", "debug_launch");
		says("result.tools.0.inputSchema.additionalProperties",
		    "false");
		assert_true((at("result.tools.1.title") != NULL) ==
		    rows[i].title);
		assert_true((at("result.tools.2.outputSchema") != NULL) ==
		    rows[i].output);
		assert_true((at("result.tools.3.annotations") != NULL) ==
		    rows[i].hints);
		assert_true((at("result.ttlMs") != NULL) == rows[i].modern);
	}
	says("result.tools.2.annotations.readOnlyHint", "true");
	says("result.tools.3.annotations.destructiveHint", "true");
	says("result.tools.2.inputSchema.properties.limit.maximum", "500");
	says("result.tools.0.inputSchema.required",
	    "[ \"command\", \"projectRoot\" ]");
}

/* -- HTTP ----------------------------------------------------------------- */

#define PING_1	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define STOP	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," \
		"\"params\":{\"name\":\"debug_stop\",\"arguments\":" \
		"{\"sessionId\":\"here\"}," MODERN "}}"
#define DISCOVER "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":" \
		"\"server/discover\",\"params\":{" MODERN "}}"

static const struct {
	const char	*body, *version, *method, *name;
	unsigned int	 status;
	const char	*code;		/* "(none)" = a result */
} posts[] = {
	{ PING_1, NULL, NULL, NULL, 200, "(none)" },
	{ PING_1, "2025-06-18", NULL, NULL, 200, "(none)" },
	{ " " PING_1 "\r\n", "2025-11-25", NULL, NULL, 200, "(none)" },
	{ "[" PING_1 "]", NULL, NULL, NULL, 200, "(none)" },
	{ "[" PING_1 "]", "2025-06-18", NULL, NULL, 400, "-32600" },
	{ PING_1, "1900-01-01", NULL, NULL, 400, "-32022" },
	{ PING_1, "", NULL, NULL, 400, "-32022" },
	{ "", NULL, NULL, NULL, 400, "-32700" },
	{ "{", NULL, NULL, NULL, 400, "-32700" },
	{ "5", NULL, NULL, NULL, 400, "-32600" },
	{ PING_1, "2026-07-28", "ping", NULL, 400, "-32602" },
	{ DISCOVER, "2026-07-28", "server/discover", NULL, 200, "(none)" },
	{ DISCOVER, "2026-07-28", NULL, NULL, 400, "-32020" },
	{ DISCOVER, "2026-07-28", "tools/list", NULL, 400, "-32020" },
	{ DISCOVER, "2025-11-25", "server/discover", NULL, 400, "-32020" },
	{ DISCOVER, NULL, "server/discover", NULL, 400, "-32020" },
	{ STOP, "2026-07-28", "tools/call", "debug_stop", 200, "(none)" },
	{ STOP, "2026-07-28", "tools/call",
	    "=?base64?ZGVidWdfc3RvcA==?=", 200, "(none)" },
	{ STOP, "2026-07-28", "tools/call", "=?base64?!?=", 400, "-32020" },
	{ STOP, "2026-07-28", "tools/call", "=?base64?=", 400, "-32020" },
	{ STOP, "2026-07-28", "tools/call", "debug_query", 400, "-32020" },
	{ STOP, "2026-07-28", "tools/call", NULL, 400, "-32020" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\",\"params\":{"
	    MODERN "}}", "2026-07-28", "nope", NULL, 404, "-32601" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", NULL, NULL,
	    NULL, 200, "-32601" },
};

static void
by_http(void **state)
{
	size_t i;

	(void)state;
	will_answer = "{\"success\":true,\"eventsCollected\":0}";
	for (i = 0; i < COUNT(posts); i++) {
		rig_post(posts[i].body, strlen(posts[i].body),
		    posts[i].version, posts[i].method, posts[i].name);
		parsed();
		if (said_status != posts[i].status ||
		    strcmp(text_at("error.code"), posts[i].code) != 0)
			fail_msg("row %zu: %u %s", i, said_status, said.p);
	}
}

/* -- the request of the command ------------------------------------------- */

static void
requests(void **state)
{
	static const char *const bad[] = {
		"{}", "{\"message\":{},\"x\":1}", "{\"message\":{},"
		    "\"client\":5}", "{\"message\":{},\"client\":{\"cwd\":5}}",
		"{\"message\":{},\"client\":{\"env\":[]}}",
		"{\"message\":{},\"protocolVersion\":\"x\"}",
		"{\"message\":{},\"protocolVersion\":5}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		rig_line(bad[i], strlen(bad[i]));
		assert_true(said_close && said.len > 16);
		assert_memory_equal(said.p, "invalid_argument", 16);
		assert_null(the_conn.mcp);
	}
	rig_line("[]", 2);
	assert_memory_equal(said.p, "invalid_argument", 16);
}

/* -- tools ---------------------------------------------------------------- */

static void
results(void **state)
{
	(void)state;
	will_answer = "{\"events\":[{\"text\":\"a\\n\\\"\"}],\"totalCount\":1,"
	    "\"hasMore\":false}";
	call("2025-11-25", "debug_query", "\"limit\":1,\"sessionId\":\"here\","
	    "\"function\":{\"contains\":\"\\u0061\"}");
	assert_string_equal(asked, "{\"command\":\"query\",\"args\":"
	    "{\"limit\":1,\"function\":{\"contains\":\"\\u0061\"}}}");
	assert_false(asked_start);
	says("result.isError", "false");
	says("result.content.0.text", will_answer);
	says("result.structuredContent.totalCount", "1");
	call("2025-03-26", "debug_query", "\"sessionId\":\"here\"");
	assert_null(at("result.structuredContent"));
	says("result.content.0.text", will_answer);
	call(NULL, "debug_query", "\"sessionId\":\"here\"");
	says("result.resultType", "complete");
	says("result.structuredContent.totalCount", "1");
}

static void
errors_of_the_tracer(void **state)
{
	(void)state;
	will_answer = "{\"code\":\"INVALID_PATTERN\",\"message\":\"m\","
	    "\"next\":\"n\"}";
	will_fail = true;
	call("2025-06-18", "debug_trace", "\"sessionId\":\"here\","
	    "\"add\":[\"a\"]");
	will_fail = false;
	assert_true(asked_start);
	says("result.isError", "true");
	says("result.content.0.text", will_answer);
	assert_null(at("result.structuredContent"));
	will_err = ERR_TRACER_LOST;
	call("2025-06-18", "debug_trace", "\"sessionId\":\"here\"");
	assert_false(asked_start);
	tells("result.content.0.text", "\"TRACER_LOST\"");
	tells("result.content.0.text", "\"next\"");
	will_err = ERR_NO_TRACER;
	call("2025-06-18", "debug_stop", "\"sessionId\":\"here\"");
	tells("result.content.0.text", "\"SESSION_NOT_FOUND\"");
	tells("result.content.0.text", "No session found with ID 'here'. "
	    "Check sessionId spelling.");
	will_err = ERR_OK;
	call("2025-06-18", "debug_stop", "\"sessionId\":\"nobody's\"");
	tells("result.content.0.text", "No session found with ID 'nobody's'.");
	call("2025-06-18", "debug_stop", "\"sessionId\":\"two\"");
	tells("result.content.0.text", "\"AMBIGUOUS_ID\"");
	call("2025-06-18", "debug_stop", "\"sessionId\":\"\"");
	tells("result.content.0.text", "\"SESSION_NOT_FOUND\"");
}

static const struct {
	const char	*tool, *arguments, *why;
} misuses[] = {
	{ "debug_launch", "", "command of debug_launch is missing" },
	{ "debug_launch", "\"command\":\"/a\"", "projectRoot" },
	{ "debug_launch", "\"command\":5,\"projectRoot\":\"/\"",
	    "command of debug_launch must be a string" },
	{ "debug_launch", "\"command\":\"/a\",\"projectRoot\":\"/\",\"args\":"
	    "[1]", "an array of strings" },
	{ "debug_launch", "\"command\":\"/a\",\"projectRoot\":\"/\",\"env\":"
	    "{\"A\":1}", "an object of strings" },
	{ "debug_launch", "\"command\":\"/a\",\"projectRoot\":\"/\",\"x\":1",
	    "there is no argument x; debug_launch takes command, args, cwd, "
	    "projectRoot, env and followForks" },
	{ "debug_launch", "\"command\":\"/a\",\"command\":\"/b\","
	    "\"projectRoot\":\"/\"", "twice" },
	{ "debug_query", "", "sessionId of debug_query is missing" },
	{ "debug_query", "\"sessionId\":\"here\",\"eventType\":\"x\"",
	    "one of function_enter, function_exit, stdout, stderr, crash" },
	{ "debug_query", "\"sessionId\":\"here\",\"limit\":\"x\"", "limit" },
	{ "debug_query", "\"sessionId\":\"here\",\"limit\":-1", "limit" },
	{ "debug_query", "\"sessionId\":\"here\",\"limit\":0", "from 1 to 500" },
	{ "debug_query", "\"sessionId\":\"here\",\"limit\":501",
	    "from 1 to 500" },
	{ "debug_query", "\"sessionId\":\"here\",\"verbose\":1",
	    "true or false" },
	{ "debug_query", "\"sessionId\":\"here\",\"function\":{\"like\":\"x\"}",
	    "function takes equals, contains and matches" },
	{ "debug_query", "\"sessionId\":\"here\",\"returnValue\":"
	    "{\"isNull\":null}", "isNull of returnValue must be true or" },
	{ "debug_stop", "\"sessionId\":null", "sessionId" },
	{ "debug_trace", "\"add\":\"x\"", "add of debug_trace" },
};

static void
arguments(void **state)
{
	size_t i;

	(void)state;
	will_answer = "{}";
	for (i = 0; i < COUNT(misuses); i++) {
		call("2025-11-25", misuses[i].tool, misuses[i].arguments);
		tells("result.content.0.text", misuses[i].why);
		tells("result.content.0.text", "\"INVALID_ARGUMENT\"");
		says("result.isError", "true");
		call("2025-06-18", misuses[i].tool, misuses[i].arguments);
		says("error.code", "-32602");
		tells("error.message", misuses[i].why);
		assert_string_equal(asked, "");
	}
	call("2025-11-25", "debug_nothing", "");
	says("error.code", "-32602");
	says("error.message", "Unknown tool: debug_nothing");
	call("2025-11-25", "debug_query", "\"sessionId\":\"here\","
	    "\"returnValue\":{\"equals\":[1,{}]}");
	says("result.isError", "false");
}

static void
launch(const char *client, const char *arguments_)
{
	static char text[160 * 1024];

	(void)snprintf(text, sizeof(text), "{%s\"message\":{\"jsonrpc\":"
	    "\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
	    "\"debug_launch\",\"arguments\":{\"projectRoot\":\"/p\",%s}}}}",
	    client, arguments_);
	rig_line(text, strlen(text));
	parsed();
}

static void
launches(void **state)
{
	static char args[80 * 1024];

	(void)state;
	will_answer = "{\"sessionId\":\"s\",\"pid\":1}";
	launch("\"client\":{\"env\":{\"A\":\"b\"},\"cwd\":\"/w\"},",
	    "\"command\":\"./a b/\\u00e9x\"");
	assert_string_equal(asked, "{\"command\":\"launch\",\"args\":"
	    "{\"projectRoot\":\"/p\",\"command\":\"./a b/\\u00e9x\","
	    "\"client\":{\"cwd\":\"/w\",\"env\":{\"A\":\"b\"}}}}");
	assert_true(asked_start);
	/* é is two bytes, and labels have neither */
	assert_memory_equal(asked_name, "__x-20", 6);
	assert_int_equal(strlen(asked_name), 3 + strlen("-YYYY-MM-DD-HHhMM"));
	says("result.structuredContent.sessionId", "s");
	launch("", "\"command\":\"a\"");
	tells("result.content.0.text", "absolute");
	launch("", "\"command\":\"/a\",\"cwd\":\"b\"");
	tells("result.content.0.text", "absolute");
	memset(args, 'x', sizeof(args));
	memcpy(args, "\"command\":\"/", 12);
	memcpy(args + 70000, "\"", 2);
	launch("", args);
	tells("result.content.0.text", "61440");
	args[100] = '"';
	args[101] = '\0';
	launch("", args);
	assert_true(strlen(asked_name) <= LABEL_MAX - 5);
	will_err = ERR_NO_TRACER;
	launch("", "\"command\":\"/a\"");
	will_err = ERR_OK;
	tells("result.content.0.text", "NO_TRACER");
	launch("", "\"command\":\"/\"");
	assert_memory_equal(asked_name, "program-20", 10);
}

/* -- patterns that wait --------------------------------------------------- */

static void
forget(const struct owner *o)
{
	struct text had;

	pending_had(o, &had);
	pending_done(o, &had);
	text_free(&had);
	assert_false(pending_any(o));
}

static void
pending(void **state)
{
	static char big[20 * 1024] = "\"add\":[\"";
	struct owner others[80];
	size_t i, n = 0;

	(void)state;
	will_answer = "{\"sessionId\":\"s\",\"pid\":1}";
	call("2025-11-25", "debug_trace", "\"add\":[\"a::*\",\"b\",\"b\"]");
	says("result.structuredContent.activePatterns", "[ \"a::*\", \"b\" ]");
	says("result.structuredContent.hookedFunctions", "0");
	call("2025-11-25", "debug_trace", "\"remove\":[\"b\",\"z\"],"
	    "\"add\":[\"c\\u00e9\"]");
	says("result.structuredContent.pending", "[ \"a::*\", \"cé\" ]");
	call("2025-11-25", "debug_trace", "");
	says("result.structuredContent.pending", "[ \"a::*\", \"cé\" ]");
	will_fail = true;
	launch("", "\"command\":\"/a\"");
	will_fail = false;
	launch("", "\"command\":\"/a\"");
	assert_non_null(strstr(asked,
	    ",\"trace\":{\"add\":[\"a::*\",\"cé\"]}}}"));
	/* once */
	launch("", "\"command\":\"/a\"");
	assert_null(strstr(asked, "\"trace\""));
	call("2025-11-25", "debug_trace", "\"add\":[\"\"]");
	tells("result.content.0.text", "INVALID_PATTERN");
	call("2025-11-25", "debug_trace", "\"add\":[\"a\"],\"budget\":1");
	tells("result.content.0.text", "INVALID_ARGUMENT");
	tells("result.content.0.text", "without sessionId");
	for (i = strlen(big); i < sizeof(big) - 1100; )
		i += (size_t)snprintf(big + i, sizeof(big) - i,
		    "%zu%0900d\",\"", i, 0);
	strcat(big, "x\"]");
	call("2025-11-25", "debug_trace", big);
	tells("result.content.0.text", "8192");
	call("2025-11-25", "debug_trace", "");
	says("result.structuredContent.pending", "[ ]");
	memcpy(big, "\"add\":[", 8);
	for (i = 7; i < sizeof(big) - 20 && n <= 128; n++)
		i += (size_t)snprintf(big + i, sizeof(big) - i, "%s\"f%zu\"",
		    n == 0 ? "" : ",", n);
	strcat(big, "]");
	call("2025-11-25", "debug_trace", big);
	tells("result.content.0.text", "at most 128 patterns");
	call("2025-11-25", "debug_trace", "");
	says("result.structuredContent.pending", "[ ]");
	/* with one less of them */
	strcpy(strrchr(big, ','), "]");
	call("2025-11-25", "debug_trace", big);
	tells("result.content.0.text", "f127");
	call("2025-11-25", "debug_trace", "\"add\":[\"g\"]");
	tells("result.content.0.text", "at most 128 patterns");
	forget(the_conn.owner);
	the_conn.read_only = true;
	call("2025-11-25", "debug_trace", "\"add\":[\"a\"]");
	the_conn.read_only = false;
	says("result.isError", "true");
	/* each user has a list; beyond the limit the oldest is dropped */
	for (i = 0; i < COUNT(others); i++) {
		others[i] = (struct owner){ .uid = 2000 + (uint32_t)i };
		the_conn.owner = &others[i];
		call("2025-11-25", "debug_trace", "\"add\":[\"a\"]");
		says("result.structuredContent.pending", "[ \"a\" ]");
	}
	the_conn.owner = &the_owner;
	assert_false(pending_any(&others[0]));
	assert_true(pending_any(&others[79]));
	for (i = 0; i < COUNT(others); i++)
		forget(&others[i]);
}

/* Two agents of one user: what the second wants is not the first's launch's. */
static void
pending_meanwhile(void **state)
{
	static const char program[] = "{\"sessionId\":\"s\",\"pid\":1}";
	static const char run[] = "{\"message\":{\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"debug_launch\","
	    "\"arguments\":{\"command\":\"/a\",\"projectRoot\":\"/\"}}}}";
	static const char one[] = "[\"c\"]", two[] = "[\"b\"]";
	const struct word add = { one, sizeof(one) - 1 },
	    remove = { two, sizeof(two) - 1 };

	(void)state;
	will_answer = program;
	call("2025-11-25", "debug_trace", "\"add\":[\"a\",\"b\"]");
	will_answer = NULL;
	rig_line(run, strlen(run));
	assert_non_null(strstr(asked, "\"add\":[\"a\",\"b\"]"));
	assert_null(pending_change(&the_owner, &add, &remove));
	will_answer = program;
	rig_answer(&the_conn);
	call("2025-11-25", "debug_trace", "");
	says("result.structuredContent.pending", "[ \"c\" ]");
	launch("", "\"command\":\"/a\"");
	assert_non_null(strstr(asked, "\"add\":[\"c\"]"));
	assert_false(pending_any(&the_owner));
}

/* A refused change takes no pending slot. */
static void
pending_refused(void **state)
{
	struct owner others[64], one = { .uid = 3000 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(others); i++) {
		others[i] = (struct owner){ .uid = 2000 + (uint32_t)i };
		the_conn.owner = &others[i];
		call("2025-11-25", "debug_trace", "\"add\":[\"a\"]");
	}
	the_conn.owner = &one;
	call("2025-11-25", "debug_trace", "\"add\":[\"\"]");
	tells("result.content.0.text", "INVALID_PATTERN");
	call("2025-11-25", "debug_trace", "");
	says("result.structuredContent.pending", "[ ]");
	the_conn.owner = &the_owner;
	assert_false(pending_any(&one));
	for (i = 0; i < COUNT(others); i++)
		assert_true(pending_any(&others[i]));
	for (i = 0; i < COUNT(others); i++)
		forget(&others[i]);
}

/* A result that does not fit into an answer is an error of its own. */
static void
too_long(void **state)
{
	size_t n = 9 << 20;
	char *p = malloc(n + 1);

	(void)state;
	assert_non_null(p);
	memset(p, 'x', n);
	memcpy(p, "{\"a\":\"", 6);
	memcpy(p + n - 2, "\"}", 3);
	will_answer = p;
	call("2025-11-25", "debug_query", "\"sessionId\":\"here\"");
	says("error.code", "-32603");
	says("id", "7");
	will_answer = NULL;
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_strict), cmocka_unit_test(walks),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(never_answered),
		cmocka_unit_test(ids_come_back), cmocka_unit_test(batches),
		cmocka_unit_test(batches_wait), cmocka_unit_test(goes_away),
		cmocka_unit_test(handshakes),
		cmocka_unit_test(without_handshake), cmocka_unit_test(lists),
		cmocka_unit_test(by_http), cmocka_unit_test(requests),
		cmocka_unit_test(results),
		cmocka_unit_test(errors_of_the_tracer),
		cmocka_unit_test(arguments), cmocka_unit_test(launches),
		cmocka_unit_test(pending), cmocka_unit_test(pending_meanwhile),
		cmocka_unit_test(pending_refused), cmocka_unit_test(too_long),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	json_object_put(answer);
	text_free(&said);
	return failed;
}
