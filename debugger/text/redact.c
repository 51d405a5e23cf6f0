/* SPDX-License-Identifier: ISC */
/*
 * Answers to clients with the right to look.  Each passes here,
 * so that one more command cannot forget it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <json-c/json.h>

#include "json_get.h"
#include "json_make.h"
#include "redact.h"

/* Wherever it is, its text is the program's data, or quotes it. */
static const char *const withheld[] = {
	"value",			/* of variables and watchpoints */
	"old", "new",			/* of what has changed */
	"description", "details",	/* of exceptions and signals */
	"error", "condition_error", "refused",	/* an adapter's words quote values */
};
/* Only these stay of variables: how many elements one has is a value, too. */
static const char *const kept[] = { "name", "type" };
static const char *const variables[] = { "arguments", "locals", "changed" };

static bool
is_among(const char *const *list, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i], key) == 0)
			return true;
	return false;
}

#define AMONG(list, key) \
	is_among(list, sizeof(list) / sizeof((list)[0]), key)

static struct json_object *
names_of(struct json_object *vars)
{
	struct json_object *out = jarray(), *one;
	size_t i;

	for (i = 0; i < jlen(vars); i++) {
		one = jobject();
		if (json_object_is_type(jat(vars, i), json_type_object)) {
			json_object_object_foreach(jat(vars, i), key, v) {
				if (AMONG(kept, key))
					jput(one, key, json_object_get(v));
			}
		}
		jadd(out, one);
	}
	return out;
}

/* Leaves the output that the program itself wrote: log messages have values. */
static struct json_object *
own_output(struct json_object *pieces)
{
	struct json_object *out = jarray();
	const char *stream;
	size_t i;

	for (i = 0; i < jlen(pieces); i++) {
		stream = jget_str(jat(pieces, i), "stream");
		if (stream != NULL && (strcmp(stream, "stdout") == 0 ||
		    strcmp(stream, "stderr") == 0))
			jadd(out, json_object_get(jat(pieces, i)));
	}
	return out;
}

static struct json_object *
copy_of(struct json_object *v)
{
	struct json_object *out, *inner;
	size_t i;

	if (json_object_is_type(v, json_type_array)) {
		out = jarray();
		for (i = 0; i < jlen(v); i++)
			jadd(out, copy_of(jat(v, i)));
		return out;
	}
	if (!json_object_is_type(v, json_type_object))
		return json_object_get(v);
	out = jobject();
	json_object_object_foreach(v, key, val) {
		if (AMONG(withheld, key))
			continue;
		inner = AMONG(variables, key) ? names_of(val) :
		    strcmp(key, "output") == 0 ? own_output(val) :
						 copy_of(val);
		jput(out, key, inner);
	}
	/* its words repeat it */
	if (json_object_object_get_ex(v, "condition_error", NULL))
		json_object_object_del(out, "words");
	return out;
}

struct json_object *
redact(struct json_object *answer)
{
	struct json_object *out = copy_of(answer);

	json_object_put(answer);
	return out;
}
