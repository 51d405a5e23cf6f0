/* SPDX-License-Identifier: ISC */
/* Where a variable is at some address, when that is in registers. */
#ifndef SYMBOLS_LOC_H
#define SYMBOLS_LOC_H

#include "unit.h"

#define LOC_PIECES	8

enum loc_kind {
	LOC_NONE,		/* nothing is said of it */
	LOC_LATER,		/* nothing of that address */
	LOC_REGS,		/* in pieces; what none has is not known */
	LOC_MEMORY,
	LOC_VALUE,		/* it is computed, and need not be anywhere */
	LOC_CONSTANT		/* the same in the whole function */
};

/* A part of a variable, or all of it (len is 0 then). */
struct loc_piece {
	unsigned int	 reg;		/* DWARF's number */
	uint16_t	 off, len;
	bool		 constant;	/* the value, in no register */
	uint64_t	 value;		/* or the bits of the register that count */
};

enum loc_base {
	LOC_ELSEWHERE,
	LOC_CFA,		/* the frame base, for Go's functions the CFA */
	LOC_BREG		/* what a register leads to */
};

struct loc {
	enum loc_kind	 kind;
	struct loc_piece pieces[LOC_PIECES];	/* of LOC_REGS */
	size_t		 n;
	enum loc_base	 base;		/* of LOC_MEMORY */
	unsigned int	 reg;
	int64_t		 off;
	struct val	 constant;		/* of LOC_CONSTANT */
};

/* v is a DW_AT_location. */
void	 loc_at(struct dwarf *, const struct unit *, const struct val *v,
	    uint64_t pc, struct loc *);

#endif
