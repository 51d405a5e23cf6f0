/* SPDX-License-Identifier: ISC */
/*
 * Asking a timeline.  A query is the JSON object of debug_query; every filter
 * that is in it must hold.  Answers are in the order of time, then of thread
 * and sequence.
 */
#ifndef TIMELINE_QUERY_H
#define TIMELINE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "timeline/store/store.h"

#define QUERY_LIMIT	50	/* events of a page unless asked */
#define QUERY_LIMIT_MAX	500
#define QUERY_BYTES_MAX	((size_t)4 << 20)	/* a page ends early there */

struct json_object;

struct query {
	uint32_t kinds;			/* 1 << enum event_kind; 0 = all */
	char	*fn_equals, *fn_contains, *fn_matches;	/* owned or NULL */
	char	*file_equals, *file_contains;
	bool	 has_equals;		/* returnValue.equals, may be null */
	struct json_object *ret_equals;	/* owned */
	int	 ret_null;		/* isNull: 0, 1; -1 = not asked */
	int64_t	 tid;			/* -1 = any */
	bool	 has_after;
	uint64_t after;			/* an id */
	uint32_t limit;
	uint64_t offset;
	bool	 verbose;
};
#define QUERY_INIT { .ret_null = -1, .tid = -1, .limit = QUERY_LIMIT }

/*
 * Reads one from JSON, which is borrowed.  -1 with words that say what was
 * wrong and what would be right; nothing is to be freed then.
 */
int	 query_parse(struct json_object *, struct query *, char why[STORE_WHY]);
/* The same from a text of at most 64 KiB. */
int	 query_parse_text(const char *, size_t, struct query *,
	    char why[STORE_WHY]);
void	 query_free(struct query *);
/*
 * Adds [{"threadId":t,"lost":n}..] of threads that calls are missing of, at
 * most 100 of them.
 */
void	 query_losses(const struct store *, struct text *);
/* Adds {"events":[..],"totalCount":n,"hasMore":b}.  -1 with words. */
int	 query_run(struct store *, const struct query *, struct text *,
	    char why[STORE_WHY]);

#endif
