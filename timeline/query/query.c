/* SPDX-License-Identifier: ISC */
/* A page of events, how many there are in all, and whether more follow. */
#include <stdio.h>
#include <string.h>

#include "query_int.h"

/* Where it goes on after an event; -1 with words. */
static int
begin(struct filter *f, const struct query *q, struct place *p,
    char why[STORE_WHY])
{
	char id[24];

	*p = (struct place){ 0, 0, 0 };
	if (!q->has_after)
		return 0;
	if (place_of(f->st, q->after, p) == 0)
		return 0;
	event_id_text(q->after, id);
	snprintf(why, STORE_WHY, "afterEventId: no event has the id %s", id);
	return -1;
}

/*
 * Adds the page; whether more follows, or -1.  left: how many there are from
 * the place on, so that none is looked for behind the last.
 */
static int
add_page(struct filter *f, const struct query *q, const struct place *p,
    uint64_t skip, uint64_t left, struct text *t)
{
	struct cursor *c = cursor_open(f, p, UINT64_MAX);
	size_t first = t->len;
	struct seen ev;
	uint32_t n = 0;
	int more = 0;

	if (c == NULL)
		return -1;
	for (; left > 0 && (more = cursor_next(c, &ev)) == 1; left--) {
		if (skip > 0) {
			skip--;
			continue;
		}
		if (n == q->limit || (n > 0 && t->len - first >
		    QUERY_BYTES_MAX))
			break;
		if (n++ > 0)
			text_put(t, ",", 1);
		event_json(f->st, &ev, q->verbose, t);
	}
	cursor_close(c);
	return left > 0 && more == 1;
}

/*
 * How many events there are from where the page begins, with *skip of them
 * that are left out.  From a cursor on nobody knows.
 */
static uint64_t
seek(struct filter *f, const struct query *q, uint64_t total,
    struct place *p, uint64_t *skip)
{
	*skip = q->offset;
	if (q->offset >= total)
		return 0;
	if (q->has_after)
		return UINT64_MAX;
	count_seek(f, q->offset, p, skip);
	return total - q->offset + *skip;
}

int
query_run(struct store *st, const struct query *q, struct text *t,
    char why[STORE_WHY])
{
	struct filter f;
	struct place p;
	uint64_t skip, total, left;
	int more = -1;

	store_flush(st);
	/* functions and values that come in meanwhile are not in the filter */
	st->horizon = st->settled < st->latest_ts ? st->settled :
	    st->latest_ts;
	if (filter_make(st, q, &f, why) == -1) {
		st->horizon = UINT64_MAX;
		return -1;
	}
	/* what comes in meanwhile must not evict what is being counted */
	st->pins++;
	if (begin(&f, q, &p, why) == -1)
		goto done;
	total = count_all(&f);
	left = seek(&f, q, total, &p, &skip);
	text_puts(t, "{\"events\":[");
	more = left == 0 ? 0 : add_page(&f, q, &p, skip, left, t);
	text_printf(t, "],\"totalCount\":%llu,\"hasMore\":%s}",
	    (unsigned long long)total, more == 1 ? "true" : "false");
	if (more == -1 || t->bad) {
		snprintf(why, STORE_WHY, "no memory for the answer");
		more = -1;
	}
done:
	st->pins--;
	st->horizon = UINT64_MAX;
	filter_free(&f);
	return more == -1 ? -1 : 0;
}
