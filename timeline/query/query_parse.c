/* SPDX-License-Identifier: ISC */
/* A query's parameters, one row of a table each. */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"
#include "query_int.h"

#define TEXT_LONGEST	65536
#define STRING_MAX	4096

struct reader {
	struct query *q;
	char	*why;
};

struct param {
	const char *name, *wants;
	int	(*read)(struct reader *, struct json_object *);
};

static int	read_object(struct reader *, struct json_object *,
		    const struct param *, const char *of);

static int
read_string(struct json_object *v, char **to)
{
	if (!json_object_is_type(v, json_type_string) ||
	    json_object_get_string_len(v) > STRING_MAX ||
	    strlen(json_object_get_string(v)) !=
	    (size_t)json_object_get_string_len(v))
		return -1;
	free(*to);
	*to = strdup(json_object_get_string(v));
	return *to == NULL ? -1 : 0;
}

static int
read_number(struct json_object *v, int64_t least, int64_t most, int64_t *to)
{
	double d = json_object_get_double(v);

	/* 50.0 is what some clients make of 50 */
	if (!json_object_is_type(v, json_type_int) &&
	    (!json_object_is_type(v, json_type_double) ||
	    d < 0 || d > 9e15 || d != (double)(int64_t)d))
		return -1;
	*to = json_object_get_int64(v);
	return *to < least || *to > most ? -1 : 0;
}

static int
read_bool(struct json_object *v, bool *to)
{
	if (!json_object_is_type(v, json_type_boolean))
		return -1;
	*to = json_object_get_boolean(v);
	return 0;
}

/* -- one function per parameter ----------------------------------------- */
static int
p_session(struct reader *r, struct json_object *v)
{
	(void)r;
	return json_object_is_type(v, json_type_string) ? 0 : -1;
}

static int
p_type(struct reader *r, struct json_object *v)
{
	uint8_t kind = json_object_is_type(v, json_type_string) ?
	    kind_of(json_object_get_string(v)) : 0;

	r->q->kinds = 1U << kind;
	return kind == 0 ? -1 : 0;
}

static int
p_fn_equals(struct reader *r, struct json_object *v)
{
	return read_string(v, &r->q->fn_equals);
}

static int
p_fn_contains(struct reader *r, struct json_object *v)
{
	return read_string(v, &r->q->fn_contains);
}

static int
p_fn_matches(struct reader *r, struct json_object *v)
{
	return read_string(v, &r->q->fn_matches);
}

static int
p_file_equals(struct reader *r, struct json_object *v)
{
	return read_string(v, &r->q->file_equals);
}

static int
p_file_contains(struct reader *r, struct json_object *v)
{
	return read_string(v, &r->q->file_contains);
}

static int
p_ret_equals(struct reader *r, struct json_object *v)
{
	json_object_put(r->q->ret_equals);
	r->q->ret_equals = json_object_get(v);
	r->q->has_equals = true;
	return 0;
}

static int
p_ret_null(struct reader *r, struct json_object *v)
{
	bool b;

	if (read_bool(v, &b) == -1)
		return -1;
	r->q->ret_null = b;
	return 0;
}

static const struct param function_params[] = {
	{ "equals", "a string", p_fn_equals },
	{ "contains", "a string", p_fn_contains },
	{ "matches", "a regular expression", p_fn_matches },
	{ NULL, NULL, NULL }
}, file_params[] = {
	{ "equals", "a string", p_file_equals },
	{ "contains", "a string", p_file_contains },
	{ NULL, NULL, NULL }
}, return_params[] = {
	{ "equals", "any value", p_ret_equals },
	{ "isNull", "true or false", p_ret_null },
	{ NULL, NULL, NULL }
};

static int
p_function(struct reader *r, struct json_object *v)
{
	return read_object(r, v, function_params, "function");
}

static int
p_file(struct reader *r, struct json_object *v)
{
	return read_object(r, v, file_params, "sourceFile");
}

static int
p_return(struct reader *r, struct json_object *v)
{
	return read_object(r, v, return_params, "returnValue");
}

static int
p_tid(struct reader *r, struct json_object *v)
{
	return read_number(v, 0, UINT32_MAX, &r->q->tid);
}

static int
p_limit(struct reader *r, struct json_object *v)
{
	int64_t n;

	if (read_number(v, 1, QUERY_LIMIT_MAX, &n) == -1)
		return -1;
	r->q->limit = (uint32_t)n;
	return 0;
}

static int
p_offset(struct reader *r, struct json_object *v)
{
	int64_t n;

	if (read_number(v, 0, INT64_MAX, &n) == -1)
		return -1;
	r->q->offset = (uint64_t)n;
	return 0;
}

static int
p_after(struct reader *r, struct json_object *v)
{
	if (!json_object_is_type(v, json_type_string) ||
	    id_parse(json_object_get_string(v),
	    (size_t)json_object_get_string_len(v), &r->q->after) == -1)
		return -1;
	r->q->has_after = true;
	return 0;
}

static int
p_verbose(struct reader *r, struct json_object *v)
{
	return read_bool(v, &r->q->verbose);
}

static const struct param params[] = {
	{ "sessionId", "a string", p_session },
	{ "eventType", "function_enter, function_exit, stdout, stderr or crash",
	    p_type },
	{ "function", "an object", p_function },
	{ "sourceFile", "an object", p_file },
	{ "returnValue", "an object", p_return },
	{ "threadId", "a thread's number", p_tid },
	{ "afterEventId", "the id of an event, such as \"1.42\"", p_after },
	{ "limit", "a number from 1 to 500", p_limit },
	{ "offset", "a number from 0 on", p_offset },
	{ "verbose", "true or false", p_verbose },
	{ NULL, NULL, NULL }
};

/* -- objects ------------------------------------------------------------ */
static void
unknown(struct reader *r, const struct param *table, const char *of,
    const char *name)
{
	struct text t = { .max = STORE_WHY - 1 }, shown = { .max = 60 };

	text_plain(&shown, name, strnlen(name, 40));
	text_printf(&t, "%s has no '%s'; it takes ", of,
	    shown.p == NULL ? "" : shown.p);
	for (; table->name != NULL; table++)
		text_printf(&t, "%s%s", table->name,
		    table[1].name != NULL ? ", " : "");
	snprintf(r->why, STORE_WHY, "%s", t.p == NULL ? "no memory" : t.p);
	text_free(&t);
	text_free(&shown);
}

static int
read_member(struct reader *r, const char *name, struct json_object *v,
    const struct param *table, const char *of)
{
	const struct param *p = table;

	while (p->name != NULL && strcmp(p->name, name) != 0)
		p++;
	if (p->name == NULL) {
		unknown(r, table, of, name);
		return -1;
	}
	if (p->read(r, v) == 0)
		return 0;
	/* an object within has said it better */
	if (r->why[0] == '\0')
		snprintf(r->why, STORE_WHY, "%s of %s must be %s", p->name, of,
		    p->wants);
	return -1;
}

static int
read_object(struct reader *r, struct json_object *o,
    const struct param *table, const char *of)
{
	if (!json_object_is_type(o, json_type_object))
		return -1;
	json_object_object_foreach(o, name, v) {
		if (read_member(r, name, v, table, of) == -1)
			return -1;
	}
	return 0;
}

int
query_parse(struct json_object *o, struct query *q, char why[STORE_WHY])
{
	struct reader r = { q, why };

	*q = (struct query)QUERY_INIT;
	why[0] = '\0';
	if (read_object(&r, o, params, "debug_query") == 0)
		return 0;
	if (why[0] == '\0')
		snprintf(why, STORE_WHY, "a query is a JSON object");
	query_free(q);
	return -1;
}

int
query_parse_text(const char *s, size_t len, struct query *q,
    char why[STORE_WHY])
{
	struct json_tokener *tok = json_tokener_new_ex(16);
	struct json_object *o = NULL;
	int ret = -1;

	snprintf(why, STORE_WHY, "a query is a JSON object of at most 64 KiB");
	if (tok == NULL)
		return -1;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
	    JSON_TOKENER_VALIDATE_UTF8);
	if (len <= TEXT_LONGEST)
		o = json_tokener_parse_ex(tok, s, (int)len);
	if (o != NULL && json_tokener_get_error(tok) == json_tokener_success)
		ret = query_parse(o, q, why);
	json_object_put(o);
	json_tokener_free(tok);
	return ret;
}

void
query_free(struct query *q)
{
	free(q->fn_equals);
	free(q->fn_contains);
	free(q->fn_matches);
	free(q->file_equals);
	free(q->file_contains);
	json_object_put(q->ret_equals);
	*q = (struct query)QUERY_INIT;
}
