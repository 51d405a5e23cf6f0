/* SPDX-License-Identifier: ISC */
/*
 * Requests of editors.  Requests that look at the program or set its values go
 * to the adapter as they are; requests that let it run or pause it are given as
 * our own commands, like any client's.
 */
#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dapcheck.h"
#include "dapserver.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/bps/catch.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/json_make.h"
#include "debugger/view/set_value.h"

/* A request whose answer is still to come. */
struct dap_request {
	struct editor	*editor;	/* held */
	struct json_object *message;	/* held */
	bool		 touches;	/* what was read may be wrong then */
};

static struct dap_request *
dap_request_new(struct editor *e, struct json_object *message)
{
	struct dap_request *x = calloc(1, sizeof(*x));

	if (x == NULL)
		fatal("editor");
	x->editor = editor_ref(e);
	x->message = json_object_get(message);
	return x;
}

static void
dap_request_free(struct dap_request *x)
{
	editor_unref(x->editor);
	json_object_put(x->message);
	free(x);
}

static void
dap_request_done(struct dap_request *x, bool ok, const char *words,
    struct json_object *body)
{
	editor_respond(x->editor, x->message, ok, words, body);
	dap_request_free(x);
}

static struct json_object *
arguments(struct json_object *message)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(message, "arguments", &v);
	return json_object_is_type(v, json_type_object) ? v : NULL;
}

static struct json_object *
member(struct json_object *message, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(message, name, &v);
	return v;
}

static struct json_object *
argument(struct json_object *message, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(arguments(message), name, &v);
	return v;
}

/* -- what only looks -- */
static void
on_answer(struct op *op, const struct dap_answer *a, void *arg)
{
	struct dap_request *x = arg;
	struct editor *e = editor_ref(x->editor);
	struct json_object *m = json_object_get(x->message);
	const bool touched = a->ok && x->touches;
	const char *command = json_object_get_string(member(m, "command"));

	(void)op;
	if (a->ok) {
		editor_shown(command, arguments(m), a->body);
		editor_mend(command, arguments(m), a->body);
	}
	dap_request_done(x, a->ok, a->ok ? NULL : a->message,
	    json_object_get(a->body));
	if (a->ok && strcmp(command, "stackTrace") == 0)
		editor_warn(e, arguments(m), a->body);
	json_object_put(m);
	editor_unref(e);
	if (touched)
		debuggee_touched();
}

/* An expression typed by somebody may do anything. */
static bool
touches(struct json_object *message, const char *command)
{
	const char *context = json_object_get_string(argument(message,
	    "context"));

	if (strcmp(command, "evaluate") == 0)
		return context != NULL && strcmp(context, "repl") == 0;
	return strncmp(command, "set", 3) == 0 ||
	    strcmp(command, "writeMemory") == 0;
}

static void
pass(struct editor *e, struct json_object *message, const char *command)
{
	struct dap_request *x;

	/* some say "ok" to anything while the program runs */
	if (dbg.phase != PHASE_STOPPED && strcmp(command, "threads") != 0) {
		editor_respond(e, message, false, "the program is not stopped",
		    NULL);
		return;
	}
	if (strncmp(command, "set", 3) == 0 &&
	    editor_sets(e, message, command))
		return;
	x = dap_request_new(e, message);
	x->touches = touches(message, command);
	adapter_ask(command, json_object_get(arguments(message)), NULL,
	    on_answer, x);
}

/* -- what lets it run -- */
static void
on_done(struct op *op, bool failed, struct json_object *json)
{
	struct json_object *v = NULL, *body = NULL;
	struct dap_request *x = op->told_data;

		(void)json_object_object_get_ex(json, "message", &v);
	if (!failed) {
		body = jobject();
		jput(body, "allThreadsContinued", jbool(true));
	}
	dap_request_done(x, !failed, failed ? json_object_get_string(v) : NULL,
	    body);
}

static void
dapreq_give(struct editor *e, struct json_object *message, const char *command)
{
	static const struct {
		const char	*theirs, *ours;
	} same[] = {
		{ "threadId", "thread" }, { "granularity", "granularity" },
		{ "singleThread", "thread_only" },
	};
	struct json_object *args = jobject(), *v;
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if ((v = argument(message, same[i].theirs)) != NULL)
			jput(args, same[i].ours, json_object_get(v));
	jput(args, "wait", jbool(false));
	commands_give(&e->ask, command, args, on_done,
	    dap_request_new(e, message));
}

/* -- its own life -- */
/* Our catchpoints, whatever the adapter calls what it does for them. */
static struct json_object *
exception_filters(void)
{
	struct json_object *list = jarray(), *o;
	const struct catch_kind *k;

	for (k = catch_kinds; k->name != NULL; k++) {
		if (!catch_possible(k->name))
			continue;
		o = jobject();
		jput(o, "filter", jtext(k->name));
		jput(o, "label", jtext(k->label));
		jput(o, "default", jbool(false));
		jput(o, "supportsCondition", jbool(k->typed));
		if (k->typed)
			jput(o, "conditionDescription",
			    jtext("the type, else any"));
		jadd(list, o);
	}
	return list;
}

static void
initialize(struct editor *e, struct json_object *message, const char *unused)
{
	static const char *const ours[] = { "supportsConfigurationDoneRequest",
	    "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
	    "supportsHitConditionalBreakpoints", "supportsLogPoints",
	    "supportTerminateDebuggee", "supportsRestartRequest",
	    "supportsExceptionFilterOptions" };
	/* of the adapter's, those that are passed on */
	static const char *const theirs[] = { "supportsEvaluateForHovers",
	    "supportsSetVariable", "supportsSetExpression",
	    "supportsExceptionInfoRequest", "supportsReadMemoryRequest",
	    "supportsWriteMemoryRequest", "supportsDisassembleRequest",
	    "supportsSteppingGranularity", "supportsCompletionsRequest",
	    "supportsModulesRequest", "supportsLoadedSourcesRequest",
	    "supportsValueFormattingOptions", "supportsClipboardContext",
	    "supportsDelayedStackTraceLoading",
	    "supportsSingleThreadExecutionRequests" };
	struct json_object *can = jobject();
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		jput(can, ours[i], jbool(true));
	for (i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		if (adapter_can(theirs[i]))
			jput(can, theirs[i], jbool(true));
	if (set_value_can())
		jput(can, "supportsSetExpression", jbool(true));
	jput(can, "exceptionBreakpointFilters", exception_filters());
	editor_respond(e, message, true, NULL, can);
}

/* The program is there: attaching to it is all that can be meant. */
static void
attach(struct editor *e, struct json_object *message, const char *unused)
{
	(void)unused;
	if (dbg.phase == PHASE_IDLE) {
		editor_respond(e, message, false, "no program is being "
		    "debugged: `debugger start PROGRAM` first", NULL);
		return;
	}
	e->attached = true;
	editor_respond(e, message, true, NULL, NULL);
	editor_event(e, "initialized", NULL);
}

static void
configured(struct editor *e, struct json_object *message, const char *unused)
{
	(void)unused;
	editor_respond(e, message, true, NULL, NULL);
	if (!e->ready && e->attached) {
		e->ready = true;
		editor_output_begin(e);
		editor_catch_up(e);
	}
}

static void
on_stopped(struct op *op, bool failed, struct json_object *json)
{
	struct dap_request *x = op->told_data;

	(void)failed;
	(void)json;
	editor_end(x->editor, x->message);
	dap_request_free(x);
}

/* It leaves; the program goes on for the others unless it says otherwise. */
static void
disconnect(struct editor *e, struct json_object *message, const char *unused)
{
	(void)unused;
	if (json_object_get_boolean(argument(message, "terminateDebuggee"))) {
		commands_give(&e->ask, "stop", NULL, on_stopped,
		    dap_request_new(e, message));
		return;
	}
	editor_drop_breakpoints(e);
	editor_respond(e, message, true, NULL, NULL);
	editor_close(e);
}

static void
nothing(struct editor *e, struct json_object *message, const char *unused)
{
	(void)unused;
	editor_respond(e, message, true, NULL, NULL);
}

static void
breakpoints(struct editor *e, struct json_object *message, const char *unused)
{
	(void)unused;
	editor_breakpoints(e, message);
}

static const struct {
	const char	*command;
	void		(*fn)(struct editor *, struct json_object *,
			    const char *);
	const char	*to;		/* the adapter's or our own command */
} requests[] = {
	{ "initialize", initialize, NULL },
	{ "launch", attach, NULL },
	{ "attach", attach, NULL },
	{ "configurationDone", configured, NULL },
	{ "disconnect", disconnect, NULL },
	{ "setBreakpoints", breakpoints, NULL },
	{ "setFunctionBreakpoints", breakpoints, NULL },
	{ "setExceptionBreakpoints", breakpoints, NULL },
	{ "cancel", nothing, NULL },
	{ "continue", dapreq_give, "continue" },
	{ "next", dapreq_give, "next" },
	{ "stepIn", dapreq_give, "step" },
	{ "stepOut", dapreq_give, "finish" },
	{ "pause", dapreq_give, "pause" },
	{ "restart", dapreq_give, "restart" },
	{ "threads", pass, "threads" },
	{ "stackTrace", pass, "stackTrace" },
	{ "scopes", pass, "scopes" },
	{ "variables", pass, "variables" },
	{ "evaluate", pass, "evaluate" },
	{ "source", pass, "source" },
	{ "exceptionInfo", pass, "exceptionInfo" },
	{ "setVariable", pass, "setVariable" },
	{ "setExpression", pass, "setExpression" },
	{ "readMemory", pass, "readMemory" },
	{ "writeMemory", pass, "writeMemory" },
	{ "disassemble", pass, "disassemble" },
	{ "completions", pass, "completions" },
	{ "modules", pass, "modules" },
	{ "loadedSources", pass, "loadedSources" },
};

void
editor_request(struct editor *e, struct json_object *message)
{
	struct json_object *v = NULL;
	const char *command;
	char words[256];
	size_t i;

	(void)json_object_object_get_ex(message, "type", &v);
	if (v != NULL && strcmp(json_object_get_string(v), "request") != 0)
		return;		/* we ask editors nothing */
	(void)json_object_object_get_ex(message, "command", &v);
	command = json_object_is_type(v, json_type_string) ?
	    json_object_get_string(v) : "";
	v = NULL;
	(void)json_object_object_get_ex(message, "arguments", &v);
	if (!dapcheck(command, v, words, sizeof(words))) {
		editor_respond(e, message, false, words, NULL);
		return;
	}
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (strcmp(requests[i].command, command) == 0) {
			requests[i].fn(e, message, requests[i].to);
			return;
		}
	editor_respond(e, message, false, "this session does not know that "
	    "request", NULL);
}
