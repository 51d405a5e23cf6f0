/* SPDX-License-Identifier: ISC */
/*
 * Description of a function's captured bytes: written by symbols, read by the
 * tracer (timeline/values/render.h), which checks all of it.  In this order:
 *
 *	struct desc_header
 *	struct desc_value[nargs + nresults]
 *	struct desc_part[nparts]
 *	struct desc_node[nnodes]
 *	struct desc_enum[nenums]
 *	strings, NUL-terminated; offset 0 is empty
 *
 * A value's bytes, its image, are put together from its parts; nodes say what
 * lies where in the image.  Children of a node stand one after the other, and
 * always behind it, so that no node is within itself.
 */
#ifndef SYMBOLS_DESC_H
#define SYMBOLS_DESC_H

#include <stdint.h>

#define DESC_MAGIC	0x31435344U	/* "DSC1" */
#define DESC_MAX	14336U		/* bytes of one description */
#define DESC_IMAGE_MAX	2048U		/* bytes of one value */
#define DESC_NONE	0xffffU		/* no step */
#define DESC_CONSTANT	0xfffeU		/* strings have it, at step_off */

/* desc_header.flags */
enum {
	DESC_VARIADIC	= 1 << 0,	/* more arguments than are described */
	DESC_ENTRY_ONLY	= 1 << 1,	/* its return must not be hooked (Go) */
	DESC_CUT	= 1 << 2	/* not all arguments are captured */
};

struct desc_header {
	uint32_t	magic;
	uint16_t	flags;
	uint16_t	nargs, nresults;	/* nresults is 0 or 1 */
	uint16_t	nparts, nnodes, nenums;
	uint32_t	strs_len;
	uint32_t	return_type;	/* its name, a string */
};

struct desc_value {
	uint32_t	name, type;	/* strings */
	uint16_t	node;
	uint16_t	part, nparts;
	uint16_t	addr_step;	/* a register with the value's address */
	int32_t		addr_off;	/* to be added to it */
};

/* Bytes of a step, and where they go. */
struct desc_part {
	uint16_t	step, step_off;
	uint16_t	off, len;
};

enum desc_kind {
	DESC_NULL,		/* no value: void, () */
	DESC_SINT,		/* size 1 to 16 */
	DESC_UINT,
	DESC_BOOL,
	DESC_FLOAT,		/* size 4, 8, or 16 for x87 */
	DESC_CHAR,		/* a character of Unicode */
	DESC_POINTER,
	DESC_STRING,		/* a pointer; step has what it points to */
	DESC_CHARS,		/* a string that ends with a NUL or with its place */
	DESC_TEXT,		/* step has a counted string */
	DESC_SLICE,		/* step has counted elements; one child */
	DESC_ARRAY,		/* count elements; one child */
	DESC_ENUM,		/* first, count: desc_enum */
	DESC_STRUCT,		/* first, count: nodes of its fields */
	DESC_TUPLE,		/* the same without names */
	DESC_NESTED,		/* a structure in a structure: "<Name at 0x...>" */
	DESC_VARIANTS,		/* first, count: DESC_VARIANT; off, size: its tag */
	DESC_VARIANT,		/* enum_first: desc_enum of tags; first, count */
	DESC_LOST,		/* optimized away, or not captured */
	DESC_KINDS
};

/* desc_node.flags */
enum {
	DESC_SIGNED	= 1 << 0,	/* of an enumeration */
	DESC_BITS	= 1 << 1,	/* bit_off and bit_size count */
	DESC_DEFAULT	= 1 << 2,	/* a variant for all other tags */
	DESC_UNNAMED	= 1 << 3	/* a variant's fields have numbers */
};

struct desc_node {
	uint8_t		kind;
	uint8_t		flags;
	uint16_t	step;		/* with the contents, or DESC_NONE */
	uint32_t	name;		/* of the field or variant */
	uint32_t	type;		/* of what is nested, lost or unnamed */
	uint32_t	off, size;	/* in the image; in an element */
	uint16_t	first, count;
	uint16_t	enum_first, enum_count;
	uint16_t	bit_off, bit_size;
};

/* All parts are aligned to 4, so its value is in two halves. */
struct desc_enum {
	uint32_t	low, high;
	uint32_t	name;
};

#endif
