/* SPDX-License-Identifier: ISC */
/*
 * The description of the HTTP interface.  It comes from the tables that the
 * requests go by, so the two cannot differ.
 */
#include <stdio.h>
#include <string.h>

#include "netproc/cmd/command.h"
#include "netproc/cmd/params.h"
#include "openapi.h"
#include "route.h"

#define OCTETS	"application/octet-stream"
#define JSON	"application/json"

static void
member(struct text *t, const char *key, const char *value)
{
	json_key(t, key);
	json_text(t, value);
}

static void
open_member(struct text *t, const char *key, char bracket)
{
	json_key(t, key);
	text_put(t, &bracket, 1);
}

static bool
is_query(const struct route *r)
{
	return strcmp(r->method, "GET") == 0 ||
	    strcmp(r->method, "DELETE") == 0 ||
	    r->flags & (ROUTE_UPLOAD | ROUTE_INPUT);
}

/* -- schemas -------------------------------------------------------------- */

static void
schema(struct text *t, const struct param *p)
{
	static const char *const schemas[PARAM_KINDS] = {
		[PARAM_WORD] = "{\"type\":\"string\",\"minLength\":1}",
		[PARAM_SECRET] = "{\"type\":\"string\",\"minLength\":1}",
		[PARAM_TEXT] = "{\"type\":\"string\"}",
		[PARAM_NUMBER] = "{\"type\":\"integer\",\"minimum\":0}",
		[PARAM_SIZE] = "{\"type\":\"integer\",\"minimum\":0}",
		[PARAM_EITHER] = "{\"type\":[\"string\",\"integer\"]}",
		[PARAM_FLAG] = "{\"type\":\"boolean\"}",
		[PARAM_ARGV] = "{\"type\":\"array\",\"items\":"
		    "{\"type\":\"string\"}}",
		[PARAM_ENV] = "{\"type\":\"object\",\"additionalProperties\":"
		    "{\"type\":\"string\"}}",
		[PARAM_JSON] = "{\"type\":\"object\"}",
	};

	json_raw(t, schemas[p->kind]);
}

static void
parameter(struct text *t, const char *name, size_t len, const char *in,
    bool required, const struct param *p)
{
	json_open(t, '{');
	json_key(t, "name");
	json_string(t, name, len);
	member(t, "in", in);
	json_key(t, "required");
	json_raw(t, required ? "true" : "false");
	json_key(t, "schema");
	if (p == NULL)
		json_raw(t, "{\"type\":\"string\",\"minLength\":1}");
	else
		schema(t, p);
	json_close(t, '}');
}

static void
parameters(struct text *t, const struct route *r, const struct command *cmd)
{
	const struct param *p;
	const char *part, *name;

	open_member(t, "parameters", '[');
	for (part = strchr(r->path, ':'); part != NULL;
	    part = strchr(part + 1, ':'))
		parameter(t, part + 1, strcspn(part + 1, "/"), "path", true,
		    NULL);
	for (p = cmd == NULL || !is_query(r) ? NULL : cmd->params;
	    p != NULL && p->name != NULL; p++)
		if (route_takes(r, p)) {
			name = route_name(r, p->name);
			parameter(t, name, strlen(name), "query",
			    param_is_needed(p) && !(r->flags & ROUTE_INPUT), p);
		}
	if (r->flags & ROUTE_UPLOAD)
		parameter(t, "name", 4, "query", false, NULL);
	if (r->flags & ROUTE_SOCKET) {
		parameter(t, "role", 4, "query", false, NULL);
		parameter(t, "token", 5, "query", false, NULL);
	}
	json_close(t, ']');
}

static void
arguments(struct text *t, const struct route *r, const struct command *cmd)
{
	const struct param *p;

	open_member(t, JSON, '{');
	open_member(t, "schema", '{');
	member(t, "type", "object");
	open_member(t, "properties", '{');
	for (p = cmd->params; p->name != NULL; p++)
		if (route_takes(r, p)) {
			json_key(t, route_name(r, p->name));
			schema(t, p);
		}
	json_close(t, '}');
	open_member(t, "required", '[');
	for (p = cmd->params; p->name != NULL; p++)
		if (route_takes(r, p) && param_is_needed(p))
			json_text(t, route_name(r, p->name));
	json_close(t, ']');
	json_key(t, "additionalProperties");
	json_raw(t, "false");
	json_close(t, '}');
	json_close(t, '}');
}

/* A single message, or a batch. */
static void
messages(struct text *t)
{
	json_key(t, JSON);
	json_raw(t, "{\"schema\":{\"type\":[\"object\",\"array\"],\"properties\":"
	    "{\"jsonrpc\":{\"type\":\"string\"}},\"required\":[\"jsonrpc\"]}}");
}

static void
octets(struct text *t, bool form)
{
	json_key(t, OCTETS);
	json_raw(t, "{\"schema\":{}}");
	if (!form)
		return;
	json_key(t, "multipart/form-data");
	json_raw(t, "{\"schema\":{\"type\":\"object\",\"properties\":"
	    "{\"name\":{\"type\":\"string\"},\"exec\":{\"type\":\"string\"},"
	    "\"file\":{}},\"required\":[\"file\"]}}");
}

/* Two rows may have one path and method, and differ by the body alone. */
static const struct route *
same_path(const struct route *r)
{
	const struct route *other = r + 1;

	return other < routes + nroutes &&
	    strcmp(other->path, r->path) == 0 &&
	    strcmp(other->method, r->method) == 0 ? other : NULL;
}

static void
request_body(struct text *t, const struct route *r, const struct command *cmd)
{
	const struct route *other = same_path(r);

	if (cmd == NULL || (is_query(r) &&
	    !(r->flags & (ROUTE_UPLOAD | ROUTE_INPUT))))
		return;
	open_member(t, "requestBody", '{');
	open_member(t, "content", '{');
	if (r->flags & (ROUTE_UPLOAD | ROUTE_INPUT))
		octets(t, r->flags & ROUTE_UPLOAD);
	else if (r->flags & ROUTE_MCP)
		messages(t);
	else
		arguments(t, r, cmd);
	if (other != NULL)
		arguments(t, other, route_command(other));
	json_close(t, '}');
	json_close(t, '}');
}

/* -- answers -------------------------------------------------------------- */

static const char *
success(const struct route *r)
{
	if (r->flags & ROUTE_SOCKET)
		return "101";
	return r->flags & ROUTE_CREATED ? "201" : "200";
}

static void
responses(struct text *t, const struct route *r)
{
	open_member(t, "responses", '{');
	open_member(t, success(r), '{');
	member(t, "description", "it has worked");
	if (!(r->flags & ROUTE_SOCKET)) {
		open_member(t, "content", '{');
		json_key(t, r->type == NULL ? JSON : r->type);
		json_raw(t, r->type == NULL ? "{\"schema\":{\"$ref\":"
		    "\"#/components/schemas/Answer\"}}" : "{\"schema\":{}}");
		json_close(t, '}');
	}
	json_close(t, '}');
	json_key(t, "default");
	json_raw(t, "{\"description\":\"it has not\",\"content\":{\"" JSON
	    "\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}}");
	json_close(t, '}');
}

static void
operation(struct text *t, const struct route *r)
{
	const struct command *cmd = route_command(r);
	char method[8], id[160];
	size_t i;

	for (i = 0; i < sizeof(method) - 1 && r->method[i] != '\0'; i++)
		method[i] = (char)(r->method[i] | 0x20);
	method[i] = '\0';
	(void)snprintf(id, sizeof(id), "%s%s", method, r->path);
	for (i = 0; id[i] != '\0'; i++)
		if (id[i] == '/' || id[i] == ':' || id[i] == '.')
			id[i] = '_';
	open_member(t, method, '{');
	member(t, "operationId", id);
	member(t, "summary", r->summary);
	if (r->flags & (ROUTE_OPEN | ROUTE_LOGIN)) {
		json_key(t, "security");
		json_raw(t, "[]");
	}
	parameters(t, r, cmd);
	request_body(t, r, cmd);
	responses(t, r);
	json_close(t, '}');
}

/* -- the document --------------------------------------------------------- */

static bool
is_first(const struct route *r)
{
	const struct route *other;

	for (other = routes; other < r; other++)
		if (strcmp(other->path, r->path) == 0)
			return false;
	return true;
}

/* "/a/:b" is written "/a/{b}". */
static void
path_key(struct text *t, const char *path)
{
	char key[160];
	size_t n = 0;
	bool in_part = false;

	for (; n < sizeof(key) - 3; path++) {
		if (in_part && (*path == '/' || *path == '\0')) {
			key[n++] = '}';
			in_part = false;
		}
		if (*path == '\0')
			break;
		in_part |= *path == ':';
		key[n++] = *path == ':' ? '{' : *path;
	}
	key[n] = '\0';
	json_key(t, key);
}

static void
one_path(struct text *t, const struct route *r)
{
	const struct route *other, *before = NULL;

	path_key(t, r->path);
	text_puts(t, "{");
	for (other = r; other < routes + nroutes; other++) {
		if (strcmp(other->path, r->path) != 0 ||
		    (before != NULL && same_path(before) == other))
			continue;
		operation(t, other);
		before = other;
	}
	json_close(t, '}');
}

void
openapi_text(struct text *t, const char *version)
{
	size_t i;

	json_open(t, '{');
	member(t, "openapi", "3.1.0");
	open_member(t, "info", '{');
	member(t, "title", "debuglantern");
	member(t, "version", version);
	json_close(t, '}');
	json_key(t, "security");
	json_raw(t, "[{\"bearer\":[]},{\"cookie\":[]}]");
	open_member(t, "paths", '{');
	for (i = 0; i < nroutes; i++)
		if (is_first(&routes[i]))
			one_path(t, &routes[i]);
	json_close(t, '}');
	json_key(t, "components");
	json_raw(t, "{\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
	    "\"scheme\":\"bearer\"},\"cookie\":{\"type\":\"apiKey\","
	    "\"in\":\"cookie\",\"name\":\"lantern\"}},\"schemas\":{"
	    "\"Answer\":{\"type\":\"object\",\"required\":[\"apiVersion\","
	    "\"data\"],\"properties\":{\"apiVersion\":{\"const\":\"1.0\"},"
	    "\"data\":{}}},\"Error\":{\"type\":\"object\",\"required\":["
	    "\"apiVersion\",\"error\"],\"properties\":{\"apiVersion\":{"
	    "\"const\":\"1.0\"},\"error\":{\"type\":\"object\",\"required\":["
	    "\"code\",\"message\"],\"properties\":{\"code\":{\"type\":"
	    "\"string\"},\"message\":{\"type\":\"string\"}}}}}}}");
	json_close(t, '}');
	text_puts(t, "\n");
}
