/* SPDX-License-Identifier: ISC */
/*
 * Entries of an adapter's answer, by the things that it was sent.  The id of
 * an earlier answer counts, then the line.  The order of the request counts
 * only where nothing in the answer speaks against it: an entry for each thing,
 * and each known id in its place.
 */
#include "json_get.h"
#include "pairs.h"

struct pairing {
	struct pair	*all;
	struct json_object *reply;
	size_t		 n, m;		/* things, entries */
	size_t		 matched;	/* by their ids */
	bool		 in_order;
	bool		 paired[PAIRS_MOST];
	bool		 taken[PAIRS_MOST];	/* entries */
};

static void
pair(struct pairing *x, size_t thing, size_t entry)
{
	x->paired[thing] = x->taken[entry] = true;
	x->all[thing].entry = jat(x->reply, entry);
}

static bool
has_order(const struct pairing *x)
{
	return x->m == x->n && x->in_order;
}

static void
by_id(struct pairing *x)
{
	int64_t id;
	size_t i, k;

	for (i = 0; i < x->m; i++) {
		if (!jget_int(jat(x->reply, i), "id", &id))
			continue;
		for (k = 0; k < x->n; k++) {
			if (x->paired[k] || !x->all[k].named ||
			    x->all[k].id != id)
				continue;
			pair(x, k, i);
			x->matched++;
			x->in_order = x->in_order && k == i;
			break;
		}
	}
}

/* The only entry left with that line; m = there is none, or several. */
static size_t
entry_of_line(const struct pairing *x, int64_t line)
{
	size_t i, at = x->m;

	for (i = 0; i < x->m; i++) {
		if (x->taken[i] ||
		    jget_num(jat(x->reply, i), "line", -1) != line)
			continue;
		if (at != x->m)
			return x->m;
		at = i;
	}
	return at;
}

/*
 * Where one was moved, its entry may have the line of another thing: the order
 * of the request is the better witness then, if it is one.
 */
static void
by_line(struct pairing *x)
{
	size_t entry[PAIRS_MOST], k;

	for (k = 0; k < x->n; k++) {
		entry[k] = x->m;
		if (x->paired[k])
			continue;
		if (x->all[k].line > 0)
			entry[k] = entry_of_line(x, x->all[k].line);
		if (entry[k] == x->m && has_order(x))
			return;
	}
	for (k = 0; k < x->n; k++)
		if (entry[k] != x->m && !x->taken[entry[k]])
			pair(x, k, entry[k]);
}

static void
by_order(struct pairing *x)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (!x->paired[i] && !x->taken[i])
			pair(x, i, i);
}

/* The only one of n that is left; n = there is none, or several. */
static size_t
only(const struct pairing *x, size_t n,
    bool (*is_left)(const struct pairing *, size_t))
{
	size_t i, at = n;

	for (i = 0; i < n; i++) {
		if (!is_left(x, i))
			continue;
		if (at != n)
			return n;
		at = i;
	}
	return at;
}

static bool
is_new_thing(const struct pairing *x, size_t i)
{
	return !x->paired[i] && !x->all[i].named;
}

static bool
has_new_id(const struct pairing *x, size_t i)
{
	int64_t id;

	return !x->taken[i] && jget_int(jat(x->reply, i), "id", &id);
}

static bool
is_unpaired(const struct pairing *x, size_t i)
{
	return !x->paired[i];
}

static bool
is_untaken(const struct pairing *x, size_t i)
{
	return !x->taken[i];
}

static void
pair_only(struct pairing *x, bool (*thing)(const struct pairing *, size_t),
    bool (*entry)(const struct pairing *, size_t))
{
	size_t k = only(x, x->n, thing), i = only(x, x->m, entry);

	if (k < x->n && i < x->m)
		pair(x, k, i);
}

void
pair_entries(struct pair *all, size_t n, struct json_object *reply)
{
	struct pairing x = { .all = all, .reply = reply, .in_order = true };
	size_t i;

	x.n = n < PAIRS_MOST ? n : PAIRS_MOST;
	x.m = jlen(reply) < PAIRS_MOST ? jlen(reply) : PAIRS_MOST;
	for (i = 0; i < n; i++)
		all[i].entry = NULL;
	by_id(&x);
	by_line(&x);
	if (has_order(&x)) {
		by_order(&x);
		return;
	}
	/* an adapter that keeps its ids has a new one for a new thing */
	if (x.matched > 0)
		pair_only(&x, is_new_thing, has_new_id);
	if (x.m == x.n)
		pair_only(&x, is_unpaired, is_untaken);
}
