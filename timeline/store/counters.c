/* SPDX-License-Identifier: ISC */
/* How often each function was entered and left. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "segment.h"

#define INDEX	64U		/* power of two, twice the classes */
#define ONE_REGISTER	12U	/* bytes of its capture */

/* Captures and their length as words, to be compared at once. */
struct key {
	uint64_t w[3];
};

struct fn_class {
	struct key key;
	uint64_t count;
};

struct fn_tally {
	uint64_t enters, others, odds;
	uint16_t latest;		/* class of what was returned last */
	struct fn_class *classes;	/* CLASS_MAX + 1 or NULL */
	uint8_t	*index;			/* class + 1 by hash of the key */
	uint8_t	 next;			/* class to be given next */
};

int
counters_grow(struct counters *t, uint32_t fn)
{
	uint32_t n = t->nfns == 0 ? 64 : t->nfns;
	struct fn_tally *fns;

	while (n <= fn)
		n *= 2;
	if ((fns = reallocarray(t->fns, n, sizeof(*fns))) == NULL)
		return -1;
	memset(fns + t->nfns, 0, (n - t->nfns) * sizeof(*fns));
	t->fns = fns;
	t->nfns = n;
	return 0;
}

static struct key
key_of(const void *raw, size_t len)
{
	struct key k = { { 0, 0, (uint64_t)(len + 1) << 32 } };

	/* nearly all are one register; a word at a time, as it is looked at */
	if (len == ONE_REGISTER) {
		uint32_t rest;

		memcpy(&k.w[0], raw, sizeof(k.w[0]));
		memcpy(&rest, (const uint8_t *)raw + sizeof(k.w[0]),
		    sizeof(rest));
		k.w[1] = rest;
	} else {
		memcpy(&k, raw, len);
	}
	return k;
}

static bool
same_key(const struct key *a, const struct key *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2];
}

static uint32_t
hash_of(const struct key *k)
{
	uint64_t h = k->w[0] ^ k->w[1] * 31 ^ k->w[2] * 131;

	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/*
 * The first capture is nothing but zeros, and others, where a pointer leads
 * to, could not be made.
 */
static bool
is_zero(const struct key *k, size_t len)
{
	const uint8_t *p = (const uint8_t *)k;
	uint16_t head[2];		/* status, bytes */
	size_t at = sizeof(head), end;

	memcpy(head, p, sizeof(head));
	end = at + ((head[1] + 3U) & ~3U);
	if (head[0] != 0 || head[1] == 0 || end > len)
		return false;
	while (at < end)
		if (p[at++] != 0)
			return false;
	for (; at + sizeof(head) <= len; at += sizeof(head)) {
		memcpy(head, p + at, sizeof(head));
		if (head[0] == 0 || head[1] != 0)
			return false;
	}
	return at == len;
}

static bool
make_classes(struct fn_tally *f)
{
	f->classes = calloc(CLASS_MAX + 1, sizeof(*f->classes));
	f->index = calloc(INDEX, 1);
	if (f->classes == NULL || f->index == NULL) {
		free(f->classes);
		free(f->index);
		f->classes = NULL;
		f->index = NULL;
		return false;
	}
	f->next = 1;
	return true;
}

static inline bool
have_classes(struct fn_tally *f)
{
	return f->classes != NULL || make_classes(f);
}

/* The class with that key; *free_at is where a new one is put. */
static uint16_t
find(const struct fn_tally *f, const struct key *k, uint32_t *free_at)
{
	uint32_t i = hash_of(k);

	for (; f->index[i] != 0; i = (i + 1) % INDEX)
		if (same_key(&f->classes[f->index[i] - 1].key, k))
			return (uint16_t)(f->index[i] - 1);
	*free_at = i;
	return CLASS_OTHER;
}

/* Whether a class has a value: no key is all zero, see key_of(). */
static bool
is_known(const struct fn_tally *f, uint16_t class)
{
	return f->classes[class].key.w[2] != 0;
}

uint16_t
counters_class(struct counters *t, uint32_t fn, const void *raw, size_t len)
{
	struct fn_tally *f = &t->fns[fn];
	uint32_t free_at;
	uint16_t class;
	struct key k;

	if (len > CLASS_RAW || !have_classes(f))
		return CLASS_OTHER;
	k = key_of(raw, len);
	/* most return the same again */
	if (same_key(&f->classes[f->latest].key, &k))
		return f->latest;
	if ((class = find(f, &k, &free_at)) != CLASS_OTHER)
		return f->latest = class;
	if (is_zero(&k, len) && !is_known(f, 0)) {
		class = 0;
	} else {
		while (f->next <= CLASS_MAX && is_known(f, f->next))
			f->next++;
		if (f->next > CLASS_MAX)
			return CLASS_OTHER;
		class = f->next++;
	}
	f->classes[class].key = k;
	f->index[free_at] = (uint8_t)(class + 1);
	return class;
}

void
counters_learn(struct counters *t, uint32_t fn, uint16_t class, const void *raw,
    size_t len)
{
	struct fn_tally *f = &t->fns[fn];
	uint32_t free_at;
	struct key k;

	if (class > CLASS_MAX || len > CLASS_RAW || !have_classes(f) ||
	    is_known(f, class))
		return;
	k = key_of(raw, len);
	if (find(f, &k, &free_at) != CLASS_OTHER)
		return;
	f->classes[class].key = k;
	f->index[free_at] = (uint8_t)(class + 1);
}

void
counters_add(struct counters *t, uint32_t fn, uint16_t class, int64_t n)
{
	struct fn_tally *f = &t->fns[fn];

	if (class == CLASS_ENTER)
		f->enters += (uint64_t)n;
	else if (class <= CLASS_MAX && have_classes(f))
		f->classes[class].count += (uint64_t)n;
	else if (class == CLASS_ODD)
		f->odds += (uint64_t)n;
	else
		f->others += (uint64_t)n;
}

uint64_t
counters_count(const struct counters *t, uint32_t fn, uint16_t class)
{
	if (fn >= t->nfns)
		return 0;
	if (class == CLASS_ENTER)
		return t->fns[fn].enters;
	if (class == CLASS_ODD)
		return t->fns[fn].odds;
	if (class > CLASS_MAX)
		return t->fns[fn].others;
	return t->fns[fn].classes == NULL ? 0 :
	    t->fns[fn].classes[class].count;
}

const void *
counters_raw(const struct counters *t, uint32_t fn, uint16_t class, size_t *len)
{
	const struct fn_tally *f;

	if (fn >= t->nfns || class > CLASS_MAX)
		return NULL;
	f = &t->fns[fn];
	if (f->classes == NULL || !is_known(f, class))
		return NULL;
	*len = (size_t)(f->classes[class].key.w[2] >> 32) - 1;
	return &f->classes[class].key;
}

uint32_t
counters_end(const struct counters *t)
{
	uint32_t n = t->nfns;
	const struct fn_tally *f;

	for (; n > 0; n--) {
		f = &t->fns[n - 1];
		if (f->enters > 0 || f->others > 0 || f->odds > 0 ||
		    f->classes != NULL)
			break;
	}
	return n;
}

void
counters_free(struct counters *t)
{
	uint32_t i;

	for (i = 0; i < t->nfns; i++) {
		free(t->fns[i].classes);
		free(t->fns[i].index);
	}
	free(t->fns);
	t->fns = NULL;
	t->nfns = 0;
}
