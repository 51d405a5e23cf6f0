/* SPDX-License-Identifier: ISC */
/*
 * Arguments come from the path, the query, the body and the row.  Together
 * they are the same object that a request in JSON has as its args, and from
 * there on they are looked at by the same code.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netproc/cmd/commands.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/payload.h"
#include "netproc/cmd/request.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/replica.h"
#include "netproc/text/line.h"
#include "route.h"
#include "webanswer.h"
#include "webargs.h"
#include "webform.h"
#include "webup.h"
#include "wire/label.h"

struct args {
	struct json_object	*o;
	struct web_req		*req;
	const struct route	*route;
	const struct command	*cmd;
	const char		*wrong;		/* name that came twice */
	bool			 failed;	/* no memory */
};

static bool
is_name(const char *name, const char *p, size_t len)
{
	return strlen(name) == len && memcmp(name, p, len) == 0;
}

/* "label=name": what the client calls name is the command's label. */
static void
rename_alias(const struct route *r, char *name, size_t size)
{
	const char *eq = r->alias == NULL ? NULL : strchr(r->alias, '=');

	if (eq == NULL || strcmp(eq + 1, name) != 0 ||
	    (size_t)(eq - r->alias) >= size)
		return;
	memcpy(name, r->alias, (size_t)(eq - r->alias));
	name[eq - r->alias] = '\0';
}

static const struct param *
param_named(const struct command *cmd, const char *name)
{
	const struct param *p;

	for (p = cmd->params; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

/* Takes v.  Refuses an argument that was given in another place already. */
static void
add(struct args *a, const char *client_name, struct json_object *v)
{
	const struct param *known;
	char name[64];

	if (strlen(client_name) >= sizeof(name)) {
		a->wrong = "that";
		json_object_put(v);
		return;
	}
	strcpy(name, client_name);
	rename_alias(a->route, name, sizeof(name));
	if (json_object_object_get_ex(a->o, name, NULL)) {
		known = param_named(a->cmd, name);
		a->wrong = known == NULL ? "an argument" : known->name;
		json_object_put(v);
	} else if (json_object_object_add(a->o, name, v) != 0) {
		a->failed = true;
		json_object_put(v);
	}
}

/* A text that stands for a value of the kind that the command wants. */
static struct json_object *
value_of(const struct param *p, const char *s, size_t len)
{
	struct word w = { s, len };
	uint64_t n;

	if (p != NULL && (p->kind == PARAM_NUMBER || p->kind == PARAM_SIZE) &&
	    number_parse(&w, INT64_MAX, &n) == NULL)
		return json_object_new_int64((int64_t)n);
	if (p != NULL && p->kind == PARAM_FLAG &&
	    (is_name("1", s, len) || is_name("true", s, len)))
		return json_object_new_boolean(true);
	if (p != NULL && p->kind == PARAM_FLAG &&
	    (is_name("0", s, len) || is_name("false", s, len)))
		return json_object_new_boolean(false);
	return json_object_new_string_len(s, (int)len);
}

static void
add_text(struct args *a, const char *client_name, const char *s, size_t len)
{
	char name[64];

	(void)strncpy(name, client_name, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	rename_alias(a->route, name, sizeof(name));
	add(a, client_name, value_of(param_named(a->cmd, name), s, len));
}

/* Takes an argument that is for the second command, not for the first. */
static bool
is_for_next(struct args *a, const char *key, const char *value, size_t len)
{
	struct web_req *r = a->req;

	if (r->route->flags & ROUTE_UPLOAD && strcmp(key, "name") == 0 &&
	    (len == 0 || memchr(value, '\0', len) == NULL)) {
		if (r->name != NULL) {
			a->wrong = "name";
			return true;
		}
		r->name = strndup(value == NULL ? "" : value, len);
		r->then = THEN_NAME;
		return true;
	}
	if (r->route->flags & ROUTE_INPUT && strcmp(key, "eof") == 0 &&
	    r->size > 0) {
		if (value == NULL || is_name("1", value, len) ||
		    is_name("true", value, len))
			r->then = THEN_EOF;
		(void)snprintf(r->about, sizeof(r->about), "%.*s",
		    (int)(r->parts[0].len < sizeof(r->about) ?
		    r->parts[0].len : 0), r->parts[0].value);
		return true;
	}
	return false;
}

static enum MHD_Result
add_query(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_len,
    const char *value, size_t len)
{
	(void)kind;
	(void)key_len;
	if (is_for_next(arg, key, value, len))
		return MHD_YES;
	add_text(arg, key, value == NULL ? "1" : value, value == NULL ? 1 :
	    len);
	return MHD_YES;
}

static void
add_parts(struct args *a, const struct web_req *r)
{
	char name[32];
	size_t i;

	for (i = 0; i < ROUTE_PARTS && r->parts[i].name != NULL; i++) {
		if (r->parts[i].name_len >= sizeof(name))
			continue;
		memcpy(name, r->parts[i].name, r->parts[i].name_len);
		name[r->parts[i].name_len] = '\0';
		add_text(a, name, r->parts[i].value, r->parts[i].len);
	}
}

static void
add_fixed(struct args *a)
{
	const char *eq = a->route->fixed == NULL ? NULL :
	    strchr(a->route->fixed, '=');
	char name[32];

	if (eq == NULL || (size_t)(eq - a->route->fixed) >= sizeof(name))
		return;
	memcpy(name, a->route->fixed, (size_t)(eq - a->route->fixed));
	name[eq - a->route->fixed] = '\0';
	add_text(a, name, eq + 1, strlen(eq + 1));
}

/* The name of a form's file; browsers tell it nowhere else. */
static void
add_file_name(struct args *a, const char *given)
{
	char name[FILE_NAME_LEN + 1];

	label_file_name(given, strlen(given), name);
	if (name[0] != '\0')
		add_text(a, "file", name, strlen(name));
}

static void
add_body(struct args *a, struct json_object *body)
{
	json_object_object_foreach(body, key, v)
		add(a, key, json_object_get(v));
}

/* Bytes that follow the command, and are none if it fails. */
static uint64_t
payload_of(const struct web_req *r)
{
	return r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT) ? r->size : 0;
}

/* The spawner has the last word, but only when there is a session to name. */
bool
webargs_refuse_name(struct conn *c, const struct web_req *r)
{
	const struct rsession *other;
	char why[80];

	if (r->name == NULL || c->unauthenticated)
		return false;
	other = replica_labelled(c->owner, r->name);
	if (other != NULL)
		(void)snprintf(why, sizeof(why), "session %s has that label "
		    "already", other->id);
	else if (label_is_good(r->name, strlen(r->name)))
		return false;
	payload_refuse(c, ERR_INVALID_NAME, other == NULL ? NULL : why,
	    payload_of(r));
	return true;
}

/* -- what is wrong, in the words of HTTP ------------------------------------ */

/* "name, exec" */
static void
names_of(const struct args *a, char *names, size_t size)
{
	const bool upload = (a->route->flags & ROUTE_UPLOAD) != 0;
	const struct param *p;
	size_t len;

	(void)snprintf(names, size, "%s", upload ? "name" : "");
	for (p = a->cmd->params; p->name != NULL; p++) {
		if (!route_takes(a->route, p))
			continue;
		len = strlen(names);
		(void)snprintf(names + len, size - len, "%s%s", len == 0 ? "" :
		    ", ", route_name(a->route, p->name));
	}
	if (names[0] == '\0')
		(void)snprintf(names, size, "no arguments");
}

/* False: there is none that the command does not know. */
static bool
find_unknown(const struct args *a, char *why, size_t size)
{
	char names[160];

	json_object_object_foreach(a->o, key, v) {
		(void)v;
		if (param_named(a->cmd, key) != NULL)
			continue;
		names_of(a, names, sizeof(names));
		(void)snprintf(why, size, "there is no argument %.40s; %s %s "
		    "takes %s", key, a->route->method, a->route->path, names);
		return true;
	}
	return false;
}

/* "args.exec_path" is a command's argument; here it is called exec. */
static void
rename_args(const struct route *r, const char *text, char *out, size_t size)
{
	static const char args[] = "args.";
	char name[40];
	size_t n, len = 0;

	out[0] = '\0';
	while (*text != '\0' && len + 1 < size) {
		if (strncmp(text, args, sizeof(args) - 1) != 0) {
			out[len++] = *text++;
			out[len] = '\0';
			continue;
		}
		text += sizeof(args) - 1;
		n = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, text);
		(void)snprintf(out + len, size - len, "%s", route_name(r,
		    name));
		len += strlen(out + len);
		text += n;
	}
}

static void
refuse_args(struct conn *c, struct web_req *r, const struct args *a,
    const struct request *q)
{
	char why[sizeof(q->why)];

	if (!find_unknown(a, why, sizeof(why)))
		rename_args(r->route, q->why, why, sizeof(why));
	payload_refuse(c, q->err, why, payload_of(r));
}

static void
run(struct conn *c, struct web_req *r, struct args *a, struct request *q)
{
	if (webargs_refuse_name(c, r))
		return;
	request_from(q, a->cmd, a->o);
	if (q->err == ERR_OK)
		command_row(c, a->cmd, r->route->run, &q->words);
	else
		refuse_args(c, r, a, q);
	request_wipe(q);
}

static void
refuse_twice(struct conn *c, const struct web_req *r, const char *what)
{
	char why[128];

	(void)snprintf(why, sizeof(why), "%s is given more than once; give it "
	    "once", what);
	payload_refuse(c, ERR_INVALID_ARGUMENT, why, payload_of(r));
}

void
webargs_next(struct web_req *r)
{
	r->now = r->then;
	r->then = THEN_NOTHING;
}

/* The second command of a request, about what the first one was about. */
static void
run_next(struct conn *c, struct web_req *r)
{
	static const struct {
		const char	*verb;
		const char	*word;	/* NULL = the name */
	} rows[] = {
		[THEN_NAME] = { "NAME", NULL },
		[THEN_EOF] = { "INPUT", "eof" },
	};
	const char *last = rows[r->now].word == NULL ? r->name :
	    rows[r->now].word;
	struct words ws = { .n = 3 };

	ws.w[0] = (struct word){ rows[r->now].verb,
	    strlen(rows[r->now].verb) };
	ws.w[1] = (struct word){ r->about, strlen(r->about) };
	ws.w[2] = (struct word){ last, strlen(last) };
	ws.end = last + strlen(last);
	command_row(c, command_find(rows[r->now].verb), NULL, &ws);
}

static void
run_alone(struct conn *c, struct web_req *r, const struct command *cmd)
{
	struct words ws = { .n = 1 };

	ws.w[0] = (struct word){ cmd->verb, strlen(cmd->verb) };
	ws.end = cmd->verb + strlen(cmd->verb);
	command_row(c, cmd, r->route->run, &ws);
}

static struct word
header_word(struct web_req *r, const char *name)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND,
	    name);

	return (struct word){ v, v == NULL ? 0 : strlen(v) };
}

/* The message and what is said of it in headers, for WEBMCP. */
static void
run_mcp(struct conn *c, struct web_req *r, const struct command *cmd)
{
	struct words ws = { .n = 5 };

	ws.w[0] = (struct word){ cmd->verb, strlen(cmd->verb) };
	ws.w[1] = (struct word){ r->body.p == NULL ? "" : r->body.p,
	    r->body.len };
	ws.w[2] = header_word(r, "MCP-Protocol-Version");
	ws.w[3] = header_word(r, "Mcp-Method");
	ws.w[4] = header_word(r, "Mcp-Name");
	ws.end = ws.w[1].p + ws.w[1].len;
	command_row(c, cmd, NULL, &ws);
}

/* Adds the position at which an event stream broke off. */
static void
add_last_event(struct args *a)
{
	const char *id = MHD_lookup_connection_value(a->req->mhd,
	    MHD_HEADER_KIND, "Last-Event-ID");

	const char *name = param_named(a->cmd, "offset") != NULL ? "offset" :
	    "last_event";

	if (id == NULL || id[0] == '\0' || !(a->route->flags & ROUTE_EVENTS))
		return;
	json_object_object_del(a->o, name);
	add_text(a, name, id, strlen(id));
}

static void
run_args(struct conn *c, struct web_req *r)
{
	struct request q = { .err = ERR_OK };
	struct args a = { .req = r, .route = r->route, .o = json_object_new_object(),
	    .cmd = route_command(r->route) };
	struct json_object *body = NULL;

	if (a.cmd == NULL || a.o == NULL) {
		payload_refuse(c, ERR_INTERNAL, NULL, payload_of(r));
		goto out;
	}
	if (r->body.len > 0 && !(r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT))) {
		body = request_object(r->body.p, r->body.len, &q);
		if (body == NULL) {
			answer_error(c, q.err, q.why);
			goto out;
		}
		add_body(&a, body);
	}
	add_parts(&a, r);
	(void)MHD_get_connection_values_n(r->mhd, MHD_GET_ARGUMENT_KIND,
	    add_query, &a);
	if (r->exec != NULL)
		add_text(&a, "exec", r->exec, strlen(r->exec));
	if (r->form != NULL)
		add_file_name(&a, r->form->file);
	add_fixed(&a);
	add_last_event(&a);
	if (payload_of(r) > 0)
		add(&a, "size", json_object_new_int64((int64_t)r->size));
	if (a.wrong != NULL)
		refuse_twice(c, r, a.wrong);
	else if (a.failed)
		payload_refuse(c, ERR_INTERNAL, "out of memory",
		    payload_of(r));
	else
		run(c, r, &a, &q);
out:
	json_object_put(body);
	json_object_put(a.o);
}

void
webargs_run(struct conn *c, struct web_req *r)
{
	if (r->now != THEN_NOTHING)
		run_next(c, r);
	else if (r->route->flags & ROUTE_SOCKET)
		webup_run(c, r);
	else if (r->route->flags & ROUTE_MCP)
		run_mcp(c, r, route_command(r->route));
	else if (r->route->flags & ROUTE_LOGIN)
		run_alone(c, r, route_command(r->route));
	else
		run_args(c, r);
	/* a browser waits for the beginning of a stream, be there events or not */
	if (r->route->flags & ROUTE_EVENTS && !r->known) {
		r->known = true;
		web_req_wake(r->web);
	}
}
