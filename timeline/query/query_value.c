/* SPDX-License-Identifier: ISC */
/*
 * Return values.  The value asked for is compared as JSON, which takes a
 * while; so each value that has a class is shown once, and a value without a
 * class only if its key (segment.h) leaves it open.  The rules of a function
 * say what a key says of its results; they come from the renderer of values.
 */
#include <json-c/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_int.h"

#define MEMO_BITS	17
#define MARKS_MOST	128U
#define EXACT_MOST	9007199254740992.0	/* 2^53 */

enum verdict { UNKNOWN, YES, NO };

/* A value without a class, and whether it matches. */
struct memo {
	uint32_t fn;
	uint8_t	 len, verdict;
	uint8_t	 raw[26];
};
_Static_assert(sizeof(struct memo) == 32, "four words");

/* Rule that tells from a key whether a result is the value asked for. */
struct rule {
	uint8_t	 found;			/* enum store_found */
	bool	 exact;
	uint64_t wanted, mask;		/* of FOUND_BYTES: key and all ones */
};

struct rules {
	struct rule equals, null, zero;	/* zero: "0x0", a null pointer */
	uint8_t	 classes[CLASS_MAX + 1];	/* enum verdict */
};

/* The rules for millions of keys, as far as they are that simple. */
struct quick {
	uint64_t wanted, mask;
	int8_t	 all;			/* as values_class() of CLASS_OTHER */
	bool	 simple;		/* a comparison decides */
};

struct values {
	struct quick *quick;		/* by function; owned */
	struct rules **rules;		/* by function; owned, as they are */
	uint32_t nrules;
	struct memo *memo;		/* of values without a class, by hash */
	char	*scratch;		/* STORE_RENDER_MAX */
	const char *wanted;		/* the value that is asked for */
	struct store_value value;	/* the same */
	struct store_inverse *inverse;	/* room for one */
	uint64_t marks[MARKS_MOST];	/* of what can match, if they are all */
	uint32_t nmarks;
	bool	 marks_all;
};

/* -- as they are shown -------------------------------------------------- */
static bool
is_number(struct json_object *o)
{
	return json_object_is_type(o, json_type_int) ||
	    json_object_is_type(o, json_type_double);
}

/* 1 and 1.0 are one value; true and 1 are not. */
static bool
same_value(struct json_object *a, struct json_object *b)
{
	if (is_number(a) && is_number(b) && json_object_get_type(a) !=
	    json_object_get_type(b))
		return json_object_get_double(a) == json_object_get_double(b);
	return json_object_equal(a, b) != 0;
}

/* A pointer that is NULL is shown as one. */
static bool
is_null(struct json_object *v)
{
	return v == NULL || (json_object_is_type(v, json_type_string) &&
	    strcmp(json_object_get_string(v), "0x0") == 0);
}

/*
 * Whether two texts of values are surely equal or not, without parsing: 1, 0,
 * or -1 for those that can be written in several ways.
 */
static int
compare_texts(const char *a, size_t alen, const char *b, size_t blen)
{
	bool quoted = a[0] == '"' && b[0] == '"';

	if (alen == blen && memcmp(a, b, alen) == 0)
		return 1;
	if ((a[0] == '"') != (b[0] == '"'))
		return 0;
	if (quoted && memchr(a, '\\', alen) == NULL &&
	    memchr(b, '\\', blen) == NULL)
		return 0;
	if (!quoted && strspn(a, "-0123456789") == alen &&
	    strspn(b, "-0123456789") == blen)
		return 0;
	return -1;
}

static bool
result_matches(struct filter *f, uint32_t fn, const void *raw, size_t len)
{
	const struct query *q = f->q;
	struct json_object *v;
	size_t n;
	bool match;
	int quick;

	/* nothing was captured: it returns nothing, not even null */
	if (len == 0)
		return false;
	n = shown_result(f->st, fn, raw, len, f->values->scratch);
	n = n < STORE_RENDER_MAX ? n : STORE_RENDER_MAX - 1;
	f->values->scratch[n] = '\0';
	if (q->has_equals && q->ret_null == -1 && (quick = compare_texts(
	    f->values->scratch, n, f->values->wanted, strlen(f->values->wanted))) != -1)
		return quick == 1;
	v = json_tokener_parse(f->values->scratch);
	match = (!q->has_equals || same_value(v, q->ret_equals)) &&
	    (q->ret_null == -1 || is_null(v) == (q->ret_null == 1));
	json_object_put(v);
	return match;
}

/*
 * Short values that come again are shown once.  They are compared whole: a
 * program that knows the hash gains nothing but misses.
 */
static bool
shown_once(struct filter *f, uint32_t fn, const void *raw, size_t len)
{
	struct memo key = { .fn = fn, .len = (uint8_t)len }, *m;
	uint64_t h[4];

	if (len > sizeof(key.raw))
		return result_matches(f, fn, raw, len);
	memcpy(key.raw, raw, len);
	memcpy(h, &key, sizeof(h));
	h[0] = (h[0] ^ h[1] * 31 ^ h[2] * 131 ^ h[3] * 1031) *
	    UINT64_C(0x9e3779b97f4a7c15);
	m = &f->values->memo[h[0] >> (64 - MEMO_BITS)];
	if (m->verdict == UNKNOWN || m->fn != fn || m->len != key.len ||
	    memcmp(m->raw, key.raw, sizeof(key.raw)) != 0) {
		key.verdict = result_matches(f, fn, raw, len) ? YES : NO;
		*m = key;
	}
	return m->verdict == YES;
}

/* -- rules -------------------------------------------------------------- */
static struct rule
rule_of(const struct filter *f, uint32_t fn, const struct store_value *v)
{
	const struct store *st = f->st;
	struct store_inverse *inv = f->values->inverse;
	struct rule r = { .found = FOUND_PERHAPS };

	if (st->inverse == NULL)
		return r;
	/* who finds nothing leaves the rest as it is */
	inv->found = FOUND_PERHAPS;
	inv->exact = false;
	inv->wanted = inv->mask = 0;
	inv->len = 0;
	st->inverse(st->inverse_arg, fn, v, inv);
	r = (struct rule){ (uint8_t)inv->found, inv->exact, inv->wanted,
		inv->mask };
	/* no key is zero */
	if (r.found == FOUND_WORD && r.wanted == 0 && r.mask == UINT64_MAX)
		r.found = FOUND_NEVER;
	if (r.found == FOUND_BYTES) {
		if (inv->len > STORE_BYTES_MAX)
			return (struct rule){ .found = FOUND_PERHAPS };
		r.wanted = seg_key_of(inv->bytes, inv->len, st->tag);
		r.mask = UINT64_MAX;
		r.exact = false;
	}
	return r;
}

static struct rules *
rules_of(struct filter *f, uint32_t fn)
{
	static const struct store_value null = { .type = STORE_NULL };
	static const struct store_value zero = { .type = STORE_STRING,
		.s = "0x0", .len = 3 };
	struct values *v = f->values;
	struct rules *r;

	if (fn >= v->nrules)
		return NULL;
	if ((r = v->rules[fn]) != NULL)
		return r;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return NULL;
	if (f->q->has_equals)
		r->equals = rule_of(f, fn, &v->value);
	if (f->q->ret_null != -1) {
		r->null = rule_of(f, fn, &null);
		r->zero = rule_of(f, fn, &zero);
	}
	return v->rules[fn] = r;
}

/* 1, 0, or -1 for perhaps. */
static inline int
follows(const struct rule *r, uint64_t key)
{
	if (r->found == FOUND_NEVER)
		return 0;
	if (r->found == FOUND_PERHAPS)
		return -1;
	return (key & r->mask) != r->wanted ? 0 : r->exact ? 1 : -1;
}

static inline int
both(int a, int b)
{
	if (a == 0 || b == 0)
		return 0;
	return a == 1 && b == 1 ? 1 : -1;
}

/* Whether what has that key matches. */
static int
key_matches(const struct filter *f, const struct rules *r, uint64_t key)
{
	int match = 1, null, zero;

	if (f->q->has_equals)
		match = follows(&r->equals, key);
	if (f->q->ret_null == -1 || match == 0)
		return match;
	null = follows(&r->null, key);
	zero = follows(&r->zero, key);
	/* neither, or one of them */
	null = both(null == -1 ? -1 : !null, zero == -1 ? -1 : !zero);
	if (f->q->ret_null == 1)
		null = null == -1 ? -1 : !null;
	return both(match, null);
}

/* Whether a rule says the same of all keys. */
static bool
says_one(const struct rule *r)
{
	return r->found == FOUND_NEVER;
}

/* Whether all results of fn that have only a key match; -1: keys differ. */
static int
others_match(struct filter *f, uint32_t fn)
{
	const struct rules *r = rules_of(f, fn);

	if (r == NULL)
		return 0;
	if (f->q->has_equals && says_one(&r->equals))
		return 0;
	if (f->q->has_equals || !says_one(&r->null) || !says_one(&r->zero))
		return -1;
	return f->q->ret_null == 0;
}

int
values_class(struct filter *f, uint32_t fn, uint16_t class)
{
	struct rules *r = rules_of(f, fn);
	const void *raw;
	uint64_t key;
	size_t len;
	int match;

	if (class == CLASS_ODD)
		return -1;
	if (class == CLASS_OTHER)
		return others_match(f, fn);
	if (r == NULL)
		return 0;
	if (r->classes[class] == UNKNOWN) {
		raw = counters_raw(&f->st->counters, fn, class, &len);
		key = raw == NULL ? 0 : seg_key(raw, len, f->st->tag);
		match = key == 0 ? -1 : key_matches(f, r, key);
		if (match == -1)
			match = raw != NULL && result_matches(f, fn, raw, len);
		r->classes[class] = match == 1 ? YES : NO;
	}
	return r->classes[class] == YES;
}

int
values_key(struct filter *f, uint32_t fn, uint64_t key)
{
	const struct rules *r = rules_of(f, fn);

	return key == 0 || r == NULL ? -1 : key_matches(f, r, key);
}

bool
values_match(struct filter *f, const struct rec *rec)
{
	uint8_t room[PACK_WHOLE];
	const uint8_t *captures;
	uint64_t key;
	int match;

	if (!class_is_other(rec->class))
		return values_class(f, rec->fn, rec->class) == 1;
	captures = rec_captures(rec, room);
	key = rec->class == CLASS_ODD ? 0 :
	    seg_key(captures, rec->len, f->st->tag);
	match = values_key(f, rec->fn, key);
	return match == -1 ? shown_once(f, rec->fn, captures, rec->len) :
	    match == 1;
}

uint32_t
values_row(struct filter *f, const struct seg_sum *row, const uint64_t *keys,
    bool *perhaps)
{
	const struct quick *quick;
	const struct rules *r;
	uint32_t i, count = 0;
	int match;

	*perhaps = false;
	if (row->fn >= f->nfns || f->fns[row->fn] == 0)
		return 0;
	quick = &f->values->quick[row->fn];
	*perhaps = row->class == CLASS_ODD;
	if (*perhaps || quick->all != -1)
		return 0;
	/* the usual case; nothing in the loop but a comparison */
	if (quick->simple) {
		for (i = 0; i < row->count; i++)
			count += (keys[i] & quick->mask) == quick->wanted;
		return count;
	}
	if ((r = rules_of(f, row->fn)) == NULL)
		return 0;
	for (i = 0; i < row->count; i++) {
		match = key_matches(f, r, keys[i]);
		count += match == 1;
		*perhaps = *perhaps || match == -1;
	}
	return count;
}

static void
make_quick(struct filter *f, uint32_t fn)
{
	const struct rules *r = rules_of(f, fn);
	struct quick *q = &f->values->quick[fn];

	q->all = (int8_t)others_match(f, fn);
	if (r == NULL || f->q->ret_null != -1 || r->equals.found != FOUND_WORD ||
	    !r->equals.exact)
		return;
	q->simple = true;
	q->wanted = r->equals.wanted;
	q->mask = r->equals.mask;
}

/* -- marks -------------------------------------------------------------- */
static void
add_mark(struct values *v, uint64_t mark)
{
	uint32_t i;

	for (i = 0; i < v->nmarks; i++)
		if (v->marks[i] == mark)
			return;
	if (v->nmarks == MARKS_MOST)
		v->marks_all = true;
	else
		v->marks[v->nmarks++] = mark;
}

/* The mark of a key that can match, if there is only one. */
static void
mark_others(struct filter *f, uint32_t fn)
{
	const struct rules *r = rules_of(f, fn);

	if (r != NULL && f->q->has_equals && r->equals.found != FOUND_PERHAPS &&
	    r->equals.mask == UINT64_MAX)
		add_mark(f->values, mark_of_key(r->equals.wanted));
	else
		add_mark(f->values, mark_of_class(fn, CLASS_OTHER));
}

bool
values_possible(struct filter *f, uint32_t fn)
{
	static const uint16_t last[] = { CLASS_ODD, CLASS_OTHER };
	const struct counters *t = &f->st->counters;
	bool some = false;
	uint32_t i;
	int match;

	for (i = 0; i <= CLASS_MAX + 2; i++) {
		uint16_t class = i <= CLASS_MAX ? (uint16_t)i :
		    last[i - CLASS_MAX - 1];

		if (counters_count(t, fn, class) == 0 ||
		    (match = values_class(f, fn, class)) == 0)
			continue;
		some = true;
		f->summed = f->summed || match == 1;
		if (class == CLASS_OTHER)
			make_quick(f, fn);
		if (f->values->marks_all)
			continue;
		if (class == CLASS_OTHER)
			mark_others(f, fn);
		else
			add_mark(f->values, mark_of_class(fn, class));
	}
	return some;
}

bool
values_chunk(const struct filter *f, const struct chunk *c)
{
	const struct values *v = f->values;
	uint32_t i;

	if (v->marks_all)
		return true;
	for (i = 0; i < v->nmarks; i++)
		if (chunk_marked(c, v->marks[i]))
			return true;
	return false;
}

/* -- what is asked for -------------------------------------------------- */
static void
number_of(struct json_object *o, struct store_value *v)
{
	v->type = STORE_INTEGER;
	v->real = json_object_get_double(o);
	if (json_object_is_type(o, json_type_int)) {
		v->negative = json_object_get_int64(o) < 0;
		v->integer = v->negative ? (uint64_t)json_object_get_int64(o) :
		    json_object_get_uint64(o);
	} else if (v->real == floor(v->real) && fabs(v->real) < EXACT_MOST) {
		v->negative = v->real < 0;
		v->integer = (uint64_t)(int64_t)v->real;
	} else {
		v->type = STORE_REAL;
	}
}

static void
value_of(struct json_object *o, struct store_value *v)
{
	switch (json_object_get_type(o)) {
	case json_type_null:
		v->type = STORE_NULL;
		break;
	case json_type_boolean:
		v->type = STORE_BOOL;
		v->truth = json_object_get_boolean(o);
		break;
	case json_type_int:
	case json_type_double:
		number_of(o, v);
		break;
	case json_type_string:
		v->type = STORE_STRING;
		v->s = json_object_get_string(o);
		v->len = (size_t)json_object_get_string_len(o);
		break;
	default:
		v->type = STORE_COMPOUND;
	}
}

int
values_make(struct filter *f)
{
	struct values *v = calloc(1, sizeof(*v));

	if ((f->values = v) == NULL)
		return -1;
	v->nrules = f->nfns;
	v->quick = calloc(v->nrules + 1, sizeof(*v->quick));
	v->rules = calloc(v->nrules + 1, sizeof(struct rules *));
	v->scratch = malloc(STORE_RENDER_MAX);
	v->inverse = malloc(sizeof(*v->inverse));
	v->memo = calloc((size_t)1 << MEMO_BITS, sizeof(*v->memo));
	v->wanted = json_object_to_json_string_ext(f->q->ret_equals,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (v->quick == NULL || v->rules == NULL || v->scratch == NULL ||
	    v->inverse == NULL || v->memo == NULL || v->wanted == NULL)
		return -1;
	value_of(f->q->ret_equals, &v->value);
	return 0;
}

void
values_free(struct values *v)
{
	uint32_t i;

	if (v == NULL)
		return;
	for (i = 0; v->rules != NULL && i < v->nrules; i++)
		free(v->rules[i]);
	free(v->rules);
	free(v->quick);
	free(v->scratch);
	free(v->inverse);
	free(v->memo);
	free(v);
}
