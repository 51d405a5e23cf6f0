/* SPDX-License-Identifier: ISC */
/* Entries of an adapter's answer, by the things that it was sent. */
#ifndef DEBUGGER_TEXT_PAIRS_H
#define DEBUGGER_TEXT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_MOST	512

struct json_object;

/* A thing that was sent, in the order of the request. */
struct pair {
	bool		 named;		/* an earlier answer gave it this id */
	int64_t		 id;
	int64_t		 line;		/* where it shall be; 0 = at no line */
	/* its entry, borrowed; NULL = the answer does not say which it is */
	struct json_object *entry;
};

/* Fills in the entries of at most PAIRS_MOST things. */
void	 pair_entries(struct pair *, size_t n, struct json_object *reply);

#endif
