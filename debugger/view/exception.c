/* SPDX-License-Identifier: ISC */
/* Exception thrown, or signal received, at the present stop. */
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cxx_exception.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/repl.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "exception.h"

static struct exception	latest;
static void		(*ready)(const struct exception *);
static unsigned int	pending;
static bool		panicked;
/* what was thrown last: a rethrow does not say what */
static struct exception	thrown;

const struct exception *
exception_latest(void)
{
	return &latest;
}

void
exception_forget(void)
{
	latest = (struct exception) { .known = false };
}

/* std::runtime_error is runtime_error too, builtins.ValueError ValueError. */
static bool
same_type(const char *is, const char *wanted)
{
	size_t n = strlen(is), w = strlen(wanted);

	if (w == 0 || n < w || strcmp(is + n - w, wanted) != 0)
		return false;
	return n == w || is[n - w - 1] == ':' || is[n - w - 1] == '.';
}

bool
exception_is(const struct exception *e, const char *type)
{
	size_t i;

	for (i = 0; i < EXC_TYPES; i++)
		if (same_type(e->types[i], type))
			return true;
	return false;
}

struct json_object *
exception_json(const struct exception *e)
{
	struct json_object *o;

	if (!e->known)
		return NULL;
	o = jobject();
	jput_str(o, "id", e->types[0][0] != '\0' ? e->types[0] : e->id);
	if (e->description[0] != '\0')
		jput_str(o, "description", e->description);
	if (e->details[0] != '\0')
		jput_str(o, "details", e->details);
	return o;
}

static void
take(char *to, size_t room, const char *s)
{
	if (s != NULL)
		snprintf(to, room, "%s", s);
}

static void
less(void)
{
	void (*fn)(const struct exception *) = ready;

	if (--pending > 0)
		return;
	if (panicked && dialect()->panic_value == NULL)
		latest.description[0] = '\0';
	ready = NULL;
	fn(&latest);
}

/* -- C++ ---------------------------------------------------------------- */
/* Lines "_ZTSname ---> typeinfo name for std::name". */
static void
take_types(const char *p)
{
	static const char mark[] = "typeinfo name for ";
	size_t i;

	for (i = 0; p != NULL && i < EXC_TYPES; i++) {
		if ((p = strstr(p, mark)) == NULL)
			break;
		p += sizeof(mark) - 1;
		snprintf(latest.types[i], sizeof(latest.types[i]), "%.*s",
		    (int)strcspn(p, "\n"), p);
	}
}

static void
on_names(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)arg;
	take_types(a->ok ? jget_str(a->body, "result") : NULL);
	thrown = latest;
	less();
}

/* The same lines, and "message: text". */
static void
on_thrown(struct op *op, const struct dap_answer *a, void *arg)
{
	static const char mark[] = "message: ";
	const char *said = a->ok ? jget_str(a->body, "result") : NULL, *p;

	(void)op;
	(void)arg;
	take_types(said);
	if (said != NULL && (p = strstr(said, mark)) != NULL) {
		p += sizeof(mark) - 1;
		snprintf(latest.description, sizeof(latest.description),
		    "%.*s", (int)strcspn(p, "\n"), p);
	}
	less();
}

static void
ask_thrown(void)
{
	struct json_object *args =
	    jone_str("expression", dialect()->thrown_command);

	jput_str(args, "context", "repl");
	pending++;
	adapter_ask("evaluate", args, NULL, on_thrown, NULL);
}

static void
on_cxx(const struct cxx_exception *c)
{
	char symbols[CXX_TYPES * 208] = "";
	size_t i, len = 0;

	for (i = 0; i < CXX_TYPES && c->names[i][0] != '\0'; i++)
		len += (size_t)snprintf(symbols + len, sizeof(symbols) - len,
		    " _ZTS%s", c->names[i]);
	if (i == 0) {
		less();
		return;
	}
	snprintf(latest.types[0], sizeof(latest.types[0]), "%s", c->names[0]);
	if (c->message[0] != '\0')
		snprintf(latest.description, sizeof(latest.description),
		    "%s", c->message);
	repl_ask(NULL, REPL_NO_FRAME, on_names, NULL,
	    "language cplusplus demangle%s", symbols);
}

/* -- panics ------------------------------------------------------------- */
static void
on_panic(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)arg;
	if (a->ok)
		take(latest.description, sizeof(latest.description),
		    jget_str(a->body, "result"));
	less();
}

static void
ask_panic(int64_t frame)
{
	struct json_object *args = jone_int("frameId", frame);

	jput_str(args, "expression", dialect()->panic_value);
	jput_str(args, "context", "watch");
	pending++;
	adapter_ask("evaluate", args, NULL, on_panic, NULL);
}

/* rust_panic, or __rustc::rust_panic, as its compilers name it. */
static bool
is_panic(const char *name)
{
	const char *wanted = dialect()->panic_function;

	return wanted != NULL && same_type(name, wanted);
}

static void
on_frame(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *frame = NULL;
	const char *name;
	int64_t id;

	(void)op;
	(void)arg;
	if (a->ok)
		frame = jat(jget_arr(a->body, "stackFrames"), 0);
	name = jget_str(frame, "name");
	if (name != NULL && is_panic(name)) {
		snprintf(latest.types[0], sizeof(latest.types[0]), "panic");
		/* "breakpoint 1.1": what it says is on stderr already */
		panicked = true;
		if (dialect()->panic_value != NULL &&
		    jget_int(frame, "id", &id))
			ask_panic(id);
	} else if (dialect()->thrown_command != NULL &&
	    strcmp(dbg.stop.reason, "exception") == 0) {
		ask_thrown();
	} else if (dialect()->lldb_commands && name != NULL) {
		if (strcmp(name, "__cxa_throw") == 0 &&
		    jget_int(frame, "id", &id)) {
			pending++;
			cxx_exception_read(id, on_cxx);
		} else if (strcmp(name, "__cxa_rethrow") == 0 && thrown.known)
			latest = thrown;
	}
	less();
}

/* -- what the adapter says ---------------------------------------------- */
static void
on_info(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *details = jget_obj(a->body, "details");
	const char *mode = jget_str(a->body, "breakMode");
	const char *type = jget_str(details, "fullTypeName");

	(void)op;
	(void)arg;
	if (a->ok) {
		take(latest.id, sizeof(latest.id),
		    jget_str(a->body, "exceptionId"));
		take(latest.description, sizeof(latest.description),
		    jget_str(a->body, "description"));
		take(latest.details, sizeof(latest.details),
		    jget_str(details, "stackTrace"));
		if (type == NULL)
			type = jget_str(details, "typeName");
		take(latest.types[0], sizeof(latest.types[0]), type);
		latest.unhandled = mode != NULL &&
		    strcmp(mode, "unhandled") == 0;
	}
	less();
}

void
exception_read(void (*fn)(const struct exception *))
{
	struct json_object *args;

	latest = (struct exception) { .known = true };
	take(latest.description, sizeof(latest.description),
	    dbg.stop.description);
	ready = fn;
	panicked = false;
	pending = 2;
	adapter_ask("exceptionInfo", jone_int("threadId", dbg.thread), NULL,
	    on_info, NULL);
	args = jone_int("threadId", dbg.thread);
	jput_int(args, "startFrame", 0);
	jput_int(args, "levels", 1);
	adapter_ask("stackTrace", args, NULL, on_frame, NULL);
}
