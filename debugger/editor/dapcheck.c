/* SPDX-License-Identifier: ISC */
/*
 * Arguments of editors' requests, by the schema of the protocol.  lldb-dap
 * aborts on a request without its arguments and reads others as zeros: a
 * mistake of one editor would end the program of everybody.  Numbers that say
 * how much is wanted have bounds as well, since an adapter makes room for it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "dapcheck.h"
#include "debugger/text/json_get.h"

#define BYTES_MOST	(1 << 20)
#define ITEMS_MOST	(1 << 16)

enum kind { K_INT, K_TEXT, K_BOOL, K_LIST, K_OBJECT };

struct member {
	const char	*name;
	enum kind	 kind;
	bool		 needed;
	int64_t		 least, most;	/* of K_INT; both 0 = any */
	const struct member *in;	/* of K_OBJECT; NULL = any */
};

#define COUNT(name)	{ name, K_INT, false, 0, INT32_MAX, NULL }
#define INT(name)	{ name, K_INT, false, 0, 0, NULL }
#define NEED_INT(name)	{ name, K_INT, true, 0, 0, NULL }
#define TEXT(name)	{ name, K_TEXT, false, 0, 0, NULL }
#define NEED_TEXT(name)	{ name, K_TEXT, true, 0, 0, NULL }
#define BOOL(name)	{ name, K_BOOL, false, 0, 0, NULL }
#define OBJECT(name, in)	{ name, K_OBJECT, false, 0, 0, in }
#define END		{ NULL, K_INT, false, 0, 0, NULL }

static const struct member format[] = {
	BOOL("hex"), BOOL("parameters"), BOOL("parameterTypes"),
	BOOL("parameterNames"), BOOL("parameterValues"), BOOL("line"),
	BOOL("module"), BOOL("includeAll"), END
};

static const struct member source[] = {
	TEXT("name"), TEXT("path"), INT("sourceReference"),
	TEXT("presentationHint"), TEXT("origin"),
	{ "sources", K_LIST, false, 0, 0, NULL },
	{ "checksums", K_LIST, false, 0, 0, NULL }, END
};

static const struct member disconnect[] = {
	BOOL("restart"), BOOL("terminateDebuggee"), BOOL("suspendDebuggee"), END
};

static const struct member lines[] = {
	{ "source", K_OBJECT, true, 0, 0, source },
	{ "breakpoints", K_LIST, false, 0, 0, NULL },
	{ "lines", K_LIST, false, 0, 0, NULL }, BOOL("sourceModified"), END
};

static const struct member functions[] = {
	{ "breakpoints", K_LIST, true, 0, 0, NULL }, END
};

static const struct member exceptions[] = {
	{ "filters", K_LIST, true, 0, 0, NULL },
	{ "filterOptions", K_LIST, false, 0, 0, NULL },
	{ "exceptionOptions", K_LIST, false, 0, 0, NULL }, END
};

static const struct member cancel[] = {
	INT("requestId"), TEXT("progressId"), END
};

/* continue, next, stepIn, stepOut, pause */
static const struct member running[] = {
	NEED_INT("threadId"), BOOL("singleThread"), TEXT("granularity"),
	INT("targetId"), END
};

static const struct member stack_trace[] = {
	NEED_INT("threadId"), COUNT("startFrame"), COUNT("levels"),
	OBJECT("format", format), END
};

static const struct member scopes[] = { NEED_INT("frameId"), END };

static const struct member variables[] = {
	NEED_INT("variablesReference"), TEXT("filter"), COUNT("start"),
	COUNT("count"), OBJECT("format", format), END
};

static const struct member evaluate[] = {
	NEED_TEXT("expression"), INT("frameId"), COUNT("line"),
	COUNT("column"), OBJECT("source", source), TEXT("context"),
	OBJECT("format", format), END
};

static const struct member source_of[] = {
	NEED_INT("sourceReference"), OBJECT("source", source), END
};

static const struct member exception_info[] = { NEED_INT("threadId"), END };

static const struct member set_variable[] = {
	NEED_INT("variablesReference"), NEED_TEXT("name"),
	NEED_TEXT("value"), OBJECT("format", format), END
};

static const struct member set_expression[] = {
	NEED_TEXT("expression"), NEED_TEXT("value"), INT("frameId"),
	OBJECT("format", format), END
};

static const struct member read_memory[] = {
	NEED_TEXT("memoryReference"), INT("offset"),
	{ "count", K_INT, true, 0, BYTES_MOST, NULL }, END
};

static const struct member write_memory[] = {
	NEED_TEXT("memoryReference"), INT("offset"), BOOL("allowPartial"),
	NEED_TEXT("data"), END
};

static const struct member disassemble[] = {
	NEED_TEXT("memoryReference"), INT("offset"),
	{ "instructionOffset", K_INT, false, -ITEMS_MOST, ITEMS_MOST, NULL },
	{ "instructionCount", K_INT, true, 0, ITEMS_MOST, NULL },
	BOOL("resolveSymbols"), END
};

static const struct member completions[] = {
	NEED_TEXT("text"), { "column", K_INT, true, 0, INT32_MAX, NULL },
	INT("frameId"), COUNT("line"), END
};

static const struct member modules[] = {
	COUNT("startModule"), COUNT("moduleCount"), END
};

static const struct member none[] = { END };

static const struct {
	const char	*command;
	const struct member *members;
} table[] = {
	{ "initialize", none },
	{ "launch", none },
	{ "attach", none },
	{ "configurationDone", none },
	{ "restart", none },
	{ "disconnect", disconnect },
	{ "setBreakpoints", lines },
	{ "setFunctionBreakpoints", functions },
	{ "setExceptionBreakpoints", exceptions },
	{ "cancel", cancel },
	{ "continue", running },
	{ "next", running },
	{ "stepIn", running },
	{ "stepOut", running },
	{ "pause", running },
	{ "threads", none },
	{ "stackTrace", stack_trace },
	{ "scopes", scopes },
	{ "variables", variables },
	{ "evaluate", evaluate },
	{ "source", source_of },
	{ "exceptionInfo", exception_info },
	{ "setVariable", set_variable },
	{ "setExpression", set_expression },
	{ "readMemory", read_memory },
	{ "writeMemory", write_memory },
	{ "disassemble", disassemble },
	{ "completions", completions },
	{ "modules", modules },
	{ "loadedSources", none },
};

static const struct {
	enum json_type	 type;
	const char	*name;
} kinds[] = {
	[K_INT] = { json_type_int, "an integer" },
	[K_TEXT] = { json_type_string, "a string" },
	[K_BOOL] = { json_type_boolean, "true or false" },
	[K_LIST] = { json_type_array, "an array" },
	[K_OBJECT] = { json_type_object, "an object" },
};

static bool	 check(const struct member *, struct json_object *, const char *,
		    char *, size_t);

static bool
in_bounds(const struct member *m, struct json_object *v)
{
	int64_t n = json_object_get_int64(v);

	return m->kind != K_INT || (m->least == 0 && m->most == 0) ||
	    (n >= m->least && n <= m->most);
}

/* Checks a member; of is the object it is in, "arguments" or one in those. */
static bool
check_one(const struct member *m, struct json_object *args, const char *of,
    char *words, size_t room)
{
	struct json_object *v = NULL;

	if (json_object_object_get_ex(args, m->name, &v) && v == NULL)
		json_object_object_del(args, m->name);
	if (v == NULL && !m->needed)
		return true;
	if (v == NULL || !json_object_is_type(v, kinds[m->kind].type)) {
		(void)snprintf(words, room, "\"%s\" of %s %s: it must be %s",
		    m->name, of, v == NULL ? "is missing" :
		    "is of another kind", kinds[m->kind].name);
		return false;
	}
	if (!in_bounds(m, v)) {
		(void)snprintf(words, room, "\"%s\" of %s is out of bounds: "
		    "it must be %" PRId64 " to %" PRId64, m->name, of,
		    m->least, m->most);
		return false;
	}
	return m->in == NULL || check(m->in, v, m->name, words, room);
}

static bool
check(const struct member *m, struct json_object *args, const char *of,
    char *words, size_t room)
{
	for (; m->name != NULL; m++)
		if (!check_one(m, args, of, words, room))
			return false;
	return true;
}

/* lldb-dap looks up the line in its text without asking whether it is there. */
static bool
line_there(struct json_object *args, char *words, size_t room)
{
	const char *text = jget_str(args, "text");
	int64_t line = jget_num(args, "line", 1);

	for (; line > 1 && text != NULL; line--)
		if ((text = strchr(text, '\n')) != NULL)
			text++;
	if (text != NULL)
		return true;
	(void)snprintf(words, room, "\"line\" of arguments is out of bounds: "
	    "\"text\" has no such line");
	return false;
}

bool
dapcheck(const char *command, struct json_object *args, char *words,
    size_t room)
{
	size_t i;

	if (args != NULL && !json_object_is_type(args, json_type_object)) {
		(void)snprintf(words, room, "\"arguments\" is of another "
		    "kind: it must be an object");
		return false;
	}
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].command, command) == 0)
			return check(table[i].members, args, "arguments",
			    words, room) &&
			    (table[i].members != completions ||
				line_there(args, words, room));
	return true;
}
