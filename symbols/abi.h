/* SPDX-License-Identifier: ISC */
/*
 * Where a function finds its arguments when it is entered, and its caller
 * the result: the conventions of x86-64.
 */
#ifndef SYMBOLS_ABI_H
#define SYMBOLS_ABI_H

#include "type.h"

enum abi_kind {
	ABI_SYSV,
	ABI_RUST,
	ABI_GO,			/* ABIInternal */
	ABI_GO_STACK		/* ABI0 */
};

enum place_kind {
	AT_NOWHERE,		/* it has no bytes */
	AT_REGS,		/* what has none of them is on the stack */
	AT_MEM,			/* at [reg] + off */
	AT_STACK,		/* at the stack pointer + off */
	AT_CONSTANT,		/* these bytes, whatever is passed */
	AT_LOST
};

#define PIECES_MAX	16

struct piece {
	bool		 vec;
	bool		 stack;		/* at the stack pointer + at */
	bool		 x87;		/* st(0) */
	bool		 constant;	/* these bytes of the value */
	uint8_t		 reg;
	int32_t		 at;
	uint16_t	 off, len;	/* of the value */
	uint64_t	 value;
};

struct place {
	enum place_kind	 kind;
	struct piece	 pieces[PIECES_MAX];
	size_t		 n;
	uint8_t		 reg;
	int32_t		 off;
	uint8_t		 bytes[16];
};

struct abi {
	struct dwarf	*d;
	enum abi_kind	 kind;
	bool		 two_words;	/* Rust: no result has three registers */
	bool		 unsplit;	/* Rust: 128 bits are not divided */
	size_t		 nint, nvec;	/* registers given out */
	uint64_t	 stack;
};

#define REG_RAX	0
#define REG_RSP	7

void	abi_init(struct abi *, struct dwarf *, enum abi_kind);
/* Before the arguments: a result in memory takes a register of theirs. */
void	abi_result(struct abi *, uint64_t type, struct place *);
void	abi_argument(struct abi *, uint64_t type, struct place *);
/*
 * The same for the last argument of Rust's Fn traits ("rust-call"), a tuple
 * whose members are passed each for itself.
 */
void	abi_tuple(struct abi *, uint64_t type, struct place *);
/* A word that is passed although no parameter tells of it. */
void	abi_word(struct abi *);

#endif
