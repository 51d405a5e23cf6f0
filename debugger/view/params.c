/* SPDX-License-Identifier: ISC */
/* Which of a frame's variables are its parameters, where adapters mix them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/op.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/repl.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "params.h"
#include "source.h"
#include "view.h"

#define KEPT		64	/* functions; then the first is forgotten */

static struct {
	char		*key;
	struct json_object *names;
} kept[KEPT];
static size_t		next;

struct wait {
	params_fn	 fn;
	void		*arg;
	char		*key;
};

void
params_forget(void)
{
	size_t i;

	for (i = 0; i < KEPT; i++) {
		free(kept[i].key);
		json_object_put(kept[i].names);
		kept[i].key = NULL;
		kept[i].names = NULL;
	}
}

static struct json_object *
find(const char *key)
{
	size_t i;

	for (i = 0; i < KEPT; i++)
		if (kept[i].key != NULL && strcmp(kept[i].key, key) == 0)
			return kept[i].names;
	return NULL;
}

/* Takes names. */
static void
keep(const char *key, struct json_object *names)
{
	free(kept[next].key);
	json_object_put(kept[next].names);
	kept[next].key = copy_text(key);
	kept[next].names = names;
	next = (next + 1) % KEPT;
}

static void
on_text(struct op *op, const struct dap_answer *a, void *arg)
{
	struct wait *w = arg;
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct json_object *names;

	names = memtext_names(text == NULL ? "" : text);
	keep(w->key, names);
	w->fn(op, names, w->arg);
	free(w->key);
	free(w);
}

static void
ask(struct op *op, const char *key, int64_t frame, params_fn fn, void *arg)
{
	struct wait *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		fn(op, NULL, arg);
		return;
	}
	*w = (struct wait) { .fn = fn, .arg = arg, .key = copy_text(key) };
	repl_ask(op, frame, on_text, w,
	    "frame variable --no-locals --depth 0");
}

void
params_get(struct op *op, const struct view *v, params_fn fn, void *arg)
{
	const char *function = jget_str(view_frame(v), "name");
	struct json_object *names;
	char key[PATH_MAX + 512];
	int64_t frame;

	if (function == NULL || !view_frame_id(v, &frame)) {
		fn(op, NULL, arg);
		return;
	}
	snprintf(key, sizeof(key), "%.500s %s", function, v->file);
	if ((names = find(key)) != NULL) {
		fn(op, names, arg);
		return;
	}
	if (dialect()->lldb_commands) {
		ask(op, key, frame, fn, arg);
		return;
	}
	names = dialect()->params_by_source && v->file[0] != '\0' ?
	    source_params(v->file, v->line, function) : NULL;
	if (names == NULL)
		names = jarray();
	keep(key, names);
	fn(op, names, arg);
}
