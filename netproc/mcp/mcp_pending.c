/* SPDX-License-Identifier: ISC */
/* Patterns for a program that is not there yet; see the header. */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "mcp_pending.h"
#include "netproc/conn/replica.h"
#include "netproc/text/jsonwalk.h"

#define PEOPLE_MAX	64
/* Limits of each user: bytes of all patterns, each with its NUL. */
#define BYTES_MAX	((size_t)8192)
#define PATTERN_MAX	1024
#define PATTERNS_MAX	128

struct pending {
	TAILQ_ENTRY(pending)	 all;
	uint32_t		 uid;
	struct text		 patterns;
};

static TAILQ_HEAD(, pending)	 all = TAILQ_HEAD_INITIALIZER(all);
static size_t			 count;

static struct pending *
find(const struct owner *o)
{
	struct pending *p;

	TAILQ_FOREACH(p, &all, all)
		if (p->uid == o->uid)
			return p;
	return NULL;
}

static void
forget(struct pending *p)
{
	TAILQ_REMOVE(&all, p, all);
	text_free(&p->patterns);
	free(p);
	count--;
}

/* Finds or adds the user's entry, as the latest; NULL without memory. */
static struct pending *
get(const struct owner *o)
{
	struct pending *p = find(o);

	if (p != NULL) {
		TAILQ_REMOVE(&all, p, all);
		TAILQ_INSERT_TAIL(&all, p, all);
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	if (count == PEOPLE_MAX)
		forget(TAILQ_FIRST(&all));
	p->uid = o->uid;
	TAILQ_INSERT_TAIL(&all, p, all);
	count++;
	return p;
}

/* Takes t.  False without memory. */
static bool
set(const struct owner *o, struct text *t)
{
	struct pending *p = t->len == 0 ? find(o) : get(o);
	const bool none = t->len == 0;

	if (p == NULL) {
		text_free(t);
		return none;
	}
	text_free(&p->patterns);
	p->patterns = *t;
	if (none)
		forget(p);
	return true;
}

/* Whether a pattern is in the array. */
static bool
is_in(const struct word *array, const char *pattern)
{
	struct json_walk w;
	struct word item;

	json_walk(&w, array);
	while (json_walk_item(&w, &item))
		if (json_says(&item, pattern))
			return true;
	return false;
}

static bool
has(const struct text *t, const char *pattern)
{
	size_t at;

	for (at = 0; at < t->len; at += strlen(t->p + at) + 1)
		if (strcmp(t->p + at, pattern) == 0)
			return true;
	return false;
}

static size_t
count_of(const struct text *t)
{
	size_t at, n = 0;

	for (at = 0; at < t->len; at += strlen(t->p + at) + 1)
		n++;
	return n;
}

static const char *
add_all(struct text *t, const struct word *add)
{
	char pattern[PATTERN_MAX + 1];
	struct json_walk w;
	struct word item;
	size_t len;

	json_walk(&w, add);
	while (json_walk_item(&w, &item)) {
		len = json_unquote(&item, pattern, sizeof(pattern));
		if (len == SIZE_MAX || len == 0)
			return "a pattern has 1 to 1024 bytes";
		if (!has(t, pattern))
			text_put(t, pattern, len + 1);
	}
	if (count_of(t) > PATTERNS_MAX)
		return "at most 128 patterns wait for a program; remove some, "
		    "or launch it and add the others then";
	return t->bad ? "patterns that wait for a program have at most 8192 "
	    "bytes together; launch it first" : NULL;
}

const char *
pending_change(const struct owner *o, const struct word *add,
    const struct word *remove)
{
	struct text t = { .max = BYTES_MAX };
	const struct pending *p = find(o);
	const char *s, *why;
	size_t at;

	for (at = 0; p != NULL && at < p->patterns.len; at += strlen(s) + 1) {
		s = p->patterns.p + at;
		if (!is_in(remove, s))
			text_put(&t, s, strlen(s) + 1);
	}
	why = add_all(&t, add);
	if (why != NULL) {
		text_free(&t);
		return why;
	}
	return set(o, &t) ? NULL : "out of memory";
}

void
pending_json(struct text *t, const struct owner *o)
{
	const struct pending *p = find(o);
	size_t at;

	json_open(t, '[');
	for (at = 0; p != NULL && at < p->patterns.len;
	    at += strlen(p->patterns.p + at) + 1)
		json_text(t, p->patterns.p + at);
	json_close(t, ']');
}

bool
pending_any(const struct owner *o)
{
	return find(o) != NULL;
}

void
pending_had(const struct owner *o, struct text *had)
{
	const struct pending *p = find(o);

	*had = (struct text){ .max = BYTES_MAX };
	if (p != NULL)
		text_put(had, p->patterns.p, p->patterns.len);
}

void
pending_done(const struct owner *o, const struct text *had)
{
	struct text t = { .max = BYTES_MAX };
	const struct pending *p = find(o);
	const char *s;
	size_t at;

	if (p == NULL || had->len == 0)
		return;
	for (at = 0; at < p->patterns.len; at += strlen(s) + 1) {
		s = p->patterns.p + at;
		if (!has(had, s))
			text_put(&t, s, strlen(s) + 1);
	}
	if (t.bad)
		text_free(&t);
	else
		(void)set(o, &t);
}
