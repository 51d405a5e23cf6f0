/* SPDX-License-Identifier: ISC */
/* Messages of the client: some are for this program, the rest goes to the
 * daemon as it came, with what a program that it launches shall have. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/args.h"
#include "client/lib/environment.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "leftout.h"
#include "mcp.h"
#include "message.h"
#include "requests.h"

#define DEPTH_MAX	64
/*
 * Bytes left for what goes to a tracer beside the message and the client:
 * patterns that have waited, and words around it all.
 */
#define AROUND		(9U * 1024)
#define VERSION_KEY	"io.modelcontextprotocol/protocolVersion"

static struct json_object *
member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	if (json_object_is_type(o, json_type_object))
		(void)json_object_object_get_ex(o, name, &v);
	return v;
}

/* Numbers that are too large have become the largest: they are nobody's. */
static bool
is_id(struct json_object *id)
{
	if (!json_object_is_type(id, json_type_int))
		return json_object_is_type(id, json_type_string);
	return json_object_get_uint64(id) != UINT64_MAX &&
	    json_object_get_int64(id) != INT64_MIN;
}

/* Answers have the id as it came, for the client to find it. */
static void
keep_id(struct json_object *o, const char *line, size_t len)
{
	struct mcp_long l = { .depth = 0 };
	struct json_object *id;

	if (!json_object_is_type(member(o, "id"), json_type_string))
		return;
	mcp_long_feed(&l, line, len);
	id = mcp_long_id(&l);
	if (id != NULL && json_object_equal(id, member(o, "id")))
		json_object_object_add(o, "id", id);
	else
		json_object_put(id);
}

/* -- for us ---------------------------------------------------------------- */

/* Nothing comes back from these; only one of them has a consequence. */
static bool
take_notification(struct json_object *o, const char *method)
{
	struct json_object *id;

	if (*method == '\0' || json_object_object_get_ex(o, "id", &id))
		return false;
	id = member(member(o, "params"), "requestId");
	if (strcmp(method, "notifications/cancelled") == 0 && is_id(id))
		mcp_requests_cancel(id);
	return true;
}

/* Whether this program is there is its own to say, at any time. */
static bool
take_ping(struct json_object *o, const char *method)
{
	struct json_object *id = member(o, "id"), *answer;

	if (strcmp(method, "ping") != 0 || !is_id(id) ||
	    strcmp(reply_str(o, "jsonrpc", ""), "2.0") != 0 || member(member(
	    member(o, "params"), "_meta"), VERSION_KEY) != NULL)
		return false;
	answer = json_object_new_object();
	json_object_object_add(answer, "jsonrpc",
	    json_object_new_string("2.0"));
	json_object_object_add(answer, "id", json_object_get(id));
	json_object_object_add(answer, "result", json_object_new_object());
	mcp_put_json(answer);
	return true;
}

/* -- for the daemon -------------------------------------------------------- */

static void
add_variable(void *arg, const char *variable)
{
	const char *eq = strchr(variable, '=');
	char *key;

	if (eq == NULL || eq == variable)
		return;
	if ((key = strndup(variable, (size_t)(eq - variable))) == NULL)
		err(CTL_USAGE, NULL);
	json_object_object_add(arg, key, json_object_new_string(eq + 1));
	free(key);
}

static void
leave(void *arg, const char *variable)
{
	leftout_add(arg, variable);
}

/* The largest goes first: that is seldom what a program needs. */
static void
drop_largest(struct json_object *env, struct leftout *l)
{
	const char *largest = NULL;
	int most = -1;

	json_object_object_foreach(env, key, v) {
		if (json_object_get_string_len(v) <= most)
			continue;
		most = json_object_get_string_len(v);
		largest = key;
	}
	if (largest == NULL)
		return;
	leftout_add(l, largest);
	json_object_object_del(env, largest);
}

/* Where the client is, and its environment as far as there is room; freed by
 * the caller. */
static char *
client_text(size_t room, struct leftout *l)
{
	struct json_object *o = json_object_new_object();
	struct json_object *env = json_object_new_object();
	char cwd[4096], *text;
	size_t len;

	if (getcwd(cwd, sizeof(cwd)) != NULL && args_is_text(cwd))
		json_object_object_add(o, "cwd", json_object_new_string(cwd));
	json_object_object_add(o, "env", env);
	(void)env_variables(add_variable, env, leave, l);
	while ((text = reply_text(o, &len)) != NULL && len > room &&
	    json_object_object_length(env) > 0) {
		free(text);
		drop_largest(env, l);
	}
	json_object_put(o);
	if (text == NULL)
		err(CTL_USAGE, NULL);
	return text;
}

/* The message is in it as it came: what is wrong with it is not for us to
 * mend. */
static void
pass(struct mcp_asked *asked, const char *message, size_t len)
{
	bool launches = strstr(message, "debug_launch") != NULL;
	const char *version = mcp_requests_version();
	struct leftout l = {.n = 0};
	char *client = NULL, *line, *cr;
	int n;

	if (launches)
		client = client_text(len + AROUND < MCP_MESSAGE_MAX
					 ? MCP_MESSAGE_MAX - AROUND - len
					 : 0,
		    &l);
	asked->warning = leftout_words(&l);
	n = asprintf(&line, "MCP {%s%s%s%s%s%s\"message\":%s}",
	    *version != '\0' ? "\"protocolVersion\":\"" : "", version,
	    *version != '\0' ? "\"," : "", client != NULL ? "\"client\":" : "",
	    client != NULL ? client : "", client != NULL ? "," : "", message);
	if (n == -1)
		err(CTL_USAGE, NULL);
	/* between the tokens of JSON it is a blank; lines of ours have none */
	for (cr = line; (cr = strchr(cr, '\r')) != NULL;)
		*cr = ' ';
	mcp_requests_ask(asked, line, (size_t)n);
	free(client);
	free(line);
}

/* Notes the request's id, its kind and its progress token. */
static void
add_asked(struct mcp_asked *asked, struct json_object *o)
{
	struct json_object *id = member(o, "id");
	const char *method = reply_str(o, "method", "");
	struct json_object *params = member(o, "params"), *token;

	if (!is_id(id))
		return;
	json_object_array_add(asked->ids, json_object_get(id));
	asked->tool |= strcmp(method, "tools/call") == 0;
	asked->handshake |= strcmp(method, "initialize") == 0;
	token = member(member(params, "_meta"), "progressToken");
	if (asked->batch || strcmp(method, "tools/call") != 0 || !is_id(token))
		return;
	asked->token = json_object_get(token);
	snprintf(asked->what, sizeof(asked->what), "%s", reply_str(params,
	    "name", "a tool"));
}

static void
take_object(struct json_object *o, const char *line, size_t len)
{
	struct mcp_asked asked = { .batch =
	    json_object_is_type(o, json_type_array) };
	const char *method = asked.batch ? "" : reply_str(o, "method", "");
	size_t i, told = 0;

	keep_id(o, line, len);
	if (!asked.batch && (take_notification(o, method) ||
	    take_ping(o, method)))
		return;
	asked.ids = json_object_new_array();
	if (!asked.batch)
		add_asked(&asked, o);
	for (i = 0; asked.batch && i < json_object_array_length(o); i++) {
		struct json_object *one = json_object_array_get_idx(o, i);

		if (take_notification(one, reply_str(one, "method", "")))
			told++;
		else
			add_asked(&asked, one);
	}
	/* of notifications alone there is nothing to say */
	if (told > 0 && told == i)
		json_object_put(asked.ids);
	else
		pass(&asked, line, len);
}

static bool
is_blank(const char *line)
{
	return line[strspn(line, " \t\r")] == '\0';
}

void
mcp_take(const char *line, size_t len)
{
	struct json_tokener *tok;
	struct json_object *o;
	char words[256];

	if (len == strlen(line) && is_blank(line))
		return;
	if ((tok = json_tokener_new_ex(DEPTH_MAX)) == NULL)
		err(CTL_USAGE, NULL);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
	    JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, line, (int)len);
	if (o == NULL && json_tokener_get_error(tok) == json_tokener_continue)
		o = json_tokener_parse_ex(tok, " ", 1);
	if (strlen(line) != len)
		mcp_put_error(NULL, MCP_PARSE_ERROR, "the line is no JSON: "
		    "there is a NUL in it");
	else if (json_tokener_get_error(tok) != json_tokener_success) {
		snprintf(words, sizeof(words), "the line is no JSON: %s",
		    json_tokener_error_desc(json_tokener_get_error(tok)));
		mcp_put_error(NULL, MCP_PARSE_ERROR, words);
	} else if (!json_object_is_type(o, json_type_object) &&
	    !json_object_is_type(o, json_type_array))
		mcp_put_error(NULL, MCP_INVALID_REQUEST,
		    "a message is an object");
	else
		take_object(o, line, len);
	json_object_put(o);
	json_tokener_free(tok);
}
