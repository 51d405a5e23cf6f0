/* SPDX-License-Identifier: ISC */
/* Values of variables when last shown, to report what has changed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/format.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "diff.h"

/* The latest functions: a call into another one and back finds its own. */
#define KEPT		16
#define VARIABLES	512	/* of one function */
#define OLD_MOST	120	/* bytes of a value that are shown */

struct was {
	char		*key;
	struct json_object *values;	/* name: {"v","h","l"} */
	uint64_t	 used;
};
static struct was	kept[KEPT];
static uint64_t		clock_;

static struct was *
find(const char *key)
{
	struct was *oldest = &kept[0];
	size_t i;

	for (i = 0; i < KEPT; i++) {
		if (kept[i].key != NULL && strcmp(kept[i].key, key) == 0)
			return &kept[i];
		if (kept[i].used < oldest->used)
			oldest = &kept[i];
	}
	free(oldest->key);
	json_object_put(oldest->values);
	*oldest = (struct was) { .key = copy_text(key) };
	return oldest;
}

/* FNV-1a: a long value that differs behind what is kept of it differs. */
static int64_t
hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return (int64_t)h;
}

static struct json_object *
cut_value(const char *v)
{
	size_t len = strlen(v);

	return jtext_clean(v, format_cut(v, len, OLD_MOST));
}

static void
note(struct json_object *var, struct json_object *old, struct json_object *new,
    struct json_object *changed)
{
	const char *name = jget_str(var, "name"), *value;
	struct json_object *o, *was;

	if (name == NULL || (value = jget_str(var, "value")) == NULL)
		return;
	was = jget_obj(old, name);
	if (was != NULL && jget_num(was, "h", 0) != hash(value)) {
		o = jobject();
		jput_str(o, "name", name);
		jput_str(o, "old", jget_str(was, "v"));
		jput(o, "new", cut_value(value));
		jadd(changed, o);
	}
	o = jobject();
	jput(o, "v", cut_value(value));
	jput_int(o, "h", hash(value));
	jput(new, name, o);
}

struct json_object *
diff_note(const char *key, struct json_object *arguments,
    struct json_object *locals)
{
	struct json_object *changed = jarray();
	struct json_object *now = jobject();
	struct was *w = find(key);
	size_t i;

	for (i = 0; i < jlen(arguments) && i < VARIABLES; i++)
		note(jat(arguments, i), w->values, now, changed);
	for (i = 0; i < jlen(locals) && i < VARIABLES; i++)
		note(jat(locals, i), w->values, now, changed);
	json_object_put(w->values);
	w->values = now;
	w->used = ++clock_;
	return changed;
}

void
diff_forget(void)
{
	size_t i;

	for (i = 0; i < KEPT; i++) {
		free(kept[i].key);
		json_object_put(kept[i].values);
		kept[i] = (struct was) { .used = 0 };
	}
}
