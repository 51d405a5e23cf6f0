/* SPDX-License-Identifier: ISC */
/* Lists of address ranges. */
#ifndef SYMBOLS_RANGES_H
#define SYMBOLS_RANGES_H

#include "unit.h"

/*
 * The first range that is not empty of the list that v names, and whether
 * there are more.  False when there is none.
 */
bool	 ranges_first(struct dwarf *, const struct unit *, const struct val *,
	    uint64_t *lo, uint64_t *hi, bool *more);

#endif
