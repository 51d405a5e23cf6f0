/* SPDX-License-Identifier: ISC */
/* The table of routes, and the way from a path to its row. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "netproc/cmd/command.h"
#include "netproc/cmd/params.h"
#include "ptyweb.h"
#include "route.h"
#include "webcmd.h"
#include "webpage.h"

#define API	"/api/v1"

#define SESSION	API "/sessions/:session"
#define TERMINALS API "/pty/sessions"
#define TERMINAL TERMINALS "/:session"

const struct route routes[] = {
	{ "GET", "/healthz", NULL, ROUTE_OPEN, .page = page_healthz,
	    .type = "text/plain; charset=utf-8",
	    .summary = "whether the daemon answers" },
	{ "GET", "/metrics", "WEBMETRICS", ROUTE_RAW,
	    .type = "text/plain; version=0.0.4; charset=utf-8",
	    .summary = "figures for Prometheus, to administrators" },
	{ "GET", API "/openapi.json", NULL, ROUTE_OPEN, .page = page_openapi,
	    .type = "application/json",
	    .summary = "this description" },
	{ "POST", API "/login", "WEBLOGIN", ROUTE_LOGIN, .run = login_run,
	    .summary = "exchanges a token, or a key that is good once, for a "
	    "cookie" },
	{ "POST", API "/logout", "WEBLOGOUT",
	    .summary = "ends the login of the cookie that was sent" },
	{ "GET", API "/whoami", "WHOAMI",
	    .summary = "the user and rights of the client" },
	{ "GET", API "/version", "VERSION",
	    .summary = "the daemon's version and mode" },
	{ "GET", API "/deps", "DEPS",
	    .summary = "the features of this host" },
	{ "GET", API "/activity", "ACTIVITY",
	    .summary = "the last events" },
	{ "GET", API "/quota", "QUOTA",
	    .summary = "the client's quota; for administrators also those of "
	    "other users" },
	{ "GET", API "/audit", "AUDIT",
	    .summary = "the audit log from an event on, to administrators" },
	{ "GET", API "/usage", "USAGE",
	    .summary = "processor time and memory of running sessions" },
	{ "GET", API "/sysroot", "SYSROOT", ROUTE_RAW | ROUTE_USE,
	    .type = "application/gzip",
	    .summary = "the libraries of this host as tar.gz" },
	{ "GET", API "/tokens", "TOKEN", .fixed = "action=list",
	    .summary = "the client's tokens, without their secrets" },
	{ "POST", API "/tokens", "TOKEN", ROUTE_CREATED,
	    .fixed = "action=create",
	    .summary = "creates a token" },
	{ "DELETE", API "/tokens/:id", "TOKEN", .fixed = "action=revoke",
	    .summary = "revokes a token" },
	{ "GET", API "/events", "WEBEVENTS", ROUTE_EVENTS,
	    .type = "text/event-stream",
	    .summary = "changes of the sessions that the client may see, as "
	    "events" },
	{ "GET", API "/sessions", "LIST",
	    .summary = "all sessions that the client may see" },
	{ "POST", API "/sessions", "UPLOAD", ROUTE_UPLOAD | ROUTE_CREATED,
	    .alias = "exec_path=exec",
	    .summary = "uploads an ELF file, or a bundle and the program to "
	    "run from it" },
	{ "POST", API "/sessions", "NEW", ROUTE_JSON | ROUTE_CREATED,
	    .summary = "creates a session from a command of this host" },
	{ "GET", SESSION, "STATUS",
	    .summary = "a session" },
	{ "DELETE", SESSION, "DELETE",
	    .summary = "deletes a session that is not running" },
	{ "POST", SESSION "/start", "START",
	    .summary = "runs the program" },
	{ "POST", SESSION "/stop", "STOP",
	    .summary = "ends the program with SIGTERM, after a while with "
	    "SIGKILL" },
	{ "POST", SESSION "/kill", "KILL",
	    .summary = "ends the program with SIGKILL" },
	{ "POST", SESSION "/signal", "SIGNAL",
	    .summary = "sends a signal to the program" },
	{ "GET", SESSION "/wait", "WAIT",
	    .summary = "the session, once its program has ended or the time "
	    "limit is reached" },
	{ "POST", SESSION "/debug", "DEBUG",
	    .summary = "attaches gdbserver and opens a port for gdb" },
	{ "POST", SESSION "/debugger", "DEBUGGER",
	    .summary = "sends a request to the session's debugger, or starts "
	    "one" },
	{ "POST", API "/debugger", "DEBUGGER",
	    .summary = "sends a request to the current debugger, or starts one "
	    "for a program of this host" },
	{ "GET", API "/debugger", "DEBUGGER", .fixed = "list=1",
	    .summary = "the sessions that have a debugger" },
	{ "POST", SESSION "/tracer", "TRACER",
	    .summary = "sends a request to the session's tracer, or starts "
	    "one" },
	{ "POST", API "/tracer", "TRACER",
	    .summary = "starts a tracer for a program of this host" },
	{ "GET", API "/tracer", "TRACER", .fixed = "list=1",
	    .summary = "the sessions that have a tracer" },
	{ "POST", "/mcp", "WEBMCP", ROUTE_RAW | ROUTE_MCP,
	    .type = "application/json",
	    .summary = "a message of the Model Context Protocol" },
	{ "POST", SESSION "/resize", "RESIZE",
	    .summary = "sets the size of the session's terminal" },
	{ "POST", SESSION "/keys", "KEYS",
	    .summary = "creates the session's two keys, or replaces them" },
	{ "POST", SESSION "/ticket", "TICKET",
	    .summary = "creates a key that opens the session's terminal once" },
	{ "POST", SESSION "/stdin", "INPUT", ROUTE_INPUT,
	    .summary = "writes the body to the program's input, or ends it" },
	{ "PUT", SESSION "/args", "ARGS",
	    .summary = "sets the arguments for the next start" },
	{ "PUT", SESSION "/name", "NAME", .alias = "label=name",
	    .summary = "gives the session a label that can be used as its "
	    "id" },
	{ "PUT", SESSION "/limits", "LIMITS",
	    .summary = "sets resource limits for the next start" },
	{ "GET", SESSION "/env", "ENVLIST",
	    .summary = "the environment variables" },
	{ "PUT", SESSION "/env/:key", "ENV",
	    .summary = "sets an environment variable for the next start" },
	{ "DELETE", SESSION "/env/:key", "ENVDEL",
	    .summary = "removes an environment variable" },
	{ "POST", SESSION "/share", "SHARE",
	    .summary = "shares the session with another user" },
	{ "PUT", SESSION "/shares/:user", "SHARE",
	    .summary = "shares the session with that user" },
	{ "DELETE", SESSION "/shares/:user", "UNSHARE",
	    .summary = "stops sharing the session with that user" },
	{ "GET", SESSION "/mark", "MARK",
	    .summary = "the offset from which the terminal's output can be "
	    "replayed" },
	{ "GET", SESSION "/output", "WEBOUTPUT", ROUTE_RAW,
	    .type = "application/octet-stream",
	    .summary = "the program's output" },
	{ "GET", SESSION "/cast", "WEBCAST", ROUTE_RAW,
	    .type = "application/x-asciicast",
	    .summary = "the same as a recording of a terminal (asciicast 2)" },
	{ "GET", SESSION "/stream", "WEBSTREAM", ROUTE_EVENTS,
	    .type = "text/event-stream", .fixed = "base64=1",
	    .summary = "the program's output until it ends, as events" },
	{ "GET", TERMINAL "/attach", "ATTACH", ROUTE_SOCKET,
	    .summary = "becomes a WebSocket: the session's terminal" },
	{ "POST", TERMINALS, "NEW", ROUTE_CREATED,
	    .alias = "argv=cmd", .run = pty_create,
	    .summary = "makes a terminal and starts a command on it" },
	{ "GET", TERMINALS, "LIST", .run = pty_list,
	    .summary = "all terminals that the client may see" },
	{ "DELETE", TERMINAL, "DELETE",
	    .run = pty_delete,
	    .summary = "ends a terminal and forgets it" },
	{ "POST", TERMINAL "/ticket", "TICKET",
	    .summary = "makes a key that opens the terminal once" },
	{ "POST", TERMINAL "/keys", "KEYS",
	    .summary = "makes the terminal's keys, or new ones" },
};
const size_t nroutes = sizeof(routes) / sizeof(routes[0]);

const struct command *
route_command(const struct route *r)
{
	const struct command *cmd;
	size_t i;

	if (r->command != NULL && (cmd = command_find(r->command)) != NULL)
		return cmd;
	for (i = 0; r->command != NULL && i < nweb_commands; i++)
		if (strcmp(r->command, web_commands[i].verb) == 0)
			return &web_commands[i];
	return NULL;
}

/* Length of a part, to the next slash. */
static size_t
part_len(const char *p)
{
	return strcspn(p, "/");
}

/* With its slash, as "user/label" has one; 0 when there is none. */
static size_t
two_parts_len(const char *p)
{
	size_t len = part_len(p), more;

	if (p[len] != '/')
		return 0;
	more = part_len(p + len + 1);
	return len == 0 || more == 0 ? 0 : len + 1 + more;
}

static bool
matches(const char *row, const char *path, bool two,
    struct route_part parts[ROUTE_PARTS])
{
	size_t n = 0, a, b;

	for (;;) {
		a = part_len(row);
		b = part_len(path);
		if (two && a == strlen(":session") &&
		    memcmp(row, ":session", a) == 0)
			b = two_parts_len(path);
		if (row[0] == ':') {
			if (b == 0 || n == ROUTE_PARTS)
				return false;
			parts[n++] = (struct route_part){ row + 1, a - 1,
			    path, b };
		} else if (a != b || memcmp(row, path, a) != 0)
			return false;
		row += a;
		path += b;
		if (*row == '\0' || *path == '\0')
			return *row == *path;
		row++;
		path++;
	}
}

static void
add_method(char *methods, size_t size, const char *method)
{
	size_t len = strlen(methods);

	if (strstr(methods, method) != NULL)
		return;
	(void)snprintf(methods + len, size - len, "%s%s%s",
	    len == 0 ? "" : ", ", method,
	    strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

/* Two rows may have one path: for arguments, and for what they are about. */
static bool
is_kind(const struct route *r, bool json)
{
	return !(r->flags & (json ? ROUTE_UPLOAD : ROUTE_JSON));
}

static const struct route *
find(const char *method, const char *path, bool json, bool two,
    struct route_part parts[ROUTE_PARTS], char *methods, size_t size)
{
	size_t i;

	methods[0] = '\0';
	for (i = 0; i < nroutes; i++) {
		memset(parts, 0, ROUTE_PARTS * sizeof(*parts));
		if (!matches(routes[i].path, path, two, parts))
			continue;
		if (strcmp(routes[i].method, method) == 0 &&
		    is_kind(&routes[i], json))
			return &routes[i];
		add_method(methods, size, routes[i].method);
	}
	return NULL;
}

const struct route *
route_find(const char *method, const char *path, bool json,
    struct route_part parts[ROUTE_PARTS], char *methods, size_t size)
{
	const struct route *r;

	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	r = find(method, path, json, false, parts, methods, size);
	/* an address that has one meaning keeps it */
	if (r == NULL && methods[0] == '\0')
		r = find(method, path, json, true, parts, methods, size);
	return r;
}

/* Part of the path, as ":session". */
static bool
is_part(const struct route *r, const char *name)
{
	const char *p;
	size_t len = strlen(name);

	for (p = strchr(r->path, ':'); p != NULL; p = strchr(p + 1, ':'))
		if (strncmp(p + 1, name, len) == 0 &&
		    (p[len + 1] == '\0' || p[len + 1] == '/'))
			return true;
	return false;
}

static bool
is_fixed(const struct route *r, const char *name)
{
	size_t len = strlen(name);

	return r->fixed != NULL && strncmp(r->fixed, name, len) == 0 &&
	    r->fixed[len] == '=';
}

bool
route_takes(const struct route *r, const struct param *p)
{
	return !is_part(r, p->name) && !is_fixed(r, p->name) &&
	    p->kind != PARAM_SIZE;
}

const char *
route_name(const struct route *r, const char *name)
{
	size_t len = strlen(name);

	if (r->alias != NULL && strncmp(r->alias, name, len) == 0 &&
	    r->alias[len] == '=')
		return r->alias + len + 1;
	return name;
}
