/* SPDX-License-Identifier: ISC */
/*
 * Timelines for other programs, and to be read.  All that was there when it
 * began is written, piece by piece; a query, borrowed or NULL, says which
 * events (its limit, offset and afterEventId are not looked at).
 */
#ifndef TIMELINE_EXPORT_H
#define TIMELINE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "timeline/store/store.h"

struct query;

/*
 * Where it goes, some hundred KiB at a time: 0, or -1 to stop.  As with
 * store_set_tick() events may be appended from within.
 */
struct export_to {
	int	(*write)(void *arg, const void *, size_t);
	void	*arg;
};

/*
 * Each returns 0, or -1 with words.  chrome: the JSON of chrome://tracing
 * and Perfetto.  folded: a stack and its own ns per line, for flame graphs.
 */
int	 export_chrome(struct store *, const struct query *,
	    const struct export_to *, char why[STORE_WHY]);
int	 export_folded(struct store *, const struct query *,
	    const struct export_to *, char why[STORE_WHY]);
/* Writes a line per event, safe for a terminal; tree: indented by calls. */
int	 export_text(struct store *, const struct query *, bool tree,
	    const struct export_to *, char why[STORE_WHY]);

#endif
