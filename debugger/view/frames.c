/* SPDX-License-Identifier: ISC */
/* Stack frames and places as clients see them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/format.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "frames.h"
#include "misread.h"
#include "source.h"
#include "view.h"

#define NAME_MOST	300	/* bytes of a function's name: templates */

static const char *
path_of(struct json_object *dap)
{
	return jget_str(jget_obj(dap, "source"), "path");
}

struct json_object *
frame_json(struct json_object *dap, size_t index)
{
	struct json_object *o = jobject();
	const char *name = jget_str(dap, "name");
	const char *at = jget_str(dap, "instructionPointerReference");
	uint64_t address;

	jput_int(o, "index", (int64_t)index);
	if (name != NULL)
		jput(o, "function", jtext_clean(name,
		    format_cut(name, strlen(name), NAME_MOST)));
	jput_str(o, "file", path_of(dap));
	if (jget_num(dap, "line", 0) > 0)
		jput_int(o, "line", jget_num(dap, "line", 0));
	if (jget_num(dap, "column", 0) > 0)
		jput_int(o, "column", jget_num(dap, "column", 0));
	if (at != NULL && format_address(at, &address))
		jput_fmt(o, "address", "0x%" PRIx64, address);
	return o;
}

void
frame_words(struct json_object *dap, char *out, size_t room)
{
	const char *name = jget_str(dap, "name"), *path = path_of(dap);
	const char *slash = path == NULL ? NULL : strrchr(path, '/');
	int64_t line = jget_num(dap, "line", 0);

	if (path != NULL && line > 0)
		snprintf(out, room, "%.300s at %s:%" PRId64,
		    name == NULL ? "?" : name,
		    slash == NULL ? path : slash + 1, line);
	else
		snprintf(out, room, "%.300s, of which there is no source",
		    name == NULL ? "?" : name);
}

void
frames_warn(struct json_object *o, struct json_object *frames, bool all)
{
	struct json_object *last = jat(frames, jlen(frames) - 1);
	const char *name = jget_str(last, "name");
	const size_t wrong = misread_frame(frames, jlen(frames), 0);
	char *words;

	if (wrong < jlen(frames)) {
		words = misread_words(frames, wrong);
		jput_str(o, "warning", words);
		free(words);
		return;
	}
	if (!dialect()->lldb_commands || !all || name == NULL ||
	    jget_num(last, "line", 0) <= 0 || strstr(name, "_start") != NULL ||
	    strstr(name, "clone") != NULL)
		return;
	jput_fmt(o, "warning",
	    "lldb found no caller of %.*s, though there must be one; gcc may "
	    "have split it. " MISREAD_REMEDY,
	    (int)format_cut(name, strlen(name), NAME_MOST), name);
}

struct json_object *
thread_json(const struct view *v)
{
	struct json_object *o = jone_int("id", v->thread);

	jput_str(o, "name", v->thread_name);
	return o;
}

struct json_object *
frame_source(const struct view *v, int64_t around)
{
	if (v->file[0] == '\0')
		return NULL;
	return source_part(v->file, v->line - around > 1 ? v->line - around :
							   1,
	    v->line - around > 1 ? 2 * around + 1 : v->line + around,
	    v->line);
}
