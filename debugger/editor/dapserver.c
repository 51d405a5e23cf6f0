/* SPDX-License-Identifier: ISC */
/* Editors: who there is, what they have not fetched yet, what they hear. */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dapserver.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/link.h"
#include "debugger/base/op.h"
#include "debugger/bps/bps.h"
#include "debugger/stop/wait.h"
#include "debugger/text/clean.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"

#define EDITORS_MAX	16
#define QUEUE_MAX	((size_t)4 << 20)	/* then it is given up */
#define FETCH_MAX	((size_t)200 << 10)	/* in one answer */
#define FORGET_MS	60000	/* without anybody that fetches */
#define CATEGORY_MAX	64

struct heard {
	TAILQ_ENTRY(heard) entry;
	struct json_object *message;
	size_t		 len;
};

struct editor_list editors = LIST_HEAD_INITIALIZER(editors);
static int64_t	last_id;

static void	forget(void *);

/* -- queues -- */
static void
drop_queue(struct editor *e)
{
	struct heard *h;

	while ((h = TAILQ_FIRST(&e->queue)) != NULL) {
		TAILQ_REMOVE(&e->queue, h, entry);
		json_object_put(h->message);
		free(h);
	}
	e->queued = 0;
}

struct editor *
editor_ref(struct editor *e)
{
	e->refs++;
	return e;
}

void
editor_unref(struct editor *e)
{
	if (--e->refs > 0)
		return;
	drop_queue(e);
	json_object_put(e->places);
	json_object_put(e->later);
	free(e);
}

/* Answers a fetch, as the session's answer, with the messages that fit. */
static void
fetch(struct editor *e)
{
	struct json_object *result, *list;
	struct op *op = e->fetching;
	struct heard *h;
	size_t len = 0;

	e->fetching = NULL;
	loop_timer_set(&e->timer, FORGET_MS, forget, e);
	if (op->answered) {
		/* the client that fetched has gone: another may come */
		op_unref(op);
		return;
	}
	result = jobject();
	list = jarray();
	while ((h = TAILQ_FIRST(&e->queue)) != NULL &&
	    (len == 0 || len + h->len <= FETCH_MAX)) {
		TAILQ_REMOVE(&e->queue, h, entry);
		len += h->len;
		e->queued -= h->len;
		jadd(list, h->message);
		free(h);
	}
	jput(result, "messages", list);
	jput(result, "end", jbool(e->last && TAILQ_EMPTY(&e->queue)));
	if (e->last && TAILQ_EMPTY(&e->queue))
		loop_timer_set(&e->timer, 0, forget, e);
	op_reply(op, result);
	op_unref(op);
	if (e->ready && !e->gone)
		editor_output(e, false);
}

/* Bytes of it in an answer. */
static size_t
length_of(struct json_object *o)
{
	size_t len;
	const char *text = jwrite(o, &len);

	return utf8_clean_length(text, len);
}

/* A reply that is too long for a fetch becomes a refusal. */
static void
queue(struct editor *e, struct json_object *m)
{
	struct heard *h = calloc(1, sizeof(*h));
	struct json_object *seq = jint(++e->seq);

	if (h == NULL)
		fatal("editor");
	jput(m, "seq", seq);
	h->len = length_of(m);
	h->message = m;
	TAILQ_INSERT_TAIL(&e->queue, h, entry);
	e->queued += h->len;
	if (e->queued > QUEUE_MAX) {
		log_info("an editor does not fetch what it is told");
		drop_queue(e);
		e->last = true;
	}
	if (e->fetching != NULL)
		fetch(e);
}

void
editor_event(struct editor *e, const char *name, struct json_object *body)
{
	struct json_object *m;

	if (e->gone || e->last) {
		json_object_put(body);
		return;
	}
	m = jobject();
	jput(m, "type", jtext("event"));
	jput(m, "event", jtext(name));
	if (body != NULL)
		jput(m, "body", body);
	queue(e, m);
}

void
editor_respond(struct editor *e, struct json_object *message, bool ok,
    const char *words, struct json_object *body)
{
	struct json_object *m = jobject(), *v;

	if (body != NULL && length_of(body) > FETCH_MAX) {
		json_object_put(body);
		body = NULL;
		ok = false;
		words = "the answer is longer than 200 KB: ask for less";
	}
	jput(m, "type", jtext("response"));
	jput(m, "request_seq", json_object_object_get_ex(message, "seq", &v) ?
	    json_object_get(v) : jint(0));
	jput(m, "command", json_object_object_get_ex(message, "command", &v) ?
	    json_object_get(v) : jtext(""));
	jput(m, "success", jbool(ok));
	if (words != NULL)
		jput(m, "message", jtext(words));
	if (body != NULL)
		jput(m, "body", body);
	if (e->gone || e->last)
		json_object_put(m);
	else
		queue(e, m);
}

void
editor_close(struct editor *e)
{
	e->last = true;
	if (e->fetching != NULL)
		fetch(e);
}

/* -- life -- */
static void
forget(void *arg)
{
	struct editor *e = arg;

	if (e->gone)
		return;
	e->gone = true;
	loop_timer_unset(&e->timer);
	LIST_REMOVE(e, entry);
	editor_drop_breakpoints(e);
	if (e->fetching != NULL)
		fetch(e);
	loop_timer_unset(&e->timer);
	editor_unref(e);
}

static void
cmd_dap(struct op *op)
{
	struct json_object *result;
	struct editor *e;
	size_t n = 0;

	LIST_FOREACH(e, &editors, entry)
		n++;
	if (n == EDITORS_MAX) {
		op_fail(op, "busy", "%d editors are in this session already",
		    EDITORS_MAX);
		return;
	}
	if ((e = calloc(1, sizeof(*e))) == NULL)
		fatal("editor");
	TAILQ_INIT(&e->queue);
	e->refs = 1;
	e->id = ++last_id;
	e->ask = op->ask;
	/* what it gives up by leaving must not end what it began */
	e->ask.conn = 0;
	e->told = PHASE_COUNT;
	e->places = jobject();
	LIST_INSERT_HEAD(&editors, e, entry);
	loop_timer_set(&e->timer, FORGET_MS, forget, e);
	result = jobject();
	jput(result, "client", jint(e->id));
	op_reply(op, result);
}

/* Whether there was one with that number. */
static bool
has_left(int64_t id)
{
	const struct editor *e;

	LIST_FOREACH(e, &editors, entry)
		if (e->id == id)
			return false;
	return id > 0 && id <= last_id;
}

/* The editor of a request; NULL: refused. */
static struct editor *
editor_of(struct op *op)
{
	struct editor *e;
	int64_t id = 0;

	if (!op_int(op, "client", true, &id))
		return NULL;
	LIST_FOREACH(e, &editors, entry)
		if (e->id == id && e->ask.uid == op->ask.uid)
			return e;
	op_fail(op, "no_such", "there is no editor %lld (any more)",
	    (long long)id);
	return NULL;
}

static void
tell_request_action(const struct op *op, struct json_object *message)
{
	struct json_object *v = NULL;
	enum dbg_action action = DBG_ACTION_NONE;

	(void)json_object_object_get_ex(message, "command", &v);
	if (json_object_is_type(v, json_type_string))
		action = dbg_action_find(json_object_get_string(v));
	if (action != DBG_ACTION_NONE)
		link_does(&op->ask, action);
}

static void
cmd_send(struct op *op)
{
	struct editor *e = editor_of(op);
	struct json_object *m = NULL;

	if (e == NULL)
		return;
	if (!json_object_object_get_ex(op->args, "message", &m) ||
	    !json_object_is_type(m, json_type_object)) {
		op_fail(op, "invalid_argument", "\"message\" must be an object");
		return;
	}
	tell_request_action(op, m);
	editor_request(editor_ref(e), m);
	editor_unref(e);
	op_reply(op, jobject());
}

static void
on_fetch_limit(void *arg)
{
	struct editor *e = arg;

	if (e->fetching != NULL)
		fetch(e);
}

/*
 * An editor that has disconnected may be forgotten before it has fetched the
 * end or said that it leaves.  That is no error: the editor gets this answer,
 * which is taken.  False: the request is still to be answered.
 */
static bool
answer_left(struct op *op, struct json_object *result)
{
	int64_t id = 0;
	bool good = op_int(op, "client", true, &id);

	if (good && has_left(id)) {
		op_reply(op, result);
		return true;
	}
	json_object_put(result);
	return !good;
}

static struct json_object *
nothing_more(void)
{
	struct json_object *o = jobject();

	jput(o, "messages", jarray());
	jput(o, "end", jbool(true));
	return o;
}

/* A second fetch takes the place of the first, which ends empty. */
static void
cmd_receive(struct op *op)
{
	struct editor *e;
	uint64_t ms;

	if (!wait_limit(op, false, &ms) || answer_left(op, nothing_more()) ||
	    (e = editor_of(op)) == NULL)
		return;
	if (e->fetching != NULL)
		fetch(e);
	e->fetching = op_ref(op);
	if (!TAILQ_EMPTY(&e->queue) || e->last)
		fetch(e);
	else
		loop_timer_set(&e->timer, ms, on_fetch_limit, e);
}

static void
cmd_close(struct op *op)
{
	struct editor *e;

	if (answer_left(op, jobject()) ||
	    (e = editor_of(op)) == NULL)
		return;
	editor_close(e);
	forget(e);
	op_reply(op, jobject());
}

const struct command dap_commands[] = {
	{ "dap", false, ON_ANY, cmd_dap },
	{ "dap_send", false, ON_ANY, cmd_send },
	{ "dap_receive", false, ON_ANY, cmd_receive },
	{ "dap_close", false, ON_ANY, cmd_close },
	{ .name = NULL }
};

/* -- what they hear -- */
static struct json_object *
stop_body(void)
{
	/* our words, where the protocol has others */
	static const struct {
		const char	*ours, *theirs;
	} words[] = {
		{ "watchpoint", "data breakpoint" }, { "signal", "exception" },
		{ "other", "pause" }, { "until", "goto" },
	};
	struct json_object *body = jobject(), *hits = jarray();
	const char *reason = dbg.stop.reason == NULL ? "pause" :
	    dbg.stop.reason;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].ours, reason) == 0)
			reason = words[i].theirs;
	for (i = 0; i < bps_count(); i++)
		if (bps_at(i)->hit)
			jadd(hits, jint(bps_at(i)->id));
	jput(body, "reason", jtext(reason));
	jput(body, "threadId", jint(dbg.thread));
	jput(body, "allThreadsStopped", jbool(true));
	if (dbg.stop.description[0] != '\0')
		jput(body, "description", jtext(dbg.stop.description));
	jput(body, "hitBreakpointIds", hits);
	return body;
}

static struct json_object *
one(const char *name, struct json_object *value)
{
	struct json_object *o = jobject();

	jput(o, name, value);
	return o;
}

static void
tell_end(struct editor *e)
{
	const int code = dbg.ending.signal != 0 ? 128 + dbg.ending.signal :
	    dbg.ending.code;

	if (dbg.ending.known)
		editor_event(e, "exited", one("exitCode", jint(code)));
	editor_event(e, "terminated", NULL);
}

static void
tell_running(struct editor *e)
{
	struct json_object *body = one("threadId", jint(dbg.thread));

	jput(body, "allThreadsContinued", jbool(true));
	editor_event(e, "continued", body);
}

static void
tell_phase(struct editor *e)
{
	const enum phase before = e->told;

	e->told = dbg.phase == PHASE_INITIALIZING ||
	    dbg.phase == PHASE_CONFIGURING ? PHASE_RUNNING : dbg.phase;
	if (dbg.phase == PHASE_STOPPED && before == PHASE_STOPPED) {
		if (e->shown != dbg.epoch)
			editor_event(e, "invalidated", jobject());
	} else if (dbg.phase == PHASE_STOPPED)
		editor_event(e, "stopped", stop_body());
	else if (e->told == PHASE_RUNNING && before == PHASE_STOPPED)
		tell_running(e);
	else if (e->told != PHASE_RUNNING && before != e->told)
		tell_end(e);
	e->shown = dbg.epoch;
}

/* How it stopped or ended may not be known yet: then it is told later. */
void
editor_catch_up(struct editor *e)
{
	if (!dbg.gathering || (dbg.phase != PHASE_STOPPED &&
	    dbg.phase != PHASE_TERMINATED))
		tell_phase(e);
}

void
dap_phase(void)
{
	struct editor *e, *next;

	if (dbg.phase != PHASE_STOPPED)
		editor_forget_shown();
	for (e = LIST_FIRST(&editors); e != NULL; e = next) {
		next = LIST_NEXT(e, entry);
		if (!e->ready)
			continue;
		if (dbg.phase == PHASE_STOPPED || dbg.phase == PHASE_TERMINATED)
			editor_output(e, true);
		editor_catch_up(e);
	}
	dap_output_wait();
}

void
editor_end(struct editor *e, struct json_object *message)
{
	struct op *op = e->fetching;

	/* nobody fetches a second time */
	e->fetching = NULL;
	if (message != NULL)
		editor_respond(e, message, true, NULL, NULL);
	if (e->ready) {
		editor_output(e, true);
		/* for one that leaves there is no later */
		if (dbg.phase != PHASE_STOPPED || !dbg.gathering)
			tell_phase(e);
	}
	e->fetching = op;
	editor_close(e);
}

void
dap_end(void)
{
	struct editor *e, *next;

	for (e = LIST_FIRST(&editors); e != NULL; e = next) {
		next = LIST_NEXT(e, entry);
		if (!e->last)
			editor_end(e, NULL);
	}
}

static void
tell_all(const char *name, struct json_object *body)
{
	struct editor *e, *next;

	for (e = LIST_FIRST(&editors); e != NULL; e = next) {
		next = LIST_NEXT(e, entry);
		if (e->ready)
			editor_event(e, name, json_object_get(body));
	}
}

/* The beginning of output that no fetch could take, and how much it was. */
static void
tell_beginning(struct json_object *body)
{
	struct json_object *output = NULL, *category = NULL, *cut;
	size_t len, n;
	char words[80];

	(void)json_object_object_get_ex(body, "output", &output);
	(void)json_object_object_get_ex(body, "category", &category);
	if (!json_object_is_type(output, json_type_string))
		return;
	len = (size_t)json_object_get_string_len(output);
	n = jsize_fit(json_object_get_string(output), len, FETCH_MAX / 2);
	cut = one("output", jtext_clean(json_object_get_string(output), n));
	if (json_object_is_type(category, json_type_string) &&
	    json_object_get_string_len(category) <= CATEGORY_MAX)
		jput(cut, "category", json_object_get(category));
	tell_all("output", cut);
	json_object_put(cut);
	if (n == len)
		return;
	(void)snprintf(words, sizeof(words), "\n[%zu bytes of this are left "
	    "out]\n", len - n);
	cut = one("output", jtext(words));
	jput(cut, "category", jtext("console"));
	tell_all("output", cut);
	json_object_put(cut);
}

void
dap_event(const char *name, struct json_object *body)
{
	static const char *const passed[] = { "output", "thread", "module",
	    "process", "loadedSource", "memory", "progressStart",
	    "progressUpdate", "progressEnd" };
	size_t i;

	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (strcmp(passed[i], name) == 0)
			break;
	if (i == sizeof(passed) / sizeof(passed[0]) || LIST_EMPTY(&editors))
		return;
	if (body == NULL || length_of(body) <= FETCH_MAX)
		tell_all(name, body);
	else if (strcmp(name, "output") == 0)
		tell_beginning(body);
}
