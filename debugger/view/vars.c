/* SPDX-License-Identifier: ISC */
/* Variables: as clients see them, and what is inside of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "misread.h"
#include "vars.h"

#define PAGE		100	/* elements of what was asked for */
#define INNER_PAGE	16	/* and of what is inside of that */
#define REQUESTS	24	/* for one expression */
#define LEVELS		2
#define TYPE_MOST	200	/* bytes */

bool
var_hidden(struct json_object *dap)
{
	static const char *const groups[] = { "special variables",
		"function variables", "class variables" };
	const char *name = jget_str(dap, "name");
	const char *value = jget_str(dap, "value");
	size_t i;

	/* bits that fill a gap; delve's nameless one is what p points to */
	if (dialect()->lldb_commands && name != NULL && *name == '\0' &&
	    jget_num(dap, "variablesReference", 0) <= 0)
		return true;
	if (name == NULL || (value != NULL && *value != '\0'))
		return false;
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strcmp(name, groups[i]) == 0)
			return true;
	return false;
}

/* The text behind the address that lldb begins pointers' values with. */
static const char *
behind_address(const char *value)
{
	const char *p = value;

	if (strncmp(p, "0x", 2) != 0)
		return value;
	p += 2 + strspn(p + 2, "0123456789abcdefABCDEF");
	return *p == '\0' || *p == ' ' ? p + (*p == ' ') : value;
}

/* "text", L"text", u8"text"; not {"a", "b"}. */
static bool
is_quoted(const char *value)
{
	value = behind_address(value);
	value += strspn(value, "LuU8b");
	return *value == '"';
}

bool
var_is_text(struct json_object *dap)
{
	const char *type = jget_str(dap, "type");
	const char *value = jget_str(dap, "value");

	if (value == NULL)
		value = jget_str(dap, "result");
	if (type == NULL || value == NULL)
		return false;
	if (strcmp(type, "str") == 0)
		return strchr(value, '"') != NULL;
	return is_quoted(value) && (strstr(type, "char") != NULL ||
	    strstr(type, "string") != NULL);
}

/*
 * Where a type's declarator ends: "int (*const &)(int)" has its own in the
 * first parentheses that are no template's argument.
 */
static const char *
declarator_end(const char *type)
{
	const char *p;
	int angles = 0;

	for (p = type; *p != '\0' && (angles > 0 || *p != '('); p++)
		angles += (*p == '<') - (*p == '>');
	return p + strcspn(p, ")");
}

bool
var_is_reference(struct json_object *dap)
{
	const char *type = jget_str(dap, "type"), *end;

	if (type == NULL)
		return false;
	end = declarator_end(type);
	return end > type && end[-1] == '&';
}

bool
var_lacks_value(struct json_object *dap)
{
	const char *value = jget_str(dap, "value"), *rest;

	if (value == NULL || !var_is_reference(dap) || var_is_text(dap) ||
	    jget_num(dap, "variablesReference", 0) <= 0)
		return false;
	rest = behind_address(value);
	/* lldb takes a character from the address; members stand in braces */
	return *rest == '\0' || strncmp(rest, "{*", 2) == 0 ||
	    rest[strspn(rest, "LuU8")] == '\'' || strncmp(rest, "U+", 2) == 0;
}

char *
var_referred(const char *value, struct json_object *vars)
{
	struct json_object *object = jat(vars, 0);
	const char *name = jget_str(object, "name");
	const char *text = jget_str(object, "value");
	char *out;

	if (jlen(vars) != 1 || name == NULL || *name != '&' || text == NULL ||
	    asprintf(&out, "%.*s: %s", (int)strcspn(value, " "), value,
	    text) < 0)
		return NULL;
	return out;
}

/* More than there can be is what an adapter has made up. */
static int64_t
count_of(struct json_object *dap, const char *name)
{
	int64_t n = jget_num(dap, name, 0);

	return n < 0 ? 0 : n < INT32_MAX ? n : INT32_MAX;
}

/* How many there are inside: -1 = some, it does not say. */
static int64_t
children(struct json_object *dap)
{
	int64_t n = count_of(dap, "namedVariables") +
	    count_of(dap, "indexedVariables");

	if (jget_num(dap, "variablesReference", 0) <= 0)
		return 0;
	return n > 0 ? n : -1;
}

/* Adds as much of a text as takes so many bytes of an answer. */
static void
put_some(struct json_object *o, const char *name, const char *s, size_t most)
{
	jput(o, name, jtext_clean(s, jsize_fit(s, strlen(s), most)));
}

static void
put_value(struct json_object *o, const char *value, size_t most, size_t skip)
{
	size_t len = strlen(value), n;

	if (skip > len)
		skip = len;
	n = jsize_fit(value + skip, len - skip, most);
	jput(o, "value", jtext_clean(value + skip, n));
	if (skip + n == len && skip == 0)
		return;
	jput_bool(o, "truncated", true);
	jput_int(o, "bytes", (int64_t)len);
	jput_int(o, "offset", (int64_t)skip);
	jput_int(o, "shown", (int64_t)n);
}

/* lldb has "a." for a member without a name, which is read as "a". */
static void
put_path(struct json_object *o, const char *path)
{
	size_t len = path == NULL ? 0 : strlen(path);

	if (len > 2 && strcmp(path + len - 2, "->") == 0)
		len -= 2;
	else if (len > 1 && path[len - 1] == '.')
		len--;
	if (len > 0)
		jput(o, "path", jtext_clean(path, len));
}

struct json_object *
var_make(struct json_object *dap, const char *name, size_t value_max,
    size_t skip, enum number_format f)
{
	struct json_object *o = jobject();
	const char *type = jget_str(dap, "type"), *own, *value;
	char number[80];

	misread_mend(dap, name);
	value = jget_str(dap, "value");
	if (value == NULL && (value = jget_str(dap, "result")) == NULL)
		value = "";
	/* Rust's (), which lldb takes for C's void */
	if (type != NULL && strcmp(type, "void") == 0 &&
	    strstr(value, "byte size") != NULL)
		value = type = "()";
	if (format_value(f, value, type, number, sizeof(number)))
		value = number;
	if (name != NULL)
		put_some(o, "name", name, value_max / 4);
	else if ((own = jget_str(dap, "name")) != NULL)
		put_some(o, "name", own, VALUE_MOST);
	if (type != NULL && *type != '\0')
		put_some(o, "type", type, name != NULL &&
			value_max / 4 < TYPE_MOST ? value_max / 4 : TYPE_MOST);
	put_value(o, value, value_max, skip);
	if (children(dap) == 0)
		return o;
	jput_int(o, "children", children(dap));
	put_path(o, jget_str(dap, "evaluateName"));
	return o;
}

void
vars_put_some(struct bound *b, struct json_object *answer, const char *key,
    struct json_object *dap, int64_t offset, enum number_format f)
{
	struct json_object *arr = jarray();
	int64_t i, n = (int64_t)jlen(dap);

	b->used += strlen(key) + 6;
	for (i = offset; i < n; i++) {
		if (var_hidden(jat(dap, (size_t)i)))
			continue;
		if (!bound_add(b, arr, var_make(jat(dap, (size_t)i), NULL,
			VALUE_MOST, 0, f))) {
			bound_cut(b, key, i - offset, n, NULL, i);
			break;
		}
	}
	jput(answer, key, arr);
}

/* -- what is inside ----------------------------------------------------- */
struct grow {
	struct json_object *var;
	vars_fn		 fn;
	void		*arg;
	enum number_format format;
	unsigned int	 pending, left;
	const char	*code;
	char		*why;
};

struct branch {
	struct grow	*grow;
	struct json_object *var;	/* borrowed of grow's tree */
	unsigned int	 level;
	int64_t		 offset, page;
	bool		 paged;		/* the adapter gives parts */
};

static void
grow_less(struct op *op, struct grow *g)
{
	if (--g->pending > 0)
		return;
	g->fn(op, g->var, g->code, g->why, g->arg);
	json_object_put(g->var);
	free(g->why);
	free(g);
}

static void	 branch_ask(struct op *, struct grow *, struct json_object *var,
		    struct json_object *dap, unsigned int level,
		    int64_t offset);

/* debugpy gives a hundred elements, and one that stands for the rest. */
static int64_t
more_at(struct json_object *dap)
{
	const char *type;
	size_t i;

	for (i = jlen(dap); i-- > 0;) {
		type = jget_str(jat(dap, i), "type");
		if (type != NULL && strcmp(type, "MoreItemsRange") == 0)
			return (int64_t)i;
	}
	return -1;
}

/* "len()" says how many there are in all; else these are all. */
static void
put_count(struct json_object *var, struct json_object *dap)
{
	const char *name, *value;
	int64_t n = (int64_t)jlen(dap);
	size_t i;

	/* it was counted when its first part was read */
	if (jget_num(var, "children", 0) > 0)
		return;
	for (i = jlen(dap); i-- > 0;) {
		name = jget_str(jat(dap, i), "name");
		value = jget_str(jat(dap, i), "value");
		if (name != NULL && value != NULL &&
		    strcmp(name, "len()") == 0)
			n = strtoll(value, NULL, 10);
	}
	jput_int(var, "children", n);
}

/* The value that a reference refers to is shown beside its address. */
static void
put_referred(struct json_object *var, struct json_object *fields)
{
	const char *value = jget_str(var, "value");
	char *text;

	if (value == NULL || !var_is_reference(var) ||
	    (text = var_referred(value, fields)) == NULL)
		return;
	jput_str(var, "value", text);
	free(text);
}

static void
branch_fill(struct op *op, struct branch *br, struct json_object *dap)
{
	struct json_object *arr, *v;
	int64_t i = br->paged ? 0 : br->offset, more = more_at(dap);
	int64_t n = (int64_t)jlen(dap), end = i + br->page;

	if (!br->paged)
		put_count(br->var, dap);
	if (more >= 0 && br->offset >= more) {
		branch_ask(op, br->grow, br->var, jat(dap, (size_t)more),
		    br->level, br->offset - more);
		return;
	}
	if (more >= 0)
		n = more;
	arr = jarray();
	jput(br->var, "fields", arr);
	for (; i < n && i < end; i++) {
		if (var_hidden(jat(dap, (size_t)i)))
			continue;
		v = var_make(jat(dap, (size_t)i), NULL, VALUE_MOST, 0,
		    br->grow->format);
		jadd(arr, v);
		if (br->level < LEVELS && !var_is_text(jat(dap, (size_t)i)))
			branch_ask(op, br->grow, v, jat(dap, (size_t)i),
			    br->level + 1, 0);
	}
	put_referred(br->var, arr);
}

static void
on_branch(struct op *op, const struct dap_answer *a, void *arg)
{
	struct branch *br = arg;
	struct grow *g = br->grow;

	if (a->ok)
		branch_fill(op, br, jget_arr(a->body, "variables"));
	else if (br->level == 1 && g->code == NULL) {
		g->code = a->code;
		g->why = copy_text(a->message);
	}
	grow_less(op, g);
	free(br);
}

static void
branch_ask(struct op *op, struct grow *g, struct json_object *var,
    struct json_object *dap, unsigned int level, int64_t offset)
{
	int64_t ref = jget_num(dap, "variablesReference", 0);
	int64_t indexed = count_of(dap, "indexedVariables");
	struct json_object *args;
	struct branch *br;

	if (ref <= 0 || g->left == 0 ||
	    (br = calloc(1, sizeof(*br))) == NULL)
		return;
	*br = (struct branch) { .grow = g, .var = var, .level = level,
		.offset = offset, .page = level == 1 ? PAGE : INNER_PAGE,
		.paged = indexed > 0 };
	args = jone_int("variablesReference", ref);
	if (br->paged) {
		jput_str(args, "filter", "indexed");
		jput_int(args, "start", offset);
		jput_int(args, "count", br->page < indexed - offset ?
			br->page : indexed - offset);
	}
	g->left--;
	g->pending++;
	adapter_ask("variables", args, op, on_branch, br);
}

void
vars_expand(struct op *op, struct json_object *var, struct json_object *dap,
    int64_t offset, enum number_format f, vars_fn fn, void *arg)
{
	struct grow *g = calloc(1, sizeof(*g));
	int64_t indexed = count_of(dap, "indexedVariables");

	if (g == NULL) {
		fn(op, var, "internal_error", "out of memory", arg);
		json_object_put(var);
		return;
	}
	*g = (struct grow) { .var = var, .fn = fn, .arg = arg, .format = f,
		.pending = 1, .left = REQUESTS };
	if (indexed <= 0 || offset < indexed)
		branch_ask(op, g, var, dap, 1, offset);
	grow_less(op, g);
}

/* -- what fits ---------------------------------------------------------- */
static bool	 fit(struct bound *, struct json_object *var,
		    struct json_object *to, int64_t offset);

static void
fit_fields(struct bound *b, struct json_object *var, struct json_object *to,
    int64_t offset)
{
	struct json_object *from = jget_arr(var, "fields"), *one, *arr;
	int64_t of = jget_num(var, "children", -1);
	size_t i;

	arr = jarray();
	for (i = 0; i < jlen(from); i++) {
		one = jobject();
		if (!fit(b, jat(from, i), one, 0)) {
			json_object_put(one);
			break;
		}
		jadd(arr, one);
	}
	jput(to, "fields", arr);
	if (i < jlen(from) || (of > 0 && offset + (int64_t)i < of))
		bound_cut(b, "fields", (int64_t)i, of,
		    jget_str(var, "path"), offset + (int64_t)i);
}

/* May a variable be shown without it? */
static bool
spared(const char *key)
{
	return strcmp(key, "path") == 0;
}

static bool
fit(struct bound *b, struct json_object *var, struct json_object *to,
    int64_t offset)
{
	b->used += 16;	/* brackets, commas, "fields" */
	json_object_object_foreach(var, key, value) {
		if (strcmp(key, "fields") != 0 &&
		    !bound_put(b, to, key, json_object_get(value)) &&
		    !spared(key))
			return false;
	}
	if (jget_arr(var, "fields") != NULL)
		fit_fields(b, var, to, offset);
	return true;
}

struct json_object *
vars_fit(struct bound *b, struct json_object *var, int64_t offset)
{
	struct json_object *o = jobject();
	int64_t shown = jget_num(var, "shown", 0);
	int64_t end = jget_num(var, "offset", 0) + shown;

	fit(b, var, o, offset);
	if (jget_bool(var, "truncated") && end < jget_num(var, "bytes", 0))
		bound_cut(b, "value", shown, jget_num(var, "bytes", 0),
		    jget_str(var, "path"), end);
	return o;
}
