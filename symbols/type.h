/* SPDX-License-Identifier: ISC */
/* Types, as DWARF has them: read when they are asked for, one at a time. */
#ifndef SYMBOLS_TYPE_H
#define SYMBOLS_TYPE_H

#include "scan.h"
#include "unit.h"

enum type_kind {
	TYPE_VOID,
	TYPE_SINT,
	TYPE_UINT,
	TYPE_BOOL,
	TYPE_FLOAT,
	TYPE_COMPLEX,
	TYPE_CHAR,		/* UTF-32 */
	TYPE_CCHAR,		/* char, signed char, unsigned char, u8 */
	TYPE_POINTER,
	TYPE_REFERENCE,
	TYPE_ENUM,
	TYPE_STRUCT,		/* structures, classes, Rust's enums */
	TYPE_UNION,
	TYPE_ARRAY,
	TYPE_VECTOR,		/* __m128 and the like, __float128 */
	TYPE_OTHER
};

/* Without typedefs and qualifiers. */
struct type {
	enum type_kind	 kind;
	uint64_t	 place;		/* of its DIE; 0 = void */
	uint64_t	 size;		/* 0 = not known */
	uint64_t	 target;	/* pointed to, element, underlying; 0 = void */
	uint64_t	 count;		/* of elements */
	const char	*name;		/* may be NULL */
	size_t		 name_len;
	bool		 is_signed;
	bool		 by_reference, by_value;	/* DW_AT_calling_convention */
	bool		 declared;	/* and no more */
	bool		 many;		/* an array of more than one dimension */
	unsigned int	 go_kind;	/* 0 in other languages */
	enum sym_lang	 lang;
};

struct member {
	const char	*name;
	size_t		 name_len;
	uint64_t	 type;		/* place; 0 = void */
	uint64_t	 off;
	uint32_t	 bit_off, bit_size;	/* from off; bit_size 0 = none */
	bool		 base;		/* a base class */
	bool		 artificial;
};

/* A variant of a Rust enum. */
struct variant {
	uint64_t	 place;
	uint64_t	 discr;
	bool		 has_discr;
};

/* Attributes of a DIE. */
struct die_info {
	const char	*name;
	size_t		 name_len;
	uint64_t	 type, size, origin, signature, value;
	uint64_t	 member_off, bit_size, bit_off, old_bit_off, upper, discr;
	unsigned int	 encoding, convention, go_kind;
	bool		 has_size, has_value, has_upper, has_count, has_member_off;
	bool		 has_bit_off, has_old_bit_off, has_discr_value;
	bool		 declaration, artificial, variable, vector, defaulted;
	bool		 static_member, abstract, deleted;
	uint64_t	 discr_value, count;
	struct val	 location, low_pc, constant;
};

/* An iteration over a DIE's children. */
struct children {
	struct dwarf	*d;
	struct unit	*unit;
	struct abbrev_table table;
	struct cursor	 c;
	unsigned int	 left;
	bool		 done;
};

bool	 die_info_read(struct dwarf *, struct die *, struct die_info *);
/* False when the DIE at that place has no children. */
bool	 children_of(struct dwarf *, uint64_t place, struct children *);
/*
 * The next child, with what stands in it; the cursor passes its own children.
 */
bool	 children_next(struct children *, struct die *, struct die_info *);

void	 type_read(struct dwarf *, uint64_t place, struct type *);
/* "const char *"; size > 0.  Returns its length. */
size_t	 type_name(struct dwarf *, uint64_t place, enum sym_lang, char *out,
	    size_t size);
/* The fields of a structure; those of bases are within their base. */
size_t	 type_members(struct dwarf *, const struct type *, struct member *,
	    size_t most);
bool	 type_member(struct dwarf *, const struct type *, const char *name,
	    struct member *);
/*
 * The variants of a Rust enum: *tag is the member that tells them apart
 * (type 0 = there is but one).
 */
size_t	 type_variants(struct dwarf *, const struct type *, struct member *tag,
	    struct variant *, size_t most);
/* The first template parameter, or 0. */
uint64_t type_argument(struct dwarf *, const struct type *);
/* Whether C++ hands it over by address although it is small. */
bool	 type_is_nontrivial(struct dwarf *, const struct type *, int depth);

#endif
