/* SPDX-License-Identifier: ISC */
/*
 * The stack at an address by the unwind tables (.eh_frame), as they lie
 * in the target's memory, where stripping leaves them.  All that is read is
 * the target's, and is checked.
 */
#ifndef DL_TRACER_CFI_H
#define DL_TRACER_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_frame;
struct target;
struct maps;

/* Zeros at first. */
struct cfi {
	/* the table of the object that was looked at last */
	uint64_t base; /* of the object, 0: none */
	uint64_t hdr;  /* address of its .eh_frame_hdr */
	uint8_t *rows; /* owned; pairs of 32-bit numbers */
	size_t n;
	/* the code that was looked for last, and its frames, by address */
	uint64_t begin, end;
	struct arch_frame *frames; /* owned */
	size_t nframes, room;
};

/*
 * The frames of the code around that address, and one behind its end that is
 * not plain.  False: there is no such table,
 * it says nothing of the address, or it is not understood.
 */
bool cfi_find(
    struct cfi *, const struct target *, const struct maps *, uint64_t addr);
/* How many functions the table has of the object that is mapped there. */
size_t cfi_count(
    struct cfi *, const struct target *, const struct maps *, uint64_t addr);
/* Where the nth of them begins; they are in the order of their addresses. */
uint64_t cfi_begin(const struct cfi *, size_t n);
/* Whether a call leads to that address, of the code that was looked for: all
 * that is on the stack is a return address.  True if nothing is known. */
bool cfi_is_called(const struct cfi *, uint64_t addr);
/* The one that holds at that address; NULL: it is before all of them. */
const struct arch_frame *cfi_at(
    const struct arch_frame *, size_t n, uint64_t addr);
void cfi_free(struct cfi *);

#endif
