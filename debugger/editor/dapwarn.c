/* SPDX-License-Identifier: ISC */
/*
 * Values that the adapter reads wrongly, for editors: the answers of the adapter
 * are passed on as they are, and a message says what not to trust in them.
 */
#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dapserver.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/view/misread.h"

/* A stack whose frames the adapter is being asked about. */
struct stack {
	struct editor	*editor;	/* held */
	struct json_object *frames;	/* held */
	size_t		 first;		/* index of the first of them */
};

/* Once for each function: it is in the stack at many stops. */
static bool
is_new(struct editor *e, size_t number)
{
	const unsigned char bit = (unsigned char)(1U << number % 8);

	if (number >= MISREAD_MOST || (e->warned[number / 8] & bit) != 0)
		return false;
	e->warned[number / 8] |= bit;
	return true;
}

static void
on_learnt(void *arg)
{
	struct stack *s = arg;
	const size_t n = jlen(s->frames);
	const size_t wrong = misread_frame(s->frames, n, s->first);
	struct json_object *body;
	char *words;

	if (wrong < n && is_new(s->editor, misread_number(s->frames, wrong,
	    s->first))) {
		words = misread_words(s->frames, wrong);
		body = jobject();
		jput_str(body, "category", "important");
		jput_fmt(body, "output", "Warning: %s\n", words);
		editor_event(s->editor, "output", body);
		free(words);
	}
	json_object_put(s->frames);
	editor_unref(s->editor);
	free(s);
}

void
editor_warn(struct editor *e, struct json_object *args,
    struct json_object *body)
{
	struct stack *s = malloc(sizeof(*s));
	const int64_t first = jget_num(args, "startFrame", 0);

	if (s == NULL)
		fatal("editor");
	*s = (struct stack) { editor_ref(e),
		json_object_get(jget_arr(body, "stackFrames")),
		first > 0 ? (size_t)first : 0 };
	misread_learn(NULL, s->frames, s->first, on_learnt, s);
}

void
editor_mend(const char *command, struct json_object *args,
    struct json_object *body)
{
	struct json_object *vars = jget_arr(body, "variables");
	size_t i;

	if (strcmp(command, "evaluate") == 0)
		misread_mend(body, jget_str(args, "expression"));
	else if (strcmp(command, "variables") == 0)
		for (i = 0; i < jlen(vars); i++)
			misread_mend(jat(vars, i), NULL);
}
