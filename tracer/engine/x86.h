/* SPDX-License-Identifier: ISC */
/* Declarations shared by x86_plan.c and x86_stub.c. */
#ifndef DL_X86_H
#define DL_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

/* As much of an instruction as moving it takes. */
struct x86_insn {
	uint8_t	 len;
	int	 mnemonic, category;	/* Zydis's */
	int	 condition;		/* of a conditional jump, -1: none */
	bool	 branch;		/* target is where it leads */
	bool	 riprel;		/* target is what it is about */
	bool	 by_sp;			/* it uses what rsp is, or leads to */
	uint8_t	 modrm_at, disp_at;	/* where they stand in it */
	uint64_t target;
};

/* False: no instruction. */
bool	x86_decode(const struct arch_code *, size_t at, struct x86_insn *);

/*
 * By the frames that are known of its code: whether it looks at its return
 * address, and whether at those of its callers.
 */
bool x86_looks(const struct arch_code *, size_t size, bool *walks);

struct ZydisDecoder_;
const struct ZydisDecoder_ *x86_decoder(void);

#endif
