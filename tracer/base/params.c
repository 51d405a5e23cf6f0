/* SPDX-License-Identifier: ISC */
/* Members of a request's arguments. */
#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "params.h"

/* Without a zero byte, which would end it early. */
static bool
is_string(struct json_object *v, int64_t most)
{
	size_t len;

	if (!json_object_is_type(v, json_type_string))
		return false;
	len = (size_t)json_object_get_string_len(v);
	return strlen(json_object_get_string(v)) == len &&
	    (most == 0 || len <= (size_t)most);
}

static bool
get_string(struct json_object *v, const struct param *p, void *to)
{
	if (!is_string(v, p->most))
		return false;
	*(const char **)to = json_object_get_string(v);
	return true;
}

static bool
get_strings(struct json_object *v, const struct param *p, void *to)
{
	size_t i, n;

	if (!json_object_is_type(v, json_type_array))
		return false;
	n = json_object_array_length(v);
	if (p->most != 0 && n > (size_t)p->most)
		return false;
	for (i = 0; i < n; i++)
		if (!is_string(json_object_array_get_idx(v, i), 0))
			return false;
	*(struct json_object **)to = v;
	return true;
}

static bool
get_pairs(struct json_object *v, const struct param *p, void *to)
{
	(void)p;
	if (!json_object_is_type(v, json_type_object))
		return false;
	json_object_object_foreach(v, name, one) {
		if (*name == '\0' || strchr(name, '=') != NULL ||
		    !is_string(one, 0))
			return false;
	}
	*(struct json_object **)to = v;
	return true;
}

static bool
get_object(struct json_object *v, const struct param *p, void *to)
{
	(void)p;
	if (!json_object_is_type(v, json_type_object))
		return false;
	*(struct json_object **)to = v;
	return true;
}

static bool
get_bool(struct json_object *v, const struct param *p, void *to)
{
	(void)p;
	if (!json_object_is_type(v, json_type_boolean))
		return false;
	*(bool *)to = json_object_get_boolean(v);
	return true;
}

static bool
get_number(struct json_object *v, const struct param *p, void *to)
{
	double d;
	int64_t n;

	if (json_object_is_type(v, json_type_double)) {
		/* 50.0 is what some clients make of 50 */
		d = json_object_get_double(v);
		if (!(d >= -9e15 && d <= 9e15) || d != (double)(int64_t)d)
			return false;
	} else if (!json_object_is_type(v, json_type_int))
		return false;
	n = json_object_get_int64(v);
	if (n < p->least || n > p->most)
		return false;
	*(int64_t *)to = n;
	return true;
}

static const struct {
	bool	(*get)(struct json_object *, const struct param *, void *);
	const char *wants;
} kinds[] = {
	[PARAM_STRING] = { get_string, "a string" },
	[PARAM_STRINGS] = { get_strings, "a list of strings" },
	[PARAM_PAIRS] = { get_pairs, "an object of strings" },
	[PARAM_OBJECT] = { get_object, "an object" },
	[PARAM_BOOL] = { get_bool, "true or false" },
	[PARAM_NUMBER] = { get_number, "a whole number" },
};

static void
say_wants(struct text *t, const struct param *p)
{
	text_puts(t, kinds[p->kind].wants);
	if (p->kind == PARAM_NUMBER)
		text_printf(t, " from %lld to %lld", (long long)p->least,
		    (long long)p->most);
	else if (p->most != 0)
		text_printf(t, ", at most %lld %s", (long long)p->most,
		    p->kind == PARAM_STRING ? "bytes" : "of them");
}

static void
say_unknown(struct text *t, const char *what, const char *name,
    const struct param *p)
{
	text_puts(t, what);
	text_puts(t, " has no \"");
	text_plain(t, name, strnlen(name, 40));
	text_puts(t, p->name != NULL ? "\"; it takes " :
	    "\"; it takes nothing");
	for (; p->name != NULL; p++)
		text_printf(t, "%s%s", p->name,
		    p[1].name != NULL ? ", " : "");
}

static int
refuse(struct text *t, char why[PARAMS_WHY])
{
	snprintf(why, PARAMS_WHY, "%s", t->p == NULL ? "no memory" : t->p);
	text_free(t);
	return -1;
}

static int
read_one(const char *name, struct json_object *v, const char *what,
    const struct param *table, void *to, char why[PARAMS_WHY])
{
	struct text t = { .max = PARAMS_WHY - 1 };
	const struct param *p = table;

	while (p->name != NULL && strcmp(p->name, name) != 0)
		p++;
	if (p->name == NULL && strcmp(name, "sessionId") == 0)
		return 0;
	if (p->name == NULL) {
		say_unknown(&t, what, name, table);
		return refuse(&t, why);
	}
	/* null is what some clients make of what they do not give */
	if (v == NULL || kinds[p->kind].get(v, p, (char *)to + p->off))
		return 0;
	text_printf(&t, "\"%s\" of %s must be ", name, what);
	say_wants(&t, p);
	return refuse(&t, why);
}

int
params_read(struct json_object *args, const char *what,
    const struct param *table, void *to, char why[PARAMS_WHY])
{
	struct text t = { .max = PARAMS_WHY - 1 };
	const struct param *p;
	struct json_object *v;

	if (args != NULL) {
		json_object_object_foreach(args, name, one) {
			if (read_one(name, one, what, table, to, why) == -1)
				return -1;
		}
	}
	for (p = table; p->name != NULL; p++) {
		v = NULL;
		if (!p->need || (json_object_object_get_ex(args, p->name,
		    &v) && v != NULL))
			continue;
		text_printf(&t, "%s needs \"%s\", ", what, p->name);
		say_wants(&t, p);
		return refuse(&t, why);
	}
	return 0;
}
