/* SPDX-License-Identifier: ISC */
/*
 * What unwind tables (.eh_frame) say of the stack at an address, as they lie
 * in the target's memory, where stripping leaves them.  All that is read is
 * the target's, and is checked.
 */
#ifndef DL_TRACER_CFI_H
#define DL_TRACER_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct maps;

/* The table of the object that was looked at last.  Zeros at first. */
struct cfi {
	uint64_t base; /* of the object, 0: none */
	uint64_t hdr;  /* address of its .eh_frame_hdr */
	uint8_t *rows; /* owned; pairs of 32-bit numbers */
	size_t n;
};

/* How the frame's end (CFA) is found: by that register and that number. */
struct cfi_row {
	uint64_t begin, end; /* the code of its entry */
	bool plain;          /* false: by an expression */
	uint64_t reg;        /* as DWARF numbers them */
	int64_t off;
};

/* False: there is no such table, it says nothing of the address, or it is not
 * understood. */
bool cfi_find(struct cfi *, const struct target *, const struct maps *,
    uint64_t addr, struct cfi_row *);
void cfi_free(struct cfi *);

#endif
