/* SPDX-License-Identifier: ISC */
/* The tools: they send requests to the tracer, and pass on its answers. */
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/errors.h"
#include "mcp.h"
#include "mcp_pending.h"
#include "netproc/cmd/instrument.h"
#include "netproc/cmd/instrument_kinds.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "wire/label.h"
#include "wire/proto.h"
#include "wire/settings.h"

/* Nothing longer names a session. */
#define SESSION_MAX	SESSION_NAME_MAX
#define CODE_MAX	64

/* -- results -------------------------------------------------------------- */

static void
content(struct text *t, const char *p, size_t len)
{
	json_key(t, "content");
	json_open(t, '[');
	json_open(t, '{');
	json_key(t, "type");
	json_text(t, "text");
	json_key(t, "text");
	json_string(t, p, len);
	json_close(t, '}');
	json_close(t, ']');
}

static void
succeed(struct mcp *m, const char *p, size_t len)
{
	struct text *t = mcp_result(m);

	content(t, p, len);
	if (m->era >= MCP_2025_06_18) {
		json_key(t, "structuredContent");
		text_put(t, p, len);
	}
	json_key(t, "isError");
	json_raw(t, "false");
	mcp_result_end(m);
}

/* The object of an error, for the model to read. */
static void
fail_with(struct mcp *m, const char *p, size_t len)
{
	struct text *t = mcp_result(m);

	content(t, p, len);
	json_key(t, "isError");
	json_raw(t, "true");
	mcp_result_end(m);
}

static void
fail(struct mcp *m, const char *code, const char *message, const char *next)
{
	struct text t = { .max = 4096 };

	json_open(&t, '{');
	json_key(&t, "code");
	json_text(&t, code);
	json_key(&t, "message");
	json_text(&t, message);
	json_key(&t, "next");
	json_text(&t, next);
	json_close(&t, '}');
	fail_with(m, t.p, t.len);
	text_free(&t);
}

/* By what a model can mend, from the revision on that has it so. */
static void
fail_arguments(struct mcp *m, const char *why)
{
	if (m->era >= MCP_2025_11_25)
		fail(m, "INVALID_ARGUMENT", why,
		    "Call the tool again with arguments as its schema has "
		    "them.");
	else
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "%s", why);
}

/* -- errors of the daemon ------------------------------------------------- */

static void
fail_session(struct mcp *m)
{
	char id[SESSION_MAX], message[SESSION_MAX + 80];

	if (json_unquote(&m->session, id, sizeof(id)) == SIZE_MAX)
		(void)snprintf(id, sizeof(id), "...");
	(void)snprintf(message, sizeof(message), "No session found with ID "
	    "'%s'. Check sessionId spelling.", id);
	fail(m, "SESSION_NOT_FOUND", message, "Use the sessionId that "
	    "debug_launch returned, or launch the program. A session that "
	    "runs untraced is traced again by debug_trace with add.");
}

static const struct {
	uint32_t	 err;
	const char	*next;
} nexts[] = {
	{ ERR_AMBIGUOUS_ID, "Give more of the session's id." },
	{ ERR_READ_ONLY, "Ask the user for a session or token that may be "
	    "used, not only looked at." },
	{ ERR_TRY_AGAIN, "Call the tool again in a moment." },
	{ ERR_TRACER_LOST, "Call the tool again: there is another tracer "
	    "then, and what was recorded is still there." },
	{ ERR_MAX_SESSIONS, "Ask the user which session can be deleted." },
	{ ERR_NOT_RUNNING, "Start the session, or launch the program by "
	    "debug_launch." },
	{ ERR_ALREADY_DEBUGGING, "Stop its debugger first: a session is "
	    "debugged or traced." },
};

/* "not_running" becomes NOT_RUNNING. */
static void
fail_err(struct mcp *m, uint32_t err, const char *message)
{
	const char *next = "Tell the user; the daemon's log may say more.";
	char code[CODE_MAX];
	size_t i;

	if (m->session.len > 0 && (err == ERR_NOT_FOUND ||
	    err == ERR_NO_TRACER)) {
		fail_session(m);
		return;
	}
	(void)snprintf(code, sizeof(code), "%s", err_code(err));
	for (i = 0; code[i] != '\0'; i++)
		if (code[i] >= 'a' && code[i] <= 'z')
			code[i] = (char)(code[i] - 'a' + 'A');
	for (i = 0; i < sizeof(nexts) / sizeof(nexts[0]); i++)
		if (nexts[i].err == err)
			next = nexts[i].next;
	fail(m, code, message != NULL && message[0] != '\0' ? message :
	    err_text(err), next);
}

/* -- asking --------------------------------------------------------------- */

static void
passed(struct conn *c, const struct instrument *in, bool failed,
    const char *why, const struct word *json)
{
	struct mcp *m = c->mcp;

	(void)in;
	m->waiting = false;
	if (why != NULL)
		fail(m, "INTERNAL_ERROR", why, "Call the tool again.");
	else if (failed)
		fail_with(m, json->p, json->len);
	else
		succeed(m, json->p, json->len);
	mcp_go_on(c);
}

static void
launched(struct conn *c, const struct instrument *in, bool failed,
    const char *why, const struct word *json)
{
	if (why == NULL && !failed)
		pending_done(c->owner, &c->mcp->had);
	passed(c, in, failed, why, json);
}

static void
not_passed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	c->mcp->waiting = false;
	fail_err(c->mcp, err == ERR_OK ? ERR_INTERNAL : err, msg);
	mcp_go_on(c);
}

/* The request for the tracer, until it is sent. */
static struct text	 request = { .max = INST_REQUEST_MAX };

/* Its beginning, with the tool's arguments but for the session. */
static void
begin_request(const char *command, const struct word *args)
{
	struct word key, v;
	struct json_walk w;

	text_reset(&request, INST_REQUEST_MAX);
	json_open(&request, '{');
	json_key(&request, "command");
	json_text(&request, command);
	json_key(&request, "args");
	json_open(&request, '{');
	json_walk(&w, args);
	while (json_walk_member(&w, &key, &v)) {
		if (json_says(&key, "sessionId"))
			continue;
		json_raw(&request, "");
		text_put(&request, key.p, key.len);
		text_put(&request, ":", 1);
		text_put(&request, v.p, v.len);
	}
}

/* False, and answered, when there is more than a request can have. */
static bool
end_request(struct mcp *m)
{
	json_close(&request, '}');
	json_close(&request, '}');
	if (request.bad)
		fail(m, "INVALID_ARGUMENT", "arguments, and the environment "
		    "that goes with them, have at most 61440 bytes",
		    "Give less of args, env or add.");
	return !request.bad;
}

/* Finds the session of that name; false, and answered, when there is none. */
static bool
resolve(struct conn *c, const struct word *string, struct sid *sid)
{
	char id[SESSION_MAX];
	struct word w = { id, 0 };
	struct rsession *s;
	uint32_t err = ERR_NOT_FOUND;

	w.len = json_unquote(string, id, sizeof(id));
	s = w.len == SIZE_MAX || w.len == 0 ? NULL :
	    replica_resolve(c, &w, &err);
	if (s == NULL)
		fail_err(c->mcp, err, w.len == SIZE_MAX ? NULL :
		    replica_why(c, &w, err));
	else
		*sid = s->sid;
	return s != NULL;
}

/* start: the session is given a tracer, if it has none. */
static void
ask(struct conn *c, const char *command, const struct word *args, bool start)
{
	const struct instrument_start how = { SANDBOX_DEFAULT,
	    NETWORK_DEFAULT, "" };
	struct word json;
	struct sid sid;

	if (!resolve(c, &c->mcp->session, &sid))
		return;
	begin_request(command, args);
	if (!end_request(c->mcp))
		return;
	json = (struct word){ request.p, request.len };
	c->mcp->waiting = true;
	if (start)
		instrument_start(c, &tracer, &sid, &how, &json, passed,
		    not_passed);
	else
		instrument_ask(c, &tracer, &sid, false, &json, passed,
		    not_passed);
}

/* -- the tools ------------------------------------------------------------ */

/* The spawner adds what makes it the only one. */
static void
base_name(const struct word *command, char name[LABEL_MAX + 1])
{
	char path[4096];

	if (json_unquote(command, path, sizeof(path)) == SIZE_MAX)
		path[0] = '\0';
	label_for_program(path, time(NULL), name);
}

/* Adds the client's directory and environment, and the pending patterns. */
static void
add_client(struct conn *c)
{
	struct mcp *m = c->mcp;

	text_free(&m->had);
	pending_had(c->owner, &m->had);
	if (m->cwd.len > 0 || m->env.len > 0) {
		json_key(&request, "client");
		json_open(&request, '{');
		if (m->cwd.len > 0) {
			json_key(&request, "cwd");
			text_put(&request, m->cwd.p, m->cwd.len);
		}
		if (m->env.len > 0) {
			json_key(&request, "env");
			text_put(&request, m->env.p, m->env.len);
		}
		json_close(&request, '}');
	}
	if (pending_any(c->owner)) {
		json_key(&request, "trace");
		json_open(&request, '{');
		json_key(&request, "add");
		pending_json(&request, c->owner);
		json_close(&request, '}');
	}
}

/* A path that is none from the root on is one of the client's directory. */
static bool
is_placed(const struct mcp *m, const struct word *args, const char *name)
{
	struct word v;

	return m->cwd.len > 0 || json_member(args, name, &v) != JSON_ONE ||
	    v.p[1] == '/';
}

void
mcp_launch(struct conn *c, const struct word *args)
{
	char name[LABEL_MAX + 1];
	const struct instrument_start how = { SANDBOX_DEFAULT,
	    NETWORK_DEFAULT, name };
	struct word command, json;

	if (!is_placed(c->mcp, args, "command") ||
	    !is_placed(c->mcp, args, "cwd") ||
	    !is_placed(c->mcp, args, "projectRoot")) {
		fail(c->mcp, "INVALID_ARGUMENT", "command, cwd and projectRoot "
		    "must be absolute paths: this client has no directory "
		    "here", "Give paths that begin with /.");
		return;
	}
	(void)json_member(args, "command", &command);
	base_name(&command, name);
	begin_request("launch", args);
	add_client(c);
	if (!end_request(c->mcp))
		return;
	json = (struct word){ request.p, request.len };
	c->mcp->waiting = true;
	instrument_start(c, &tracer, NULL, &how, &json, launched, not_passed);
}

static bool
is_given(const struct word *args, const char *name)
{
	struct word v;

	return json_member(args, name, &v) != JSON_NONE;
}

/* Patterns for the next program. */
static void
trace_later(struct conn *c, const struct word *args)
{
	struct text t = { .max = 64 * 1024 };
	struct word add, remove;
	const char *why;

	(void)json_member(args, "add", &add);
	(void)json_member(args, "remove", &remove);
	if (json_count(args) != (size_t)(add.len > 0) + (remove.len > 0)) {
		fail_arguments(c->mcp, "without sessionId there is only add "
		    "and remove: patterns for your next debug_launch");
		return;
	}
	if (c->read_only) {
		fail_err(c->mcp, ERR_READ_ONLY, NULL);
		return;
	}
	if ((why = pending_change(c->owner, &add, &remove)) != NULL) {
		fail(c->mcp, "INVALID_PATTERN", why, "Mend the patterns, or "
		    "give the sessionId of a program that runs.");
		return;
	}
	json_open(&t, '{');
	json_key(&t, "activePatterns");
	pending_json(&t, c->owner);
	json_key(&t, "hookedFunctions");
	json_u64(&t, 0);
	json_key(&t, "pending");
	pending_json(&t, c->owner);
	json_close(&t, '}');
	succeed(c->mcp, t.p, t.len);
	text_free(&t);
}

void
mcp_trace(struct conn *c, const struct word *args)
{
	/* who only looks attaches to nothing */
	if (c->mcp->session.len == 0)
		trace_later(c, args);
	else
		ask(c, "trace", args, is_given(args, "add") ||
		    is_given(args, "addresses"));
}

void
mcp_query(struct conn *c, const struct word *args)
{
	ask(c, "query", args, false);
}

void
mcp_stop(struct conn *c, const struct word *args)
{
	ask(c, "stop", args, false);
}

/* -- tools/call ----------------------------------------------------------- */

void
mcp_call(struct conn *c, const struct word *params)
{
	static const struct word none = { "{}", 2 };
	struct mcp *m = c->mcp;
	struct word name, args;
	char text[64];
	const char *why;

	if (json_member(params, "name", &name) != JSON_ONE ||
	    json_kind(&name) != '"') {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "params.name "
		    "must be the name of a tool");
		return;
	}
	m->tool = mcp_tool_find(&name);
	if (m->tool == NULL) {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "Unknown tool: "
		    "%s", json_unquote(&name, text, sizeof(text)) ==
		    SIZE_MAX ? "of so long a name" : text);
		return;
	}
	if (json_member(params, "arguments", &args) == JSON_NONE)
		args = none;
	if (json_kind(&args) != '{') {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK,
		    "params.arguments must be an object, once");
		return;
	}
	why = mcp_tool_check(m->tool, &args);
	(void)json_member(&args, "sessionId", &m->session);
	if (why != NULL)
		fail_arguments(m, why);
	else
		mcp_tool_run(c, &args);
}
