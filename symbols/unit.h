/* SPDX-License-Identifier: ISC */
/* The units of .debug_info and .debug_types, and the values of attributes. */
#ifndef SYMBOLS_UNIT_H
#define SYMBOLS_UNIT_H

#include "abbrev.h"
#include "image.h"

/* Places: offsets into .debug_info; those of .debug_types lie after it. */
struct unit {
	uint64_t	 off, end;	/* places: header, first byte after */
	uint64_t	 die;		/* place of its first DIE */
	uint64_t	 abbrev_off;
	uint64_t	 signature, type_off;	/* of a type unit */
	uint16_t	 version;
	uint8_t		 addr_size, off_size, kind;	/* DW_UT_* */
	/* from its first DIE, by unit_prepare() */
	bool		 prepared, usable, split;
	size_t		 table;		/* in the cache, 1-based */
	uint64_t	 str_base, addr_base, rnglists_base, loclists_base;
	uint64_t	 ranges_base;
	uint64_t	 low_pc, stmt_list;
	bool		 has_lines;
	unsigned int	 lang;
	const char	*comp_dir, *producer;
	size_t		 comp_dir_len;
	size_t		 lines;		/* its line table, 1-based; 0 = not read */
};

enum val_class {
	VAL_NONE,
	VAL_UINT,
	VAL_SINT,
	VAL_ADDR,
	VAL_STR,		/* p, len */
	VAL_REF,		/* u: a place */
	VAL_SIG,		/* u: the signature of a type */
	VAL_BLOCK,		/* p, len */
	VAL_SECOFF,
	VAL_LISTX,		/* u: an index of a list */
	VAL_ELSEWHERE		/* in another file (dwz) */
};

struct val {
	enum val_class	 cls;
	uint64_t	 u;
	const uint8_t	*p;
	size_t		 len;
};

struct dwarf {
	struct elf_image *elf;
	struct span	 info, types, abbrev, str, line_str, str_offsets,
			 addr;
	struct abbrev_cache abbrevs;
	struct unit	*units;		/* by place */
	size_t		 nunits, cap;
	struct unit	*last;		/* found last */
	bool		 split, elsewhere, damaged, foreign;
	uint64_t	 work;		/* DIEs read for one question about types */
	unsigned int	 nested;	/* types being read for others */
};

/* DIEs read for one question; types may refer to each other without end. */
#define DWARF_WORK_MAX	500000

/* A DIE that is being read. */
struct die {
	struct unit	*unit;
	const struct abbrev *abbrev;	/* NULL = end of siblings */
	uint64_t	 place;
	struct cursor	 attrs;		/* at its first attribute */
};

/* Reads the headers of all units. */
void	 dwarf_open(struct dwarf *, struct elf_image *);
void	 dwarf_close(struct dwarf *);
/* NULL when no unit has that place. */
struct unit *dwarf_unit_at(struct dwarf *, uint64_t place);
struct unit *dwarf_type_unit(struct dwarf *, uint64_t signature);
/* Reads its first DIE, once.  False when it is of no use. */
bool	 unit_prepare(struct dwarf *, struct unit *);
const struct abbrev_table *unit_abbrevs(struct dwarf *, struct unit *);
/* The bytes of a unit from a place of it on; bad when it is not in it. */
struct cursor unit_cursor(const struct dwarf *, const struct unit *,
	    uint64_t place);
uint64_t unit_place(const struct dwarf *, const struct unit *,
	    const struct cursor *);
/* The DIE at a place of any unit.  False when there is none. */
bool	 die_at(struct dwarf *, uint64_t place, struct die *);
/* The one that the cursor is at, which moves to its attributes. */
bool	 die_next(struct dwarf *, struct unit *, const struct abbrev_table *,
	    struct cursor *, struct die *);

void	 form_read(struct dwarf *, const struct unit *, struct cursor *,
	    const struct attr_spec *, struct val *);
void	 form_skip(const struct unit *, struct cursor *, unsigned int form);
/* The address number i of the unit's table. */
bool	 unit_addrx(const struct dwarf *, const struct unit *, uint64_t i,
	    uint64_t *addr);

#endif
