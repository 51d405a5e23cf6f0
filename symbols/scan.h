/* SPDX-License-Identifier: ISC */
/* Every function that .debug_info has, in one pass. */
#ifndef SYMBOLS_SCAN_H
#define SYMBOLS_SCAN_H

#include "index.h"
#include "lines.h"
#include "strs.h"
#include "unit.h"

/* Functions and strings from which an index is made. */
struct found {
	struct sym_func	*funcs;
	size_t		 n, cap;
	struct strs	 strs;
	uint32_t	 flags;		/* SYM_* of the header */
};

/* A function's DIE with those that it refers to. */
struct func_info {
	const char	*name, *linkage;
	size_t		 name_len, linkage_len;
	struct unit	*file_unit;
	uint64_t	 file, line;
	uint64_t	 low, high;
	uint64_t	 origin;	/* place of the last DIE referred to, or 0 */
	bool		 has_low, has_high, high_is_size;
	struct val	 ranges;
	unsigned int	 inl;
	bool		 declaration, external;
	bool		 cfa_base;	/* its frame base is the CFA */
};

/* Adds the functions of d to what was found. */
void	 scan_functions(struct dwarf *, struct found *);
/*
 * Reads the attributes of a DIE, and of those that it refers to; the cursor
 * of the DIE goes behind its attributes.
 */
void	 func_read(struct dwarf *, struct die *, struct func_info *);
enum sym_lang unit_lang(const struct unit *);

#endif
