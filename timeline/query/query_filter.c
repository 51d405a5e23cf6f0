/* SPDX-License-Identifier: ISC */
/*
 * A query made ready: names are matched once, each against the functions that
 * are known, and each return value that has a class once; events are then
 * compared by numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_int.h"
#include "query_regex.h"

#define CALLS	(1U << EVENT_ENTER | 1U << EVENT_EXIT)
#define TEXTS	(1U << EVENT_STDOUT | 1U << EVENT_STDERR | 1U << EVENT_CRASH)

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
			return f->values == NULL || values_chunk(f, c);
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
	return 0;
}

/* Keeps of the wanted functions those that have returned a matching value. */
static int
match_values(struct filter *f)
{
	uint32_t n = f->st->counters.nfns, i;
	uint8_t *fns;

	if (f->nfns < n || f->fns == NULL) {
		/* all have a place, those without a name, too */
		n = f->nfns < n ? n : f->nfns;
		if ((fns = malloc(n + 1)) == NULL)
			return -1;
		memset(fns, f->fns == NULL, n + 1);
		if (f->fns != NULL)
			memcpy(fns, f->fns, f->nfns);
		free(f->fns);
		f->fns = fns;
		f->nfns = n;
	}
	if (values_make(f) == -1)
		return -1;
	for (i = 0; i < f->nfns; i++)
		if (f->fns[i] != 0)
			f->fns[i] = values_possible(f, i);
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
	if (names_asked(q) && match_names(f, why) == -1) {
		filter_free(f);
		return -1;
	}
	if ((f->by_result && match_values(f) == -1) ||
	    (f->fns != NULL && fold(f) == -1)) {
		snprintf(why, STORE_WHY, "no memory");
		filter_free(f);
		return -1;
	}
	return 0;
}

void
filter_free(struct filter *f)
{
	free(f->fns);
	free(f->folds);
	free(f->counts);
	values_free(f->values);
	*f = (struct filter){ 0 };
}

static inline bool
fn_wanted(const struct filter *f, uint32_t fn)
{
	return f->fns == NULL || (fn < f->nfns && f->fns[fn] != 0);
}

bool
filter_rec(struct filter *f, const struct rec *r)
{
	if ((f->kinds & 1U << r->kind) == 0 || !fn_wanted(f, r->fn))
		return false;
	return !f->by_result || values_match(f, r);
}

int
filter_sum(struct filter *f, uint32_t fn, uint16_t class)
{
	uint32_t kind = class == CLASS_ENTER ? EVENT_ENTER : EVENT_EXIT;

	if ((f->kinds & 1U << kind) == 0 || !fn_wanted(f, fn))
		return 0;
	if (!f->by_result)
		return 1;
	return values_class(f, fn, class);
}

bool
filter_selective(const struct filter *f)
{
	return f->fns != NULL || f->by_result;
}
