/* SPDX-License-Identifier: ISC */
/* Captures of a function's calls, and the description of the captured bytes. */
#ifndef SYMBOLS_TYPED_H
#define SYMBOLS_TYPED_H

#include "desc.h"
#include "unit.h"
#include "wire/capture.h"

struct typed {
	struct capture	enter[CAPTURE_MAX], leave[CAPTURE_MAX];
	size_t		nenter, nleave;
	uint8_t		desc[DESC_MAX];
	size_t		desc_len;	/* 0 = nothing is known of it */
};

/* die is the place of a function's DIE, as in the index. */
void	 typed_make(struct dwarf *, uint64_t die, struct typed *);

#endif
