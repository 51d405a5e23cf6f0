/* SPDX-License-Identifier: ISC */
/*
 * Patterns that choose functions:
 *
 *	auth::*		`*` is anything within one part of a name
 *	auth::**	`**` is anything
 *	@usercode	whatever has its source below the project's root
 *	@file:src/x.c	whatever has its source there: the last parts of the
 *			path, the name with or without its suffix, or a
 *			directory; `*` stays within one part, `**` does not
 *
 * What stands in brackets belongs to its part of the name, `::` and all.  A
 * name without template arguments means all its instances.  Matching takes
 * time in proportion to the name, whatever the pattern is.
 */
#ifndef TRACER_MATCH_H
#define TRACER_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_MAX	512	/* bytes */

struct pattern;

/*
 * root (may be NULL) is the project's, an absolute path.  NULL and the reason
 * in why (size > 0) when the pattern is not valid, or memory is short.
 */
struct pattern	*pattern_new(const char *text, const char *root, char *why,
		    size_t size);
void		 pattern_free(struct pattern *);
const char	*pattern_text(const struct pattern *);
/* file may be NULL or empty: nobody knows where the source is. */
bool		 pattern_matches(const struct pattern *, const char *name,
		    const char *raw, const char *file);

#endif
