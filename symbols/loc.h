/* SPDX-License-Identifier: ISC */
/* Where a variable is at some address, when that is a register. */
#ifndef SYMBOLS_LOC_H
#define SYMBOLS_LOC_H

#include "unit.h"

enum loc_kind {
	LOC_NONE,		/* nothing is said of that address */
	LOC_REG,
	LOC_OTHER
};

/* *reg is DWARF's number.  v is a DW_AT_location. */
enum loc_kind loc_at(struct dwarf *, const struct unit *, const struct val *v,
	    uint64_t pc, unsigned int *reg);

#endif
