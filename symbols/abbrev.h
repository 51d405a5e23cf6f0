/* SPDX-License-Identifier: ISC */
/* Tables of abbreviations: what attributes a DIE of some code has. */
#ifndef SYMBOLS_ABBREV_H
#define SYMBOLS_ABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"

struct attr_spec {
	uint16_t	at, form;
	int64_t		implicit;	/* of DW_FORM_implicit_const */
};

struct abbrev {
	uint16_t	tag;
	uint16_t	nattrs;
	bool		children, defined;
	const struct attr_spec *attrs;
};

struct abbrev_table {
	uint64_t	 off;		/* in .debug_abbrev */
	struct abbrev	*by_code;
	size_t		 ncodes;
	struct attr_spec *attrs;
	bool		 good;
};

struct abbrev_cache {
	struct abbrev_table *tables;
	size_t		 n, cap;
	size_t		 bytes;		/* of abbreviations that were read */
};

/*
 * The table at off, read when it is first asked for; NULL when it is damaged.
 * The result is good until the next call.
 */
const struct abbrev_table *abbrev_get(struct abbrev_cache *,
	    const struct span *section, uint64_t off);
void	 abbrev_free(struct abbrev_cache *);

static inline const struct abbrev *
abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	return code < t->ncodes && t->by_code[code].defined ?
	    &t->by_code[code] : NULL;
}

#endif
