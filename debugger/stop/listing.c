/* SPDX-License-Identifier: ISC */
/* The command that shows source: around a place, or all of a function. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/bps.h"
#include "debugger/dap/adapter.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "debugger/view/extent.h"
#include "debugger/view/looks.h"
#include "debugger/view/source.h"
#include "debugger/view/view.h"

static void
reply_source(struct op *op, const char *file, int64_t line, int64_t around,
    int64_t current)
{
	struct json_object *o, *part;
	struct bound b;

	if (!bound_init(&b, op))
		return;
	if (around < 0 || around > SOURCE_MOST / 2)
		around = SOURCE_AROUND;
	/* fewer lines, rather than none */
	for (;; around /= 2) {
		part = source_part(file, line - around, line > around ?
			2 * around + 1 : line + around, current);
		if (part == NULL || around == 0 ||
		    jsize(part) < bound_left(&b))
			break;
		json_object_put(part);
	}
	if (part == NULL && access(file, R_OK) == -1) {
		op_fail(op, "no_such", "cannot read %s: %s", file,
		    strerror(errno));
		return;
	}
	if (part == NULL) {
		op_fail(op, "no_such", "%s has %" PRId64 " lines, not %"
		    PRId64, file, source_lines(file), line);
		return;
	}
	o = jobject();
	jput(o, "source", part);
	op_reply(op, o);
}

/* All of a function, or what of it stands around line if it is a long one. */
static void
reply_function(struct op *op, const char *file, int64_t first, int64_t last,
    int64_t line, int64_t current)
{
	int64_t all = last - first + 1, n = all;
	struct json_object *o, *part;
	struct bound b;

	if (!bound_init(&b, op))
		return;
	for (;; n /= 2) {
		if (line >= first + n)
			first = line - n / 2;
		part = source_part(file, first, n, current);
		if (part == NULL || n <= 1 ||
		    jsize(part) < bound_left(&b) - 128)
			break;
		json_object_put(part);
	}
	o = jobject();
	n = (int64_t)jlen(jget_arr(part, "lines"));
	jput(o, "source", part);
	if (n < all)
		bound_cut(&b, "source", n, all, NULL, 0);
	bound_done(&b, o);
	op_reply(op, o);
}

/* Where the adapter would stop in it; then the question is taken back. */
static void
on_function_found(struct op *op, const char *why)
{
	const char *function = jget_str(op->args, "function");
	const struct bp *bp = bps_find(op->made);
	int64_t first, last, line = 0;
	char path[PATH_MAX] = "";

	if (bp != NULL && bp->actual_file != NULL) {
		line = bp->actual_line;
		if (!source_find(bp->actual_file, dbg.cwd, path, sizeof(path)))
			path[0] = '\0';
	}
	bps_until_drop(op);
	if (path[0] == '\0')
		op_fail(op, "no_such", "there is no source of a function %s%s"
		    "%s", function, why == NULL ? "" : ": ",
		    why == NULL ? "" : why);
	else if (extent_around(path, line, function, &first, &last))
		reply_function(op, path, first, last, line, 0);
	else
		reply_source(op, path, line, SOURCE_AROUND, 0);
}

static const char *
name_of(const struct view *v)
{
	const char *name = jget_str(view_frame(v), "name");

	return name == NULL ? "" : name;
}

static bool
this_function(struct op *op)
{
	struct json_object *f = NULL;

	return json_object_object_get_ex(op->args, "function", &f) &&
	    json_object_is_type(f, json_type_boolean) &&
	    json_object_get_boolean(f);
}

/* By its name: in the text that is shown now, else as the adapter knows it. */
static void
source_function(struct op *op, const struct view *v, const char *function)
{
	int64_t first, last;

	if (v->file[0] != '\0' && extent_named(v->file, function, &first,
	    &last))
		reply_function(op, v->file, first, last, first, v->line);
	else if (!adapter_can("supportsFunctionBreakpoints"))
		op_fail(op, "no_such", "there is no function %s in the file "
		    "that is shown", function);
	else
		bps_until(op, NULL, 0, function, on_function_found);
}

static void
on_text(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *text = a->ok ? jget_str(a->body, "content") : NULL;
	struct json_object *o, *part;
	int64_t line = (int64_t)op->word;

	(void)arg;
	if (text == NULL) {
		op_fail_dap(op, a);
		return;
	}
	part = source_of_text("(from the adapter)", text,
	    line > SOURCE_AROUND ? line - SOURCE_AROUND : 1,
	    2 * SOURCE_AROUND + 1, line);
	o = jobject();
	jput(o, "source", part);
	op_reply(op, o);
}

/* Only the adapter has it: what it made by disassembling, or from a zip. */
static void
ask_text(struct op *op, const struct view *v)
{
	struct json_object *source = jget_obj(view_frame(v), "source");
	int64_t ref = jget_num(source, "sourceReference", 0);
	struct json_object *req;

	if (ref <= 0) {
		op_fail(op, "no_such", "the source of this frame is not "
		    "here: %s", jget_str(source, "path") == NULL ?
		    "it was built without" : jget_str(source, "path"));
		return;
	}
	req = jone_int("sourceReference", ref);
	jput(req, "source", json_object_get(source));
	op->word = (uint64_t)v->line;
	adapter_ask("source", req, op, on_text, NULL);
}

static void
on_source_view(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	const char *function = jget_str(op->args, "function");
	int64_t around = SOURCE_AROUND, line, first, last;

	(void)arg;
	if (code != NULL) {
		op_fail(op, code, "%s", why);
		return;
	}
	line = v->line;
	if (!op_int(op, "lines", false, &around) ||
	    !op_int(op, "line", false, &line))
		return;
	if (function != NULL)
		source_function(op, v, function);
	else if (v->file[0] == '\0')
		ask_text(op, v);
	else if (this_function(op) && extent_around(v->file, v->line,
	    name_of(v), &first, &last))
		reply_function(op, v->file, first, last, v->line, v->line);
	else
		reply_source(op, v->file, line, around, v->line);
}

static void
source(struct op *op)
{
	const char *file = NULL, *cwd = dbg.cwd;
	int64_t line = 1, around = SOURCE_AROUND;
	char path[PATH_MAX];

	if (!op_string(op, "file", false, &file) ||
	    !op_string(op, "cwd", false, &cwd) ||
	    !op_int(op, "line", false, &line) ||
	    !op_int(op, "lines", false, &around))
		return;
	if (file == NULL) {
		if (op_stopped(op))
			view_ask(op, VIEW_PLACE, on_source_view, NULL);
		return;
	}
	if (source_find(file, cwd, path, sizeof(path)) ||
	    source_find(file, dbg.cwd, path, sizeof(path)))
		reply_source(op, path, line, around, 0);
	else
		op_fail(op, "no_such", "there is no file %s below %s", file,
		    cwd[0] == '\0' ? "/" : cwd);
}

const struct command source_commands[] = {
	{ "source", false, ON_ANY, source },
	{ NULL, false, 0, NULL }
};
