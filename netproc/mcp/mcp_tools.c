/* SPDX-License-Identifier: ISC */
/*
 * The tools: what they take is one table, of which their schemas are written
 * and by which arguments are looked at, so that the two cannot differ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mcp.h"
#include "netproc/conn/conn.h"

#define WHY_MAX		400

enum kind {
	KIND_STRING,
	KIND_STRINGS,		/* an array of them */
	KIND_WORD,		/* one of words */
	KIND_BOOL,
	KIND_NUMBER,		/* a whole one, from least to most */
	KIND_OBJECT,		/* of within */
	KIND_MAP,		/* an object of strings */
	KIND_ANY,
	KINDS
};

struct field {
	const char	*name;		/* NULL ends the list */
	enum kind	 kind;
	bool		 must;
	const char	*description;
	const struct field *within;
	const char	*const *words;
	const char	*preset;	/* JSON; NULL = none */
	uint64_t	 least, most;	/* most 0 = no bound */
};

struct mcp_tool {
	const char	*name, *title, *description;
	const struct field *fields;
	const char	*output;	/* schema */
	const char	*hints;		/* annotations but for the title */
	void		(*run)(struct conn *, const struct word *args);
};

/* -- what they take ------------------------------------------------------- */

#define SESSION(must_)	{ .name = "sessionId", .kind = KIND_STRING,	\
	.must = (must_), .description = "The id from debug_launch, or that "	\
	"of any session of this daemon, the beginning of it or the label, "	\
	"with the user and a slash before it if it is another user's." }

static const struct field launch_fields[] = {
	{ .name = "command", .kind = KIND_STRING, .must = true,
	    .description = "Path to executable" },
	{ .name = "args", .kind = KIND_STRINGS,
	    .description = "Command line arguments", .preset = "[]" },
	{ .name = "cwd", .kind = KIND_STRING, .description =
	    "Working directory (default: directory of command)" },
	{ .name = "projectRoot", .kind = KIND_STRING, .must = true,
	    .description = "Root directory for user code detection: "
	    "@usercode stands for the functions whose source is below it" },
	{ .name = "env", .kind = KIND_MAP, .description =
	    "Additional environment variables" },
	{ .name = "followForks", .kind = KIND_BOOL, .preset = "false",
	    .description = "Trace the processes that it starts as well" },
	{ .name = NULL }
}, trace_fields[] = {
	SESSION(false),
	{ .name = "add", .kind = KIND_STRINGS, .description =
	    "Patterns to start tracing: names of functions, where * stands "
	    "for all but ::, and ** for that too; @usercode; @file:PATTERN" },
	{ .name = "remove", .kind = KIND_STRINGS,
	    .description = "Patterns to stop tracing, as they were added" },
	{ .name = "projectRoot", .kind = KIND_STRING, .description =
	    "The directory that @usercode stands for from now on; for a "
	    "session that was not launched with one" },
	{ .name = "rawRegisters", .kind = KIND_BOOL, .preset = "false",
	    .description = "Take functions without debug information, too, by "
	    "the symbol table: arguments are the raw registers then" },
	{ .name = "addresses", .kind = KIND_STRINGS, .description =
	    "Places to trace beside: 0xADDRESS of the file, or NAME+OFFSET" },
	{ .name = "budget", .kind = KIND_NUMBER, .description =
	    "Calls a second of each function, beyond which some are left out "
	    "and the answers say so; 0 = all are kept. Of the patterns to "
	    "add, or of all when none are added" },
	{ .name = NULL }
};

static const struct field function_fields[] = {
	{ .name = "equals", .kind = KIND_STRING,
	    .description = "Exact match (demangled name)" },
	{ .name = "contains", .kind = KIND_STRING,
	    .description = "Substring match" },
	{ .name = "matches", .kind = KIND_STRING,
	    .description = "Regex match" },
	{ .name = NULL }
}, file_fields[] = {
	{ .name = "equals", .kind = KIND_STRING },
	{ .name = "contains", .kind = KIND_STRING },
	{ .name = NULL }
}, return_fields[] = {
	{ .name = "equals", .kind = KIND_ANY,
	    .description = "The value as JSON" },
	{ .name = "isNull", .kind = KIND_BOOL },
	{ .name = NULL }
};
static const char *const event_types[] = { "function_enter", "function_exit",
    "stdout", "stderr", "crash", NULL };

static const struct field query_fields[] = {
	SESSION(true),
	{ .name = "eventType", .kind = KIND_WORD, .words = event_types,
	    .description = "Only these" },
	{ .name = "function", .kind = KIND_OBJECT, .within = function_fields,
	    .description = "Only calls of these functions" },
	{ .name = "sourceFile", .kind = KIND_OBJECT, .within = file_fields,
	    .description = "Only functions of these files" },
	{ .name = "returnValue", .kind = KIND_OBJECT, .within = return_fields,
	    .description = "Only calls that returned this" },
	{ .name = "threadId", .kind = KIND_NUMBER,
	    .description = "Only this thread" },
	{ .name = "limit", .kind = KIND_NUMBER, .least = 1, .most = 500,
	    .preset = "50", .description = "How many events at most" },
	{ .name = "offset", .kind = KIND_NUMBER, .preset = "0",
	    .description = "For pagination: so many are passed over" },
	{ .name = "afterEventId", .kind = KIND_STRING, .description =
	    "For pagination, also while more comes: only what is later than "
	    "the event of this id" },
	{ .name = "verbose", .kind = KIND_BOOL, .preset = "false",
	    .description = "With arguments, return values, threads and "
	    "parents" },
	{ .name = NULL }
}, stop_fields[] = {
	SESSION(true),
	{ .name = "keep", .kind = KIND_BOOL, .preset = "false",
	    .description = "Leave the timeline in a file, to be read by "
	    "debuglanternctl timeline" },
	{ .name = NULL }
};

/* -- what they answer ----------------------------------------------------- */

#define OBJECT(required, properties)					\
	"{\"type\":\"object\",\"properties\":{" properties "},"		\
	"\"required\":[" required "],\"additionalProperties\":false}"
#define STRING		"{\"type\":\"string\"}"
#define STRINGS		"{\"type\":\"array\",\"items\":" STRING "}"
#define NUMBER		"{\"type\":\"integer\",\"minimum\":0}"
#define BOOL		"{\"type\":\"boolean\"}"
#define ARRAY(items)	"{\"type\":\"array\",\"items\":" items "}"
#define REASONS		ARRAY(OBJECT("\"function\",\"reason\"",		\
	"\"function\":" STRING ",\"reason\":" STRING))

static const char launch_output[] = OBJECT("\"sessionId\",\"pid\"",
    "\"sessionId\":{\"type\":\"string\",\"description\":"
    "\"name-YYYY-MM-DD-HHhMM, in UTC\"},"
    "\"pid\":{\"type\":\"integer\",\"description\":"
    "\"Process ID of launched binary\"},"
    "\"warnings\":" STRINGS);

static const char trace_output[] = OBJECT(
    "\"activePatterns\",\"hookedFunctions\"",
    "\"activePatterns\":" STRINGS ","
    "\"hookedFunctions\":" NUMBER ","
    "\"pending\":{\"type\":\"array\",\"items\":" STRING ","
    "\"description\":\"Patterns that match nothing yet\"},"
    "\"notTraceable\":" REASONS ","
    "\"notTraceableCount\":" NUMBER ","
    "\"inlined\":{\"type\":\"array\",\"items\":" STRING ","
    "\"description\":\"Functions that exist only within others\"},"
    "\"entryOnly\":" REASONS ","
    "\"stopNs\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
    "\"For how long the program stood still\"},"
    "\"warnings\":" STRINGS);

/* Members of a summary, of verbose events, of output and of crashes. */
#define EVENT	OBJECT("\"id\",\"timestamp_ns\",\"eventType\"",		\
	"\"id\":" STRING ","						\
	"\"timestamp_ns\":{\"type\":\"integer\",\"minimum\":0,"		\
	"\"description\":\"Since the session's start\"},"		\
	"\"eventType\":{\"enum\":[\"function_enter\",\"function_exit\"," \
	"\"stdout\",\"stderr\",\"crash\"]},"				\
	"\"function\":" STRING ",\"functionRaw\":" STRING ","		\
	"\"sourceFile\":" STRING ",\"line\":" NUMBER ","		\
	"\"duration_ns\":{\"type\":[\"integer\",\"null\"],\"minimum\":0," \
	"\"description\":\"Null of function_enter\"},"			\
	"\"returnType\":" STRING ","					\
	"\"threadId\":" NUMBER ",\"threadName\":" STRING ","		\
	"\"parentEventId\":{\"type\":[\"string\",\"null\"]},"		\
	"\"arguments\":{\"type\":\"array\"},"				\
	"\"returnValue\":{},"						\
	"\"sampled\":" BOOL ",\"unwound\":" BOOL ","			\
	"\"text\":" STRING ",\"crash\":{\"type\":[\"object\",\"string\"]}")

static const char query_output[] = OBJECT(
    "\"events\",\"totalCount\",\"hasMore\"",
    "\"events\":" ARRAY(EVENT) ","
    "\"totalCount\":" NUMBER ",\"hasMore\":" BOOL ","
    "\"losses\":{\"type\":\"array\",\"items\":"
    OBJECT("\"threadId\",\"lost\"", "\"threadId\":" NUMBER ",\"lost\":" NUMBER
    ",\"threadName\":" STRING) ",\"description\":\"Calls that could not be "
    "kept\"},"
    "\"evicted\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
    "\"Events of calls, the oldest, that have made room for later ones\"},"
    "\"lostOutputBytes\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"Output that could not be kept, or was overwritten "
    "before it was read\"},"
    "\"sampled\":{\"type\":\"array\",\"items\":"
    OBJECT("\"function\",\"skipped\"", "\"function\":" STRING
    ",\"skipped\":" NUMBER) ",\"description\":\"Calls that were left out "
    "by the budget\"},"
    "\"trouble\":{\"type\":\"string\",\"description\":"
    "\"Why events cannot be stored just now\"}");

static const char stop_output[] = OBJECT("\"success\",\"eventsCollected\"",
    "\"success\":" BOOL ",\"eventsCollected\":" NUMBER ","
    "\"kept\":{\"type\":\"string\",\"description\":\"Path of the timeline\"}");

/* -- the table ------------------------------------------------------------ */

#define HINTS(read_only, destructive, idempotent, open)			\
	"\"readOnlyHint\":" read_only ",\"destructiveHint\":" destructive \
	",\"idempotentHint\":" idempotent ",\"openWorldHint\":" open

static const struct mcp_tool tools[] = {
	{ "debug_launch", "Launch a program to be traced",
	    "Start a new debug session: runs a native program (it need not be "
	    "built anew) and returns at once. Nothing is traced yet but "
	    "patterns that debug_trace was given without a sessionId; what it "
	    "writes is always captured. A session of the same program that is "
	    "still traced must be stopped before (SESSION_EXISTS).",
	    launch_fields, launch_output,
	    HINTS("false", "false", "false", "true"), mcp_launch },
	{ "debug_trace", "Choose what is traced",
	    "Query, add, or remove trace patterns at runtime, without a "
	    "restart. Call it without add and remove to get the current state. "
	    "A session that is not traced yet is attached to. Without "
	    "sessionId the patterns wait, and are put in by your next "
	    "debug_launch before its program begins. Examples: render::*, "
	    "*::draw, auth::**::validate, @usercode.",
	    trace_fields, trace_output,
	    HINTS("false", "false", "true", "false"), mcp_trace },
	{ "debug_query", "Ask what has happened",
	    "Query the unified execution timeline (function traces, stdout, "
	    "stderr and crashes), in chronological order; all filters that are "
	    "given must hold. Works after the program has ended, too.",
	    query_fields, query_output,
	    HINTS("true", "false", "true", "false"), mcp_query },
	{ "debug_stop", "Stop tracing",
	    "Stop a debug session: detaches, and deletes what was recorded "
	    "unless keep is given. A program that still runs continues without "
	    "tracing.",
	    stop_fields, stop_output,
	    HINTS("false", "true", "true", "false"), mcp_stop },
};
#define NTOOLS	(sizeof(tools) / sizeof(tools[0]))

const struct mcp_tool *
mcp_tool_find(const struct word *string)
{
	size_t i;

	for (i = 0; i < NTOOLS; i++)
		if (json_says(string, tools[i].name))
			return &tools[i];
	return NULL;
}

const char *
mcp_tool_name(const struct mcp_tool *tool)
{
	return tool->name;
}

void
mcp_tool_run(struct conn *c, const struct word *args)
{
	c->mcp->tool->run(c, args);
}

/* -- schemas -------------------------------------------------------------- */

static void	properties(struct text *, const struct field *);

static const struct {
	const char	*name;		/* for people */
	const char	*schema;	/* its members; NULL = none */
	char		 is;		/* as json_kind() has it */
} kinds[KINDS] = {
	[KIND_STRING] = { "a string", "\"type\":\"string\"", '"' },
	[KIND_STRINGS] = { "an array of strings",
	    "\"type\":\"array\",\"items\":{\"type\":\"string\"}", '[' },
	[KIND_WORD] = { "a string", "\"type\":\"string\"", '"' },
	[KIND_BOOL] = { "true or false", "\"type\":\"boolean\"", 't' },
	[KIND_NUMBER] = { "a whole number from 0 on",
	    "\"type\":\"integer\"", '0' },
	[KIND_OBJECT] = { "an object", "\"type\":\"object\"", '{' },
	[KIND_MAP] = { "an object of strings", "\"type\":\"object\","
	    "\"additionalProperties\":{\"type\":\"string\"}", '{' },
	[KIND_ANY] = { "any value", NULL, '\0' },
};

static void
words_json(struct text *t, const char *const *words)
{
	json_key(t, "enum");
	json_open(t, '[');
	for (; *words != NULL; words++)
		json_text(t, *words);
	json_close(t, ']');
}

static void
schema(struct text *t, const struct field *f)
{
	json_open(t, '{');
	if (kinds[f->kind].schema != NULL)
		text_puts(t, kinds[f->kind].schema);
	if (f->kind == KIND_NUMBER) {
		json_key(t, "minimum");
		json_u64(t, f->least);
	}
	if (f->most > 0) {
		json_key(t, "maximum");
		json_u64(t, f->most);
	}
	if (f->words != NULL)
		words_json(t, f->words);
	if (f->within != NULL)
		properties(t, f->within);
	if (f->preset != NULL) {
		json_key(t, "default");
		json_raw(t, f->preset);
	}
	if (f->description != NULL) {
		json_key(t, "description");
		json_text(t, f->description);
	}
	json_close(t, '}');
}

static void
properties(struct text *t, const struct field *fields)
{
	const struct field *f;

	json_key(t, "properties");
	json_open(t, '{');
	for (f = fields; f->name != NULL; f++) {
		json_key(t, f->name);
		schema(t, f);
	}
	json_close(t, '}');
	json_key(t, "required");
	json_open(t, '[');
	for (f = fields; f->name != NULL; f++)
		if (f->must)
			json_text(t, f->name);
	json_close(t, ']');
	json_key(t, "additionalProperties");
	json_raw(t, "false");
}

static void
tool_json(struct text *t, const struct mcp_tool *tool, enum mcp_era era)
{
	json_open(t, '{');
	json_key(t, "name");
	json_text(t, tool->name);
	if (era >= MCP_2025_06_18) {
		json_key(t, "title");
		json_text(t, tool->title);
	}
	json_key(t, "description");
	json_text(t, tool->description);
	json_key(t, "inputSchema");
	json_open(t, '{');
	json_key(t, "type");
	json_text(t, "object");
	properties(t, tool->fields);
	json_close(t, '}');
	if (era >= MCP_2025_06_18) {
		json_key(t, "outputSchema");
		json_raw(t, tool->output);
	}
	if (era >= MCP_2025_03_26) {
		json_key(t, "annotations");
		json_open(t, '{');
		json_key(t, "title");
		json_text(t, tool->title);
		json_raw(t, tool->hints);
		json_close(t, '}');
	}
	json_close(t, '}');
}

void
mcp_tools_json(struct text *t, enum mcp_era era)
{
	size_t i;

	json_open(t, '[');
	for (i = 0; i < NTOOLS; i++)
		tool_json(t, &tools[i], era);
	json_close(t, ']');
}

/* -- arguments ------------------------------------------------------------ */

static char	 why[WHY_MAX];

static const char *	check(const char *of, const struct field *,
			    const struct word *object);

static bool
are_strings(const struct word *v, bool object)
{
	struct word key, item;
	struct json_walk w;

	json_walk(&w, v);
	while (object ? json_walk_member(&w, &key, &item) :
	    json_walk_item(&w, &item))
		if (json_kind(&item) != '"')
			return false;
	return true;
}

/* Whether a number is one that the schema has; fractions are the tracer's. */
static bool
is_in_range(const struct field *f, const struct word *v)
{
	uint64_t n;

	if (v->p[0] == '-')
		return false;
	if (f->most == 0 || number_parse(v, UINT64_MAX, &n) != NULL)
		return true;
	return n >= f->least && n <= f->most;
}

/* The rest is for the tracer to look at. */
static bool
is_kind(const struct field *f, const struct word *v)
{
	char kind = json_kind(v);
	size_t i;

	if (f->kind == KIND_ANY)
		return true;
	if ((kind == 'f' ? 't' : kind) != kinds[f->kind].is)
		return false;
	if (f->kind == KIND_STRINGS || f->kind == KIND_MAP)
		return are_strings(v, f->kind == KIND_MAP);
	for (i = 0; f->words != NULL && f->words[i] != NULL; i++)
		if (json_says(v, f->words[i]))
			return true;
	return f->words == NULL && (kind != '0' || is_in_range(f, v));
}

static void
say(const char *text)
{
	size_t len = strlen(why);

	(void)snprintf(why + len, sizeof(why) - len, "%s", text);
}

/* "a, b and c" */
static void
say_fields(const struct field *f)
{
	const char *comma = "";

	for (; f->name != NULL; f++) {
		say(comma);
		say(f->name);
		comma = f[1].name != NULL && f[2].name == NULL ? " and " :
		    ", ";
	}
}

static const char *
unknown(const char *of, const struct field *fields, const struct word *key)
{
	char name[48];

	if (json_unquote(key, name, sizeof(name)) == SIZE_MAX)
		(void)snprintf(name, sizeof(name), "of so long a name");
	(void)snprintf(why, sizeof(why), "there is no argument %s; %s takes ",
	    name, of);
	say_fields(fields);
	return why;
}

static const char *
wrong_kind(const char *of, const struct field *f)
{
	size_t i;

	if (f->most > 0)
		(void)snprintf(why, sizeof(why), "%s of %s must be a whole "
		    "number from %" PRIu64 " to %" PRIu64, f->name, of,
		    f->least, f->most);
	else
		(void)snprintf(why, sizeof(why), "%s of %s must be %s",
		    f->name, of, f->words == NULL ? kinds[f->kind].name :
		    "one of");
	for (i = 0; f->words != NULL && f->words[i] != NULL; i++) {
		say(i == 0 ? " " : ", ");
		say(f->words[i]);
	}
	return why;
}

static const char *
check_member(const char *of, const struct field *fields,
    const struct word *key, const struct word *v)
{
	const struct field *f = fields;

	while (f->name != NULL && !json_says(key, f->name))
		f++;
	if (f->name == NULL)
		return unknown(of, fields, key);
	if (!is_kind(f, v))
		return wrong_kind(of, f);
	return f->within != NULL ? check(f->name, f->within, v) : NULL;
}

static const char *
check(const char *of, const struct field *fields, const struct word *object)
{
	const struct field *f;
	struct word key, v;
	struct json_walk w;
	const char *wrong = NULL;

	json_walk(&w, object);
	while (wrong == NULL && json_walk_member(&w, &key, &v))
		wrong = check_member(of, fields, &key, &v);
	for (f = fields; wrong == NULL && f->name != NULL; f++)
		switch (json_member(object, f->name, &v)) {
		case JSON_TWICE:
			(void)snprintf(why, sizeof(why), "%s of %s is given "
			    "twice; give it once", f->name, of);
			return why;
		case JSON_NONE:
			if (!f->must)
				break;
			(void)snprintf(why, sizeof(why), "%s of %s is "
			    "missing: %s", f->name, of, kinds[f->kind].name);
			return why;
		case JSON_ONE:
			break;
		}
	return wrong;
}

const char *
mcp_tool_check(const struct mcp_tool *tool, const struct word *args)
{
	return check(tool->name, tool->fields, args);
}
