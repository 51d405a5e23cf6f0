/* SPDX-License-Identifier: ISC */
/* Answers: session objects, errors, and the times in them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "base/utc.h"
#include "conn.h"
#include "instjson.h"
#include "netproc/text/line.h"
#include "replica.h"
#include "wire/settings.h"

#define ANSWER_MAX	((size_t)4 << 20)
/* Memory kept between answers: most are far smaller. */
#define ANSWER_KEEP	(16 * 1024)
#define NS		1000000000LL

static struct text	 answer = { .max = ANSWER_MAX };
/* what stands around an answer to a JSON request */
static struct text	 wrap = { .max = 1024 };

struct text *
answer_begin(void)
{
	text_reset(&answer, ANSWER_KEEP);
	return &answer;
}

static void
id_json(struct text *t, const struct reply *r)
{
	json_key(t, "id");
	if (r->text)
		json_string(t, r->id, r->len);
	else if (r->len > 0)
		text_put(t, r->id, r->len);
	else
		json_raw(t, "null");
}

static void
open_as(struct conn *c, bool event)
{
	if (c->port != NULL) {
		c->port->answer(c, ERR_OK);
		return;
	}
	if (c->reply.form != REPLY_JSON)
		return;
	text_reset(&wrap, ANSWER_KEEP);
	json_open(&wrap, '{');
	id_json(&wrap, &c->reply);
	if (event)
		json_key(&wrap, "event");
	else {
		json_key(&wrap, "success");
		json_raw(&wrap, "true");
		json_key(&wrap, "result");
	}
	conn_write(c, wrap.p, wrap.len);
}

void
answer_open(struct conn *c)
{
	open_as(c, false);
}

void
answer_piece(struct conn *c)
{
	/* its beginning is with the client already */
	if (answer.bad)
		c->dead = true;
	conn_write(c, answer.p, answer.len);
}

void
answer_close(struct conn *c)
{
	if (c->port != NULL) {
		c->port->answered(c);
		return;
	}
	if (c->reply.form == REPLY_JSON)
		conn_write(c, "}", 1);
	conn_write(c, "\n", 1);
}

void
answer_text(struct conn *c, const struct text *t)
{
	open_as(c, false);
	conn_write(c, t->p, t->len);
	answer_close(c);
}

static void
end_as(struct conn *c, bool event)
{
	if (answer.bad) {
		answer_error(c, ERR_INTERNAL, "the answer is too long");
		return;
	}
	open_as(c, event);
	conn_write(c, answer.p, answer.len);
	answer_close(c);
}

void
answer_end(struct conn *c)
{
	end_as(c, false);
}

void
answer_event(struct conn *c, uint64_t next)
{
	if (c->port != NULL && !answer.bad)
		c->port->event(c, &answer, next);
	else
		end_as(c, true);
}

void
answer_wipe(void)
{
	if (answer.p != NULL)
		explicit_bzero(answer.p, answer.len);
	text_reset(&answer, ANSWER_KEEP);
}

char *
time_text(int64_t ns, bool ms, char buf[TIME_TEXT])
{
	char utc[UTC_TEXT], part[8] = "";

	if (ms)
		(void)snprintf(part, sizeof(part), ".%03u",
		    (unsigned int)(ns % NS / 1000000) % 1000);
	/* the spawner's word, and no time is worth an error */
	(void)snprintf(buf, TIME_TEXT, "%.19s%sZ",
	    utc_text(ns < 0 ? 0 : (time_t)(ns / NS), utc), part);
	return buf;
}

char *
id_text(const struct sid *sid, char buf[ID_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	char *p = buf;
	size_t i;

	for (i = 0; i < sizeof(sid->b); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = hex[sid->b[i] >> 4];
		*p++ = hex[sid->b[i] & 15];
	}
	*p = '\0';
	return buf;
}

static void
line_error(struct text *t, uint32_t err, const char *message)
{
	struct timespec now;
	char when[TIME_TEXT];

	(void)clock_gettime(CLOCK_REALTIME, &now);
	json_key(t, "ok");
	json_raw(t, "false");
	json_key(t, "error_code");
	json_text(t, err_code(err));
	json_key(t, "message");
	json_text(t, message);
	json_key(t, "time");
	json_text(t, time_text((int64_t)now.tv_sec * NS, false, when));
}

static void
error_object(struct text *t, uint32_t err, const char *message)
{
	json_key(t, "error");
	json_open(t, '{');
	json_key(t, "code");
	json_text(t, err_code(err));
	json_key(t, "message");
	json_text(t, message);
	json_close(t, '}');
}

static void
request_error(struct text *t, const struct reply *r, uint32_t err,
    const char *message)
{
	id_json(t, r);
	json_key(t, "success");
	json_raw(t, "false");
	error_object(t, err, message);
}

void
answer_error(struct conn *c, uint32_t err, const char *message)
{
	struct text *t = answer_begin();

	c->hello.err = err;
	if (message == NULL || message[0] == '\0')
		message = err_text(err);
	if (c->port != NULL) {
		c->port->answer(c, err);
		error_object(t, err, message);
		answer_piece(c);
		c->port->answered(c);
		return;
	}
	json_open(t, '{');
	/* who has not said anything yet may be a client of either kind */
	if (c->reply.form != REPLY_JSON)
		line_error(t, err, message);
	if (c->reply.form != REPLY_LINE)
		request_error(t, &c->reply, err, message);
	json_close(t, '}');
	text_put(t, "\n", 1);
	conn_write(c, t->p, t->len);
}

void
answer_error_object(struct conn *c, uint32_t err, const char *p, size_t len)
{
	struct text *t = answer_begin();

	if (c->port != NULL)
		c->port->answer(c, err);
	else {
		json_open(t, '{');
		if (c->reply.form == REPLY_JSON) {
			id_json(t, &c->reply);
			json_key(t, "success");
			json_raw(t, "false");
		} else
			line_error(t, err, err_text(err));
	}
	json_key(t, "error");
	text_put(t, p, len);
	if (c->port != NULL) {
		answer_piece(c);
		c->port->answered(c);
		return;
	}
	text_put(t, "}\n", 2);
	answer_piece(c);
}

void
answer_errorf(struct conn *c, uint32_t err, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	answer_error(c, err, message);
}

void
answer_session(struct conn *c, const struct sid *sid)
{
	const struct rsession *s = replica_find(sid);

	if (s == NULL || replica_access(c->owner, s) == ACCESS_NONE) {
		answer_error(c, ERR_NOT_FOUND, NULL);
		return;
	}
	answer_text(c, replica_json(c, s));
}

const char *
state_text(uint32_t state)
{
	switch (state) {
	case STATE_LOADED:
		return "LOADED";
	case STATE_RUNNING:
		return "RUNNING";
	case STATE_DEBUGGING:
		return "DEBUGGING";
	case STATE_STOPPED:
		return "STOPPED";
	}
	return NULL;
}

const char *
sandbox_text(uint64_t sandbox)
{
	static const char *const names[SANDBOX_COUNT] = {
		[SANDBOX_NONE] = "none",
		[SANDBOX_NAMESPACES] = "namespaces",
		[SANDBOX_TMPFS] = "tmpfs",
	};

	return sandbox < SANDBOX_COUNT ? names[sandbox] : "unknown";
}

static void
number_or_null(struct text *t, const char *key, bool have, uint64_t v)
{
	json_key(t, key);
	if (have)
		json_u64(t, v);
	else
		json_raw(t, "null");
}

static void
time_or_null(struct text *t, const char *key, int64_t ns)
{
	char when[TIME_TEXT];

	json_key(t, key);
	if (ns > 0)
		json_text(t, time_text(ns, true, when));
	else
		json_raw(t, "null");
}

void
end_json(struct text *t, const struct session_view *v)
{
	char name[16];

	number_or_null(t, "exit_code", v->has_exit_code, v->exit_code);
	json_key(t, "signal");
	if (v->signal != 0)
		json_text(t, signal_text(v->signal, name, sizeof(name)));
	else
		json_raw(t, "null");
	/* only then, as clients know the others */
	if (v->out_of_memory) {
		json_key(t, "out_of_memory");
		json_raw(t, "true");
	}
}

static void
bundle_json(struct text *t, const struct session_view *v)
{
	json_key(t, "bundle");
	json_raw(t, "true");
	json_key(t, "exec_path");
	json_text(t, v->exec_path);
	json_key(t, "bundle_dir");
	json_text(t, v->bundle_dir);
}

/* "bob:ro" becomes an object of its two parts. */
static void
shares_json(struct text *t, const char *p, size_t len)
{
	const char *end = p + len, *colon;

	json_key(t, "shared");
	json_open(t, '[');
	for (; p < end; p += strlen(p) + 1) {
		colon = strrchr(p, ':');
		if (colon == NULL)
			continue;
		json_open(t, '{');
		json_key(t, "user");
		json_string(t, p, (size_t)(colon - p));
		json_key(t, "access");
		json_text(t, colon + 1);
		json_close(t, '}');
	}
	json_close(t, ']');
}

static void
strings_json(struct text *t, const char *p, size_t len)
{
	const char *end = p + len;

	json_open(t, '[');
	for (; p < end; p += strlen(p) + 1)
		json_text(t, p);
	json_close(t, ']');
}

static void
command_json(struct text *t, const struct session_view *v)
{
	json_key(t, "command");
	if (v->command)
		strings_json(t, v->cmd, v->cmd_len);
	else
		json_raw(t, "null");
}

static void
limits_json(struct text *t, const struct session_view *v)
{
	static const char *const names[LIMIT_COUNT] = {
		[LIMIT_CPU] = "cpu",
		[LIMIT_AS] = "as",
		[LIMIT_NOFILE] = "nofile",
		[LIMIT_NPROC] = "nproc",
		[LIMIT_CORE] = "core",
	};
	size_t i;

	json_open(t, '{');
	for (i = 0; i < LIMIT_COUNT; i++)
		number_or_null(t, names[i], v->limits[i] != LIMIT_UNLIMITED,
		    v->limits[i]);
	json_close(t, '}');
}

/* As it held for the last run, which is not what a next one may get. */
static void
held_json(struct text *t, const struct session_view *v)
{
	static const char *const networks[] = { "shared", "none" };
	bool ran = v->started_ns != 0;

	json_key(t, "sandbox");
	if (ran)
		json_text(t, sandbox_text(v->sandbox));
	else
		json_raw(t, "null");
	json_key(t, "network");
	if (ran)
		json_text(t, networks[v->network == NETWORK_NONE]);
	else
		json_raw(t, "null");
	json_key(t, "limits");
	if (ran)
		limits_json(t, v);
	else
		json_raw(t, "null");
}

void
session_json(
    struct text *t, const char *id, const struct session_view *v, bool values)
{
	json_open(t, '{');
	json_key(t, "id");
	json_text(t, id);
	json_key(t, "state");
	json_text(t, state_text(v->state));
	number_or_null(t, "pid", v->pid > 0, (uint64_t)v->pid);
	number_or_null(t, "debug_port", v->debug_port != 0, v->debug_port);
	if (v->bundle)
		bundle_json(t, v);
	if (v->args_len > 0) {
		json_key(t, "args");
		json_string(t, v->args, v->args_len);
	}
	if (v->env_len > 0) {
		json_key(t, "env");
		env_json(t, v->env, v->env_len, values);
	}
	json_key(t, "name");
	if (v->name[0] != '\0')
		json_text(t, v->name);
	else
		json_raw(t, "null");
	number_or_null(t, "size", true, v->size);
	end_json(t, v);
	time_or_null(t, "started_at", v->started_ns);
	time_or_null(t, "exited_at", v->exited_ns);
	json_key(t, "owner");
	json_text(t, v->owner_name);
	json_key(t, "tty");
	json_raw(t, v->tty ? "true" : "false");
	number_or_null(t, "cols", v->tty, v->cols);
	number_or_null(t, "rows", v->tty, v->rows);
	command_json(t, v);
	held_json(t, v);
	instruments_json(t, v);
	time_or_null(t, "created_at", v->created_ns);
	if (v->shares_len > 0)
		shares_json(t, v->shares, v->shares_len);
	if (v->warnings_len > 0) {
		json_key(t, "warnings");
		strings_json(t, v->warnings, v->warnings_len);
	}
	json_close(t, '}');
}

void
answer_guest(struct conn *c, const struct rsession *s)
{
	struct session_view v = s->view;

	v.pid = 0;
	v.debug_port = 0;
	v.bundle = v.command = false;
	v.args_len = v.env_len = v.shares_len = v.cmd_len = 0;
	v.warnings_len = 0;
	v.started_ns = 0;
	v.debugger = v.tracer = false;
	session_json(answer_begin(), s->id, &v, false);
	answer_end(c);
}

void
env_json(struct text *t, const char *env, size_t len, bool values)
{
	const char *p = env, *end = env + len, *eq;

	json_open(t, '{');
	while (p < end) {
		size_t n = strnlen(p, (size_t)(end - p));

		eq = memchr(p, '=', n);
		if (eq != NULL) {
			json_string(t, p, (size_t)(eq - p));
			text_put(t, ":", 1);
			if (values)
				json_string(
				    t, eq + 1, n - (size_t)(eq - p) - 1);
			else
				json_raw(t, "null");
		}
		p += n + 1;
	}
	json_close(t, '}');
}
