/* SPDX-License-Identifier: ISC */
/*
 * A query made ready: names are matched once, each against the functions that
 * are known, and each return value that has a class once; events are then
 * compared by numbers.
 */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_int.h"
#include "query_regex.h"

#define CALLS	(1U << EVENT_ENTER | 1U << EVENT_EXIT)
#define TEXTS	(1U << EVENT_STDOUT | 1U << EVENT_STDERR | 1U << EVENT_CRASH)

#define MEMO_BITS 17

enum verdict { UNKNOWN, YES, NO };

/* A value without a class, and whether it matches. */
struct memo {
	uint32_t fn;
	uint8_t	 len, verdict;
	uint8_t	 raw[26];
};
_Static_assert(sizeof(struct memo) == 32, "four words");

/* -- names -------------------------------------------------------------- */
static bool
name_matches(const struct query *q, struct regex *re,
    const struct function *f)
{
	return (q->fn_equals == NULL || strcmp(f->name, q->fn_equals) == 0) &&
	    (q->fn_contains == NULL ||
	    strstr(f->name, q->fn_contains) != NULL) &&
	    (re == NULL || regex_match(re, f->name, strlen(f->name))) &&
	    (q->file_equals == NULL || strcmp(f->file, q->file_equals) == 0) &&
	    (q->file_contains == NULL ||
	    strstr(f->file, q->file_contains) != NULL);
}

static bool
names_asked(const struct query *q)
{
	return q->fn_equals != NULL || q->fn_contains != NULL ||
	    q->fn_matches != NULL || q->file_equals != NULL ||
	    q->file_contains != NULL;
}

/*
 * The functions as chunks note theirs, for each size of that: words n are at
 * folds + n - 1.
 */
static int
fold(struct filter *f)
{
	uint32_t i, words;

	f->folds = calloc(2 * FN_WORDS, sizeof(*f->folds));
	if (f->folds == NULL)
		return -1;
	for (i = 0; i < f->nfns; i++)
		for (words = 1; f->fns[i] != 0 && words <= FN_WORDS;
		    words *= 2)
			f->folds[words - 1 + i / 64 % words] |=
			    UINT64_C(1) << i % 64;
	return 0;
}

bool
filter_chunk(const struct filter *f, const struct chunk *c)
{
	const uint64_t *wanted;
	uint32_t i;

	if (f->folds == NULL || c->fns == NULL)
		return true;
	wanted = f->folds + c->nwords - 1;
	for (i = 0; i < c->nwords; i++)
		if ((wanted[i] & c->fns[i]) != 0)
			return true;
	return false;
}

static int
match_names(struct filter *f, char why[STORE_WHY])
{
	const struct query *q = f->q;
	char reason[REGEX_WHY];
	struct regex *re = NULL;
	const struct function *fn;
	uint32_t i;

	if (q->fn_matches != NULL && (re = regex_new(q->fn_matches,
	    strlen(q->fn_matches), reason)) == NULL) {
		snprintf(why, STORE_WHY, "function.matches: %s", reason);
		return -1;
	}
	f->nfns = f->st->functions_cap;
	if ((f->fns = calloc(f->nfns + 1, 1)) == NULL) {
		regex_free(re);
		snprintf(why, STORE_WHY, "no memory");
		return -1;
	}
	for (i = 0; i < f->nfns; i++)
		if ((fn = function_of(f->st, i)) != NULL)
			f->fns[i] = name_matches(q, re, fn);
	regex_free(re);
	if (fold(f) == 0)
		return 0;
	snprintf(why, STORE_WHY, "no memory");
	return -1;
}

/* -- return values ------------------------------------------------------ */
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
	n = shown_result(f->st, fn, raw, len, f->scratch);
	n = n < STORE_RENDER_MAX ? n : STORE_RENDER_MAX - 1;
	f->scratch[n] = '\0';
	if (q->has_equals && q->ret_null == -1 && (quick = compare_texts(
	    f->scratch, n, f->wanted, strlen(f->wanted))) != -1)
		return quick == 1;
	v = json_tokener_parse(f->scratch);
	match = (!q->has_equals || same_value(v, q->ret_equals)) &&
	    (q->ret_null == -1 || is_null(v) == (q->ret_null == 1));
	json_object_put(v);
	return match;
}

static bool
class_matches(struct filter *f, uint32_t fn, uint16_t class)
{
	const void *raw;
	size_t len;

	if (fn >= f->nfns)
		return false;
	if (f->verdicts[fn] == NULL &&
	    (f->verdicts[fn] = calloc(CLASS_MAX + 1, 1)) == NULL)
		return false;
	if (f->verdicts[fn][class] == UNKNOWN) {
		raw = tally_raw(&f->st->tally, fn, class, &len);
		f->verdicts[fn][class] = raw != NULL &&
		    result_matches(f, fn, raw, len) ? YES : NO;
	}
	return f->verdicts[fn][class] == YES;
}

/*
 * Short values that come again are shown once.  They are compared whole: a
 * program that knows the hash gains nothing but misses.
 */
static bool
other_matches(struct filter *f, uint32_t fn, const void *raw, size_t len)
{
	struct memo key = { .fn = fn, .len = (uint8_t)len }, *m;
	uint64_t h[4];

	if (len > sizeof(key.raw))
		return result_matches(f, fn, raw, len);
	memcpy(key.raw, raw, len);
	memcpy(h, &key, sizeof(h));
	h[0] = (h[0] ^ h[1] * 31 ^ h[2] * 131 ^ h[3] * 1031) *
	    UINT64_C(0x9e3779b97f4a7c15);
	m = &f->memo[h[0] >> (64 - MEMO_BITS)];
	if (m->verdict == UNKNOWN || m->fn != fn || m->len != key.len ||
	    memcmp(m->raw, key.raw, sizeof(key.raw)) != 0) {
		key.verdict = result_matches(f, fn, raw, len) ? YES : NO;
		*m = key;
	}
	return m->verdict == YES;
}

static int
prepare_results(struct filter *f, char why[STORE_WHY])
{
	if (f->nfns < f->st->tally.nfns)
		f->nfns = f->st->tally.nfns;
	f->verdicts = calloc(f->nfns + 1, sizeof(uint8_t *));
	f->scratch = malloc(STORE_RENDER_MAX);
	f->wanted = json_object_to_json_string_ext(f->q->ret_equals,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	f->memo = calloc((size_t)1 << MEMO_BITS, sizeof(*f->memo));
	if (f->verdicts == NULL || f->scratch == NULL || f->memo == NULL ||
	    f->wanted == NULL) {
		snprintf(why, STORE_WHY, "no memory");
		return -1;
	}
	return 0;
}

/* -- the filter --------------------------------------------------------- */
int
filter_make(struct store *st, const struct query *q, struct filter *f,
    char why[STORE_WHY])
{
	*f = (struct filter){ .st = st, .q = q, .tid = -1,
		.kinds = CALLS | TEXTS, .calls = true, .texts = true };
	if (q == NULL)
		return 0;
	if (q->kinds != 0)
		f->kinds = q->kinds;
	f->tid = q->tid;
	f->by_result = q->has_equals || q->ret_null != -1;
	if (f->by_result)
		f->kinds &= 1U << EVENT_EXIT;
	if (names_asked(q))
		f->kinds &= CALLS;
	f->calls = (f->kinds & CALLS) != 0;
	f->texts = (f->kinds & TEXTS) != 0;
	/* names and patterns are looked at also where no call can match */
	if ((names_asked(q) && match_names(f, why) == -1) ||
	    (f->by_result && prepare_results(f, why) == -1)) {
		filter_free(f);
		return -1;
	}
	return 0;
}

void
filter_free(struct filter *f)
{
	uint32_t i;

	for (i = 0; f->verdicts != NULL && i < f->nfns; i++)
		free(f->verdicts[i]);
	free(f->verdicts);
	free(f->fns);
	free(f->folds);
	free(f->scratch);
	free(f->memo);
	*f = (struct filter){ 0 };
}

static inline bool
fn_wanted(const struct filter *f, uint32_t fn)
{
	return f->fns == NULL || (fn < f->nfns && f->fns[fn] != 0);
}

bool
filter_rec(struct filter *f, const struct rec *r, const void *captures)
{
	if ((f->kinds & 1U << r->kind) == 0 || !fn_wanted(f, r->fn))
		return false;
	if (!f->by_result)
		return true;
	return r->class == CLASS_OTHER ?
	    other_matches(f, r->fn, captures, r->len) :
	    class_matches(f, r->fn, r->class);
}

int
filter_sum(struct filter *f, uint32_t fn, uint16_t class)
{
	uint32_t kind = class == CLASS_ENTER ? EVENT_ENTER : EVENT_EXIT;

	if ((f->kinds & 1U << kind) == 0 || !fn_wanted(f, fn))
		return 0;
	if (!f->by_result)
		return 1;
	return class == CLASS_OTHER ? -1 : class_matches(f, fn, class);
}

bool
filter_selective(const struct filter *f)
{
	return f->fns != NULL || f->by_result;
}
