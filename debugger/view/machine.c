/* SPDX-License-Identifier: ISC */
/* The processor's view of a program: registers and instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/dap/repl.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "looks.h"
#include "source.h"
#include "view.h"

#define INSTRUCTIONS	60	/* of one answer, unless it says more */
#define INSTRUCTIONS_MOST 1000

/* -- registers ---------------------------------------------------------- */
struct regs {
	struct json_object *found;	/* {"name","value","group"} */
	unsigned int	 pending;
};

struct group {
	struct regs	*regs;
	char		 name[80];
};

static void
free_regs(void *p)
{
	struct regs *r = p;

	json_object_put(r->found);
	free(r);
}

/* All, if none was named. */
static bool
is_wanted(struct op *op, const char *name)
{
	struct json_object *names = jget_arr(op->args, "names");
	const char *s;
	size_t i;

	for (i = 0; i < jlen(names); i++) {
		s = json_object_get_string(jat(names, i));
		if (s != NULL && strcasecmp(*s == '$' ? s + 1 : s, name) == 0)
			return true;
	}
	return jlen(names) == 0;
}

static void
regs_less(struct op *op, struct regs *r)
{
	struct json_object *o, *arr;
	struct bound b;
	size_t i;

	if (--r->pending > 0 || !bound_init(&b, op))
		return;
	if (jlen(r->found) == 0) {
		op_fail(op, "no_such", "there is no register %s; `debugger "
		    "registers` shows all", json_object_get_string(
		    jat(jget_arr(op->args, "names"), 0)));
		return;
	}
	o = jobject();
	arr = jarray();
	b.used += 32;
	for (i = 0; i < jlen(r->found); i++)
		if (!bound_add(&b, arr, json_object_get(jat(r->found, i)))) {
			bound_cut(&b, "registers", (int64_t)i,
			    (int64_t)jlen(r->found), NULL, (int64_t)i);
			break;
		}
	jput(o, "registers", arr);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
add_register(struct op *op, struct regs *r, struct json_object *dap,
    const char *group)
{
	const char *name = jget_str(dap, "name");
	struct json_object *o;

	/* delve sets them in columns */
	if (name != NULL)
		name += strspn(name, " ");
	if (name == NULL || !is_wanted(op, name))
		return;
	o = jone_str("name", name);
	jput_str(o, "value", jget_str(dap, "value"));
	if (group[0] != '\0')
		jput_str(o, "group", group);
	jadd(r->found, o);
}

static void
on_group(struct op *op, const struct dap_answer *a, void *arg)
{
	struct group *g = arg;
	struct json_object *list;
	size_t i;

	list = a->ok ? jget_arr(a->body, "variables") : NULL;
	for (i = 0; i < jlen(list); i++)
		add_register(op, g->regs, jat(list, i), g->name);
	regs_less(op, g->regs);
	free(g);
}

static void
ask_group(struct op *op, struct regs *r, struct json_object *dap)
{
	struct group *g = calloc(1, sizeof(*g));
	const char *name = jget_str(dap, "name");

	if (g == NULL)
		return;
	g->regs = r;
	snprintf(g->name, sizeof(g->name), "%s", name == NULL ? "" : name);
	r->pending++;
	adapter_ask("variables", jone_int("variablesReference",
	    jget_num(dap, "variablesReference", 0)), op, on_group, g);
}

/* Groups, of which the first is the one that people mean, or registers. */
static void
on_registers(struct op *op, const struct dap_answer *a, void *arg)
{
	struct regs *r = arg;
	struct json_object *list, *one;
	bool named = jlen(jget_arr(op->args, "names")) > 0, asked = false;
	size_t i;

	if (!a->ok) {
		op_fail_dap(op, a);
		return;
	}
	r->pending = 1;
	list = jget_arr(a->body, "variables");
	for (i = 0; i < jlen(list); i++) {
		one = jat(list, i);
		if (dialect()->flat_registers ||
		    jget_num(one, "variablesReference", 0) <= 0)
			add_register(op, r, one, "");
		else if (named || !asked) {
			asked = true;
			ask_group(op, r, one);
		}
	}
	regs_less(op, r);
}

static void
on_scopes(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	int64_t ref;

	if (code != NULL) {
		op_fail(op, code, "%s", why);
		return;
	}
	if ((ref = view_scope(v, "registers")) <= 0)
		op_fail(op, "unsupported", "the adapter %s shows no "
		    "registers", dbg.profile == NULL ? "" :
		    dbg.profile->name);
	else
		adapter_ask("variables", jone_int("variablesReference", ref),
		    op, on_registers, arg);
}

static void
registers(struct op *op)
{
	struct regs *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	r->found = jarray();
	op->data = r;
	op->free_data = free_regs;
	view_ask(op, VIEW_SCOPES, on_scopes, r);
}

/* -- disassemble -------------------------------------------------------- */
struct code {
	uint64_t	 address;	/* of the first */
	uint64_t	 present;	/* of the one that comes next; or 0 */
	int64_t		 count;
	bool		 with_source;
};

static void
put_source(struct json_object *o, const char *file, int64_t line)
{
	char path[PATH_MAX];
	const char *text;
	size_t len;

	if (file == NULL || !source_find(file, dbg.cwd, path, sizeof(path)) ||
	    (text = source_line(path, line, &len)) == NULL)
		return;
	jput(o, "source", jtext_clean(text,
	    format_cut(text, len, SOURCE_WIDTH)));
}

/* file is kept: adapters name it once for many. */
static struct json_object *
instruction(struct json_object *dap, const struct code *c, const char **file,
    int64_t *line)
{
	struct json_object *o = jobject();
	const char *at = jget_str(dap, "address");
	const char *text = jget_str(dap, "instruction");
	const char *path = jget_str(jget_obj(dap, "location"), "path");
	int64_t now = jget_num(dap, "line", 0);
	uint64_t address = 0;

	if (at != NULL && format_address(at, &address))
		jput_fmt(o, "address", "0x%" PRIx64, address);
	jput_str(o, "bytes", jget_str(dap, "instructionBytes"));
	if (text != NULL)
		jput_str(o, "text", text + strspn(text, " "));
	jput_str(o, "symbol", jget_str(dap, "symbol"));
	if (path != NULL && *path != '\0')
		*file = path;
	if (now > 0 && *file != NULL) {
		jput_str(o, "file", *file);
		jput_int(o, "line", now);
		if (c->with_source && now != *line)
			put_source(o, *file, now);
		*line = now;
	}
	if (address != 0 && address == c->present)
		jput_bool(o, "current", true);
	return o;
}

static void
on_code(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct code *c = arg;
	struct json_object *list, *o, *arr;
	const char *file = NULL;
	int64_t line = 0;
	struct bound b;
	size_t i;

	/* gdb calls it an error */
	if (!a->ok && (a->message == NULL ||
	    strstr(a->message, "annot access memory") == NULL)) {
		op_fail_dap(op, a);
		return;
	}
	list = a->ok ? jget_arr(a->body, "instructions") : NULL;
	if (jlen(list) == 0) {
		op_fail(op, "no_such", "there are no instructions at 0x%"
		    PRIx64, c->address);
		return;
	}
	if (!bound_init(&b, op))
		return;
	o = jobject();
	arr = jarray();
	b.used += 32;
	for (i = 0; i < jlen(list); i++)
		if (!bound_add(&b, arr, instruction(jat(list, i), c, &file,
			&line))) {
			bound_cut(&b, "instructions", (int64_t)i,
			    (int64_t)jlen(list), NULL, (int64_t)i);
			break;
		}
	jput(o, "instructions", arr);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
ask_code(struct op *op, const struct code *c)
{
	struct json_object *args = jobject();

	jput_fmt(args, "memoryReference", "0x%" PRIx64, c->address);
	jput_int(args, "offset", 0);
	jput_int(args, "instructionOffset", 0);
	jput_int(args, "instructionCount", c->count);
	jput_bool(args, "resolveSymbols", true);
	adapter_ask("disassemble", args, op, on_code,
	    (void *)(uintptr_t)c);
}

/* The whole function, or the part of it around where it stands. */
static void
on_function(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct code *c = arg;
	uint64_t start = 0;
	int64_t at;
	size_t n = 0;

	if (text != NULL)
		n = memtext_function(text, &start, &at);
	/* a long one from where it stands, and no further than its end */
	if (n > 0 && at < c->count)
		c->address = start;
	else if (n > 0)
		n -= (size_t)at;
	if (n > 0 && (int64_t)n < c->count)
		c->count = (int64_t)n;
	ask_code(op, c);
}

static void
ask_function(struct op *op, struct code *c, int64_t frame)
{
	repl_ask(op, frame, on_function, c, "disassemble --frame");
}

static void
on_where(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;
	struct code *c = arg;

	if (value != NULL && format_address(value, &c->address))
		ask_code(op, c);
	else
		op_fail(op, "evaluate_failed", "that is no address: %.1500s",
		    a->ok ? value == NULL ? "nothing" : value : a->message);
}

static void
on_frame(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct code *c = arg;
	struct json_object *args;
	const char *text = NULL, *pc;
	char *end;
	int64_t frame;

	if (code != NULL || !view_frame_id(v, &frame)) {
		op_fail(op, code == NULL ? "no_such" : code, "%s",
		    why == NULL ? "there is no frame to look in" : why);
		return;
	}
	pc = jget_str(view_frame(v), "instructionPointerReference");
	if (pc != NULL)
		format_address(pc, &c->present);
	(void)op_string(op, "address", false, &text);
	c->address = text == NULL ? c->present : strtoull(text, &end, 0);
	if (text == NULL && c->present == 0)
		op_fail(op, "no_such", "this frame has no address");
	else if (text == NULL && dialect()->lldb_commands)
		ask_function(op, c, frame);
	else if (text == NULL || *end == '\0')
		ask_code(op, c);
	else {
		args = jone_int("frameId", frame);
		jput_str(args, "expression", text);
		jput_str(args, "context", dialect()->print_context);
		adapter_ask("evaluate", args, op, on_where, c);
	}
}

static void
disassemble(struct op *op)
{
	struct code *c = calloc(1, sizeof(*c));
	const char *text = NULL;
	int64_t count = INSTRUCTIONS;

	op->data = c;
	op->free_data = free;
	if (c == NULL || !op_int(op, "count", false, &count) ||
	    !op_bool(op, "source", &c->with_source) ||
	    !op_string(op, "address", false, &text))
		return;
	c->count = count;
	if (count < 1 || count > INSTRUCTIONS_MOST)
		op_fail(op, "invalid_argument", "count is %" PRId64 ": from 1 "
		    "to %d instructions are shown at once", count,
		    INSTRUCTIONS_MOST);
	else if (!adapter_takes("disassemble"))
		op_fail(op, "unsupported", "the adapter %s shows no "
		    "instructions", dbg.profile == NULL ? "" :
		    dbg.profile->name);
	else
		view_ask(op, VIEW_PLACE, on_frame, c);
}

const struct command machine_commands[] = {
	{ "registers", false, ON_STOPPED, registers },
	{ "disassemble", false, ON_STOPPED, disassemble },
	{ NULL, false, 0, NULL }
};
