/* SPDX-License-Identifier: ISC */
/* Declarations shared by queries, the virtual tables and exports. */
#ifndef TIMELINE_QUERY_INT_H
#define TIMELINE_QUERY_INT_H

#include "query.h"
#include "timeline/store/store_int.h"

/* An event as it was found. */
struct seen {
	uint64_t id, ts, duration, parent;
	uint32_t fn, tid;
	uint8_t	 kind, flags;		/* enum event_kind */
	const struct thread *thread;	/* NULL: of output and crashes */
	const char *name;               /* of their thread, NULL or "": none */
	const void *data;		/* captures, or text; borrowed */
	size_t	 len;
};

/* Where an event stands in the order of all; ord and seq 0: before those. */
struct place {
	uint64_t ts;
	uint32_t ord;
	uint64_t seq;
};

/* -- query_filter.c: a query, with names made numbers -- */
struct filter {
	struct store *st;
	const struct query *q;		/* borrowed; NULL = everything */
	bool	 calls, texts;		/* whether any can match */
	uint32_t kinds;			/* as in query */
	uint8_t	*fns;			/* one byte each; NULL = all */
	uint32_t nfns;
	uint64_t *folds;		/* fns as bits of 1, 2, 4.. words */
	int64_t	 tid;
	bool	 by_result;
	struct values *values;		/* NULL unless by_result */
	bool	 summed;		/* some rows of summaries match as such */
	uint16_t *counts;		/* of others that match + 1, by slot; */
	uint32_t ncounts;		/* 0 = unknown */
};

int	 filter_make(struct store *, const struct query *, struct filter *,
	    char why[STORE_WHY]);
void	 filter_free(struct filter *);
bool	 filter_rec(struct filter *, const struct rec *);
/* 1: all that a row of a summary counts, 0: none, -1: perhaps. */
int	 filter_sum(struct filter *, uint32_t fn, uint16_t class);
/* Whether a summary can rule a chunk out. */
bool	 filter_selective(const struct filter *);
/* False only if no function that is wanted is in the chunk. */
bool	 filter_chunk(const struct filter *, const struct chunk *);

/* -- query_value.c: return values, of a filter with by_result -- */
/* After f->fns and f->nfns.  -1: no memory; f->values is to be freed. */
int	 values_make(struct filter *);
void	 values_free(struct values *);
/* Whether any of what a function has returned can match. */
bool	 values_possible(struct filter *, uint32_t fn);
/* False only if nothing in the chunk can match. */
bool	 values_chunk(const struct filter *, const struct chunk *);
/* 1: all of a function's class match, 0: none, -1: perhaps. */
int	 values_class(struct filter *, uint32_t fn, uint16_t class);
/* The same of one key. */
int	 values_key(struct filter *, uint32_t fn, uint64_t key);
/*
 * How many keys of a row of CLASS_OTHER or CLASS_ODD that has no one answer
 * surely match; *perhaps: others may.
 */
uint32_t values_row(struct filter *, const struct seg_sum *,
	    const uint64_t *keys, bool *perhaps);
bool	 values_match(struct filter *, const struct rec *);

/* -- query_cursor.c: events in order -- */
struct cursor;

/*
 * From the first event after place on, up to those at to.  NULL = no memory.
 * As long as it is open no call is evicted.  The filter is borrowed.
 */
struct cursor *cursor_open(struct filter *, const struct place *after,
	    uint64_t to);
/* 1 with an event that is good until the next call, 0 at the end. */
int	 cursor_next(struct cursor *, struct seen *);
void	 cursor_close(struct cursor *);
/* The place of an event.  -1: there never was one with that id. */
int	 place_of(struct store *, uint64_t id, struct place *);

/* -- query_count.c -- */
/* Counts the events that match and are shown now. */
uint64_t count_all(struct filter *);
/* Whether something in the chunk matches. */
bool	 count_some(struct filter *, const struct chunk *);
/*
 * A place with at most offset matching events before it; *skip of those
 * after it are still to be left out.
 */
void	 count_seek(struct filter *, uint64_t offset, struct place *,
	    uint64_t *skip);

/* -- query_json.c -- */
/* "ORD.SEQ", at most 24 bytes with the NUL. */
void	 event_id_text(uint64_t id, char out[24]);
/* -1: not of that form. */
int	 id_parse(const char *, size_t, uint64_t *id);
const char *kind_name(uint8_t kind);
/* The kind of a name; 0 = none. */
uint8_t	 kind_of(const char *name);
/* Writes an event as debug_query shows it. */
void	 event_json(const struct store *, const struct seen *, bool verbose,
	    struct text *);
/* Arguments or result of a call as JSON; the length, never 0. */
size_t	 shown_arguments(const struct store *, uint32_t fn, const void *,
	    size_t len, char buf[STORE_RENDER_MAX]);
size_t	 shown_result(const struct store *, uint32_t fn, const void *,
	    size_t len, char buf[STORE_RENDER_MAX]);
/* Since the session's start. */
uint64_t shown_ns(const struct store *, uint64_t ts);

#endif
