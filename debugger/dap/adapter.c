/* SPDX-License-Identifier: ISC */
/*
 * Requests to the adapter and its answers.  Only requests that the adapter
 * announced are sent (some adapters abort on others), everything has a time
 * limit, and no caller is called back from within its own call.
 */
#include <sys/epoll.h>
#include <sys/queue.h>

#include <json-c/json.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter.h"
#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/text/codec.h"
#include "debugger/text/json_make.h"
#include "profile.h"

#define OUT_MAX		((size_t)4 << 20)	/* that it has not read */
#define PENDING_MAX	256
#define STDERR_KEPT	2048
#define LAST_READS	32	/* 4 KiB each: more than a pipe holds */
#define CAPABILITIES_MAX 256	/* the protocol has a fifth of that */
#define CAPABILITY_NAME	64

enum limit { LIMIT_INITIALIZE, LIMIT_REQUEST };

/* Requests that may be sent, and the capability that each one requires. */
static const struct request {
	const char	*name;
	const char	*capability;
	enum limit	 limit;
} requests[] = {
	{ "initialize", NULL, LIMIT_INITIALIZE },
	{ "launch", NULL, LIMIT_REQUEST },
	{ "attach", NULL, LIMIT_REQUEST },
	{ "configurationDone", "supportsConfigurationDoneRequest",
	    LIMIT_REQUEST },
	{ "disconnect", NULL, LIMIT_REQUEST },
	{ "terminate", "supportsTerminateRequest", LIMIT_REQUEST },
	{ "setBreakpoints", NULL, LIMIT_REQUEST },
	{ "setFunctionBreakpoints", "supportsFunctionBreakpoints",
	    LIMIT_REQUEST },
	{ "setExceptionBreakpoints", NULL, LIMIT_REQUEST },
	{ "dataBreakpointInfo", "supportsDataBreakpoints", LIMIT_REQUEST },
	{ "setDataBreakpoints", "supportsDataBreakpoints", LIMIT_REQUEST },
	{ "setInstructionBreakpoints", "supportsInstructionBreakpoints",
	    LIMIT_REQUEST },
	{ "breakpointLocations", "supportsBreakpointLocationsRequest",
	    LIMIT_REQUEST },
	{ "continue", NULL, LIMIT_REQUEST },
	{ "next", NULL, LIMIT_REQUEST },
	{ "stepIn", NULL, LIMIT_REQUEST },
	{ "stepOut", NULL, LIMIT_REQUEST },
	{ "stepBack", "supportsStepBack", LIMIT_REQUEST },
	{ "reverseContinue", "supportsStepBack", LIMIT_REQUEST },
	{ "stepInTargets", "supportsStepInTargetsRequest", LIMIT_REQUEST },
	{ "pause", NULL, LIMIT_REQUEST },
	{ "threads", NULL, LIMIT_REQUEST },
	{ "stackTrace", NULL, LIMIT_REQUEST },
	{ "scopes", NULL, LIMIT_REQUEST },
	{ "variables", NULL, LIMIT_REQUEST },
	{ "setVariable", "supportsSetVariable", LIMIT_REQUEST },
	{ "setExpression", "supportsSetExpression", LIMIT_REQUEST },
	{ "evaluate", NULL, LIMIT_REQUEST },
	{ "source", NULL, LIMIT_REQUEST },
	{ "modules", "supportsModulesRequest", LIMIT_REQUEST },
	{ "loadedSources", "supportsLoadedSourcesRequest", LIMIT_REQUEST },
	{ "exceptionInfo", "supportsExceptionInfoRequest", LIMIT_REQUEST },
	{ "readMemory", "supportsReadMemoryRequest", LIMIT_REQUEST },
	{ "writeMemory", "supportsWriteMemoryRequest", LIMIT_REQUEST },
	{ "disassemble", "supportsDisassembleRequest", LIMIT_REQUEST },
	{ "completions", "supportsCompletionsRequest", LIMIT_REQUEST },
	{ "gotoTargets", "supportsGotoTargetsRequest", LIMIT_REQUEST },
	{ "goto", "supportsGotoTargetsRequest", LIMIT_REQUEST },
	{ "cancel", "supportsCancelRequest", LIMIT_REQUEST },
};

struct pending {
	TAILQ_ENTRY(pending) entry;
	int64_t		 seq;		/* -1 = it was not sent */
	uint64_t	 since;		/* loop_now_ms() of that */
	const struct request *request;
	struct op	*op;		/* held; may be NULL */
	dap_fn		 fn;
	void		*arg;
	struct loop_timer timer;	/* the limit, or the refusal on its way */
	const char	*code;		/* of the refusal */
	char		 words[192];
};

static TAILQ_HEAD(, pending) pending = TAILQ_HEAD_INITIALIZER(pending);
static size_t		 npending;
static int64_t		 last_seq;
static const struct adapter_hooks *hooks;
static uint64_t		 limit_ms[2];
static struct json_object *capabilities;
static struct codec	 codec;
static struct loop_io	 in, out, err;
static char		*queue;		/* not yet written */
static size_t		 queue_len, queue_cap;
static bool		 up;
static char		 complaint[STDERR_KEPT + 1];
static size_t		 complaint_len;

bool
adapter_up(void)
{
	return up;
}

struct json_object *
adapter_capabilities(void)
{
	return capabilities;
}

bool
adapter_can(const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(capabilities, name, &v) &&
	    json_object_get_boolean(v);
}

/* Finds a request; a request that is not in the table is never sent. */
static const struct request *
request_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (strcmp(requests[i].name, name) == 0)
			return &requests[i];
	return NULL;
}

/*
 * lldb-dap 19 aborts on requests that it did not announce, debugpy answers
 * nothing any more after one.
 */
bool
adapter_takes(const char *name)
{
	const struct request *r = request_find(name);

	return r != NULL && up &&
	    (r->capability == NULL || adapter_can(r->capability)) &&
	    (dbg.profile == NULL || !profile_never(dbg.profile, name));
}

/* Capabilities that are kept: booleans, and the exception filters. */
static bool
is_capability(const char *name, struct json_object *value)
{
	if (strcmp(name, "exceptionBreakpointFilters") == 0)
		return json_object_is_type(value, json_type_array);
	return json_object_is_type(value, json_type_boolean) &&
	    strlen(name) <= CAPABILITY_NAME;
}

/* Events add to it: one that never stops announcing must not fill memory. */
void
adapter_merge(struct json_object *more)
{
	if (capabilities == NULL)
		capabilities = jobject();
	json_object_object_foreach(more, key, value) {
		if (!is_capability(key, value) ||
		    (json_object_object_length(capabilities) >=
		    CAPABILITIES_MAX &&
		    !json_object_object_get_ex(capabilities, key, NULL)))
			continue;
		jput(capabilities, key, json_object_get(value));
	}
}

/* -- writing -- */
static void
shut(struct loop_io *io)
{
	int fd = io->fd;

	if (!io->active)
		return;
	loop_del(io);
	close(fd);
}

static void
lost(const char *why)
{
	if (!up)
		return;
	adapter_shut();
	hooks->lost(why);
}

/* Its last words are still to be read; what is asked now it never hears. */
static void
unheard(void)
{
	shut(&in);
	queue_len = 0;
	hooks->lost("it closed its input");
}

static void
write_more(void)
{
	ssize_t n;

	while (queue_len > 0) {
		n = write(in.fd, queue, queue_len);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n == -1) {
			unheard();
			return;
		}
		queue_len -= (size_t)n;
		memmove(queue, queue + n, queue_len);
	}
	(void)loop_mod(&in, queue_len > 0 ? EPOLLOUT : 0);
}

static void
on_writable(uint32_t events, void *arg)
{
	(void)arg;
	if (events & (EPOLLERR | EPOLLHUP))
		unheard();
	else
		write_more();
}

/* An adapter that does not read must not fill our memory. */
static int
enqueue(const void *p, size_t len)
{
	size_t cap = queue_cap == 0 ? 4096 : queue_cap;
	char *q;

	if (len > OUT_MAX - queue_len)
		return -1;
	while (cap < queue_len + len)
		cap *= 2;
	if (cap > queue_cap) {
		if ((q = realloc(queue, cap)) == NULL)
			return -1;
		queue = q;
		queue_cap = cap;
	}
	memcpy(queue + queue_len, p, len);
	queue_len += len;
	return 0;
}

static const char *
string_of(struct json_object *o, const char *name)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, name, &v) ||
	    !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

/* Logs no contents of a message: these are the program's and its owner's. */
static void
log_message(const char *way, struct json_object *m, size_t len)
{
	const char *type = string_of(m, "type"), *name = string_of(m,
	    type != NULL && strcmp(type, "event") == 0 ? "event" : "command");

	log_debug("%s %.32s %.64s, %zu bytes", way, type == NULL ? "?" : type,
	    name == NULL ? "?" : name, len);
}

/* A head and its body, or neither. */
static int
enqueue_frame(const char *text, size_t len)
{
	const size_t before = queue_len;
	char head[64];
	int n = snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", len);

	if (enqueue(head, (size_t)n) == 0 && enqueue(text, len) == 0)
		return 0;
	queue_len = before;
	return -1;
}

/*
 * Takes message.  Returns -1 if the adapter does not read what it is sent.  A
 * request to an adapter that is about to end is answered when the adapter ends.
 */
static int
send_message(struct json_object *message)
{
	size_t len;
	const char *text = jwrite(message, &len);
	int rc = in.active ? -1 : 0;

	if (in.active && enqueue_frame(text, len) == 0) {
		log_message("dap>", message, len);
		write_more();
		rc = 0;
	}
	json_object_put(message);
	return rc;
}

/* -- requests -- */
/* The end of a request: it is out of the list before anybody hears of it. */
static void
settle(struct pending *p, const struct dap_answer *answer)
{
	TAILQ_REMOVE(&pending, p, entry);
	npending--;
	loop_timer_unset(&p->timer);
	if (p->fn != NULL)
		p->fn(p->op, answer, p->arg);
	if (p->op != NULL)
		op_unref(p->op);
	free(p);
}

static void
refuse(struct pending *p, const char *code, const char *words)
{
	struct dap_answer answer = { .code = code, .message = words };

	settle(p, &answer);
}

static void
on_refused(void *arg)
{
	struct pending *p = arg;

	refuse(p, p->code, p->words);
}

static struct pending *
pending_oldest(void)
{
	struct pending *p;

	TAILQ_FOREACH(p, &pending, entry)
		if (p->seq != -1)
			return p;
	return NULL;
}

/* Adapters do one thing after the other: it is at the oldest. */
const char *
adapter_busy(uint64_t *ms)
{
	const struct pending *p = up ? pending_oldest() : NULL;

	if (p == NULL)
		return NULL;
	*ms = loop_now_ms() - p->since;
	return p->request->name;
}

/* An answer that comes after this is one that nobody asked for. */
static void
on_limit(void *arg)
{
	struct pending *p = arg, *first = pending_oldest();
	struct json_object *args;
	char why[64] = "";

	if (first != p && first != NULL)
		(void)snprintf(why, sizeof(why), ": it is busy with \"%s\"",
		    first->request->name);
	(void)snprintf(p->words, sizeof(p->words), "%s did not answer \"%s\" "
	    "within %llu s%s", dbg.profile != NULL ? dbg.profile->name :
	    "the adapter", p->request->name, (unsigned long long)
	    (limit_ms[p->request->limit] / 1000), why);
	log_warnx("%s", p->words);
	if (adapter_takes("cancel")) {
		args = jobject();
		jput(args, "requestId", jint(p->seq));
		adapter_ask("cancel", args, NULL, NULL, NULL);
	}
	refuse(p, "timeout", p->words);
}

/* Callers are in the middle of something: they hear of it a turn later. */
static void
refuse_later(struct pending *p, const char *code, const char *words)
{
	p->code = code;
	p->seq = -1;
	(void)snprintf(p->words, sizeof(p->words), "%s", words);
	loop_timer_set(&p->timer, 0, on_refused, p);
}

/* Takes args. */
static int
send_request(struct pending *p, struct json_object *args)
{
	struct json_object *m = jobject();

	jput(m, "seq", jint(p->seq));
	jput(m, "type", jtext("request"));
	jput(m, "command", jtext(p->request->name));
	if (args != NULL)
		jput(m, "arguments", args);
	return send_message(m);
}

static const char *
adapter_name(void)
{
	return dbg.profile != NULL ? dbg.profile->name : "the adapter";
}

void
adapter_ask(const char *name, struct json_object *args, struct op *op,
    dap_fn fn, void *arg)
{
	static const struct request unknown = { "request", NULL, LIMIT_REQUEST };
	struct pending *p = calloc(1, sizeof(*p));
	char words[160];

	if (p == NULL)
		fatal("request to the adapter");
	p->request = request_find(name);
	p->op = op == NULL ? NULL : op_ref(op);
	p->fn = fn;
	p->arg = arg;
	p->seq = ++last_seq;
	p->since = loop_now_ms();
	TAILQ_INSERT_TAIL(&pending, p, entry);
	npending++;
	if (up && adapter_takes(name) && npending <= PENDING_MAX) {
		loop_timer_set(&p->timer, limit_ms[p->request->limit],
		    on_limit, p);
		if (send_request(p, args) == -1)
			refuse_later(p, "adapter_failed",
			    "the adapter does not read its requests");
		return;
	}
	json_object_put(args);
	if (p->request == NULL)
		p->request = &unknown;
	(void)snprintf(words, sizeof(words), npending > PENDING_MAX ?
	    "too many requests are on their way to %s" :
	    up ? "%s cannot do \"%s\"" : "no adapter is running",
	    adapter_name(), name);
	refuse_later(p, up ? npending > PENDING_MAX ? "busy" : "unsupported" :
	    "adapter_exited", words);
}

/* -- what it says -- */
/* "{name}" in a format by the variable of that name. */
static void
fill_in(char *to, size_t size, const char *format, struct json_object *vars)
{
	const char *end, *value;
	char name[64];
	size_t n = 0;

	while (*format != '\0' && n + 1 < size) {
		end = *format == '{' ? strchr(format, '}') : NULL;
		if (end == NULL || (size_t)(end - format) > sizeof(name)) {
			to[n++] = *format++;
			continue;
		}
		(void)snprintf(name, sizeof(name), "%.*s",
		    (int)(end - format - 1), format + 1);
		if ((value = string_of(vars, name)) != NULL)
			n += (size_t)snprintf(to + n, size - n, "%s", value);
		else
			n += (size_t)snprintf(to + n, size - n, "{%s}", name);
		n = n < size ? n : size - 1;
		format = end + 1;
	}
	to[n] = '\0';
}

/* Text of a refusal: body.error.format, else "message". */
static const char *
refusal(struct json_object *m, struct json_object *body, char *buf, size_t size)
{
	struct json_object *error = NULL, *vars = NULL;
	const char *s = NULL;

	if (json_object_object_get_ex(body, "error", &error))
		s = string_of(error, "format");
	if (s != NULL && *s != '\0') {
		(void)json_object_object_get_ex(error, "variables", &vars);
		fill_in(buf, size, s, vars);
	} else if ((s = string_of(m, "message")) != NULL && *s != '\0')
		(void)snprintf(buf, size, "%s", s);
	else
		(void)snprintf(buf, size, "%s refused without words",
		    adapter_name());
	return buf;
}

/* Finds the request with that number; requests not sent match no answer. */
static struct pending *
pending_find(int64_t seq)
{
	struct pending *p;

	TAILQ_FOREACH(p, &pending, entry)
		if (p->seq != -1 && p->seq == seq)
			return p;
	return NULL;
}

/* Finds a request that was sent, with that number or a lower one. */
static struct pending *
pending_until(int64_t last)
{
	struct pending *p;

	TAILQ_FOREACH(p, &pending, entry)
		if (p->seq != -1 && p->seq <= last)
			return p;
	return NULL;
}

static void
on_response(struct json_object *m)
{
	struct json_object *v, *body = NULL;
	struct dap_answer answer = { .ok = false, .code = "refused" };
	struct pending *p;
	char words[4096];	/* tracebacks end with the error */

	if (!json_object_object_get_ex(m, "request_seq", &v) ||
	    (p = pending_find(json_object_get_int64(v))) == NULL)
		return;		/* too late, or never asked */
	if (json_object_object_get_ex(m, "body", &body) &&
	    !json_object_is_type(body, json_type_object))
		body = NULL;
	answer.body = body;
	answer.ok = json_object_object_get_ex(m, "success", &v) &&
	    json_object_get_boolean(v);
	if (!answer.ok)
		answer.message = refusal(m, body, words, sizeof(words));
	else if (p->request->limit == LIMIT_INITIALIZE && body != NULL)
		adapter_merge(body);
	settle(p, &answer);
}

/* It asks us for something: a terminal, a second session. */
static void
on_reverse(struct json_object *m)
{
	struct json_object *r = jobject(), *v;
	const char *command = string_of(m, "command");
	int64_t seq = json_object_object_get_ex(m, "seq", &v) ?
	    json_object_get_int64(v) : 0;

	jput(r, "seq", jint(++last_seq));
	jput(r, "type", jtext("response"));
	jput(r, "request_seq", jint(seq));
	jput(r, "command", jtext(command == NULL ? "" : command));
	jput(r, "success", jbool(false));
	jput(r, "message", jtext("this client starts nothing for adapters"));
	(void)send_message(r);
}

/* -1: the adapter was given up while its message was looked at. */
static int
on_message(struct json_object *m, const char *text, size_t len, void *arg)
{
	static struct json_object *nothing;
	const char *type = string_of(m, "type"), *event;
	struct json_object *body = NULL;

	(void)arg;
	(void)text;
	log_message("dap<", m, len);
	if (type == NULL)
		return 0;
	if (strcmp(type, "response") == 0) {
		on_response(m);
	} else if (strcmp(type, "request") == 0) {
		on_reverse(m);
	} else if (strcmp(type, "event") == 0 &&
	    (event = string_of(m, "event")) != NULL) {
		if (nothing == NULL)
			nothing = jobject();
		if (!json_object_object_get_ex(m, "body", &body) ||
		    !json_object_is_type(body, json_type_object))
			body = nothing;
		hooks->event(event, body);
	}
	return up ? 0 : -1;
}

/*
 * Refuses a request whose answer was left out, so that its client does not
 * wait until the time limit.
 */
static void
on_left_out(const char *why, int64_t seq, void *arg)
{
	struct pending *p = pending_find(seq);
	char words[160];

	(void)arg;
	log_warnx("a message of the adapter was left out: %s", why);
	if (p == NULL)
		return;
	(void)snprintf(words, sizeof(words), "the answer of %s to \"%s\" was "
	    "left out: %s", adapter_name(), p->request->name, why);
	refuse(p, "adapter_failed", words);
}

static void
on_readable(uint32_t events, void *arg)
{
	static const struct codec_fns fns = { on_message, on_left_out };
	static char buf[64 << 10];
	const char *why;
	ssize_t n;

	(void)events;
	(void)arg;
	n = read(out.fd, buf, sizeof(buf));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		lost("it closed its output");
	else if (codec_feed(&codec, buf, (size_t)n, &fns, NULL, &why) == -1 &&
	    why != NULL)
		lost(why);
}

/* Reads what stderr holds now and keeps the end of it.  False: no more. */
static bool
read_stderr(void)
{
	char buf[4096];
	ssize_t n = err.active ? read(err.fd, buf, sizeof(buf)) : 0;
	size_t len, drop;

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		shut(&err);
		return false;
	}
	len = (size_t)n < STDERR_KEPT ? (size_t)n : STDERR_KEPT;
	drop = complaint_len + len > STDERR_KEPT ?
	    complaint_len + len - STDERR_KEPT : 0;
	memmove(complaint, complaint + drop, complaint_len - drop);
	memcpy(complaint + complaint_len - drop, buf + (size_t)n - len, len);
	complaint_len += len - drop;
	complaint[complaint_len] = '\0';
	return true;
}

/* Read always: a full pipe would hold the adapter up. */
static void
on_stderr(uint32_t events, void *arg)
{
	(void)events;
	(void)arg;
	(void)read_stderr();
}

const char *
adapter_complaint(void)
{
	static char line[256];
	size_t end, from;
	int i;

	/* one that has ended may have said more than was read so far */
	for (i = 0; i < LAST_READS && read_stderr(); i++)
		;
	end = complaint_len;
	while (end > 0 && strchr(" \n\r\t", complaint[end - 1]) != NULL)
		end--;
	for (from = end; from > 0 && complaint[from - 1] != '\n'; from--)
		;
	return log_escape(line, sizeof(line), complaint + from, end - from);
}

/* -- life -- */
void
adapter_init(const struct adapter_hooks *h, uint32_t initialize_s,
    uint32_t request_s)
{
	hooks = h;
	limit_ms[LIMIT_INITIALIZE] = (uint64_t)initialize_s * 1000;
	limit_ms[LIMIT_REQUEST] = (uint64_t)request_s * 1000;
}

uint64_t
adapter_limit_ms(void)
{
	return limit_ms[LIMIT_REQUEST];
}

static void
watch(struct loop_io *io, int fd, uint32_t events, loop_io_fn fn)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1 ||
	    loop_add(io, fd, events, fn, NULL) == -1)
		fatal("pipe of the adapter");
}

/* Forgets what the last adapter announced: this one may differ. */
void
adapter_open(int in_fd, int out_fd, int err_fd)
{
	adapter_gone("another one was started");
	json_object_put(capabilities);
	capabilities = NULL;
	complaint_len = 0;
	complaint[0] = '\0';
	watch(&in, in_fd, 0, on_writable);
	watch(&out, out_fd, EPOLLIN, on_readable);
	watch(&err, err_fd, EPOLLIN, on_stderr);
	up = true;
}

void
adapter_shut(void)
{
	up = false;
	shut(&in);
	shut(&out);
	queue_len = 0;
}

void
adapter_gone(const char *why)
{
	const int64_t last = last_seq;
	struct pending *p;

	adapter_shut();
	shut(&err);
	codec_free(&codec);
	/* each of them may ask anew, which is refused a turn later */
	while ((p = pending_until(last)) != NULL)
		refuse(p, "adapter_exited", why);
}
