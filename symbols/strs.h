/* SPDX-License-Identifier: ISC */
/* The strings of an index, one after the other. */
#ifndef SYMBOLS_STRS_H
#define SYMBOLS_STRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strs {
	char		*buf;
	size_t		 len, cap;
	uint32_t	*slots;		/* of strs_once() */
	size_t		 nslots, used;
	bool		 full;		/* some were left out */
};

void	 strs_init(struct strs *);
void	 strs_free(struct strs *);
/* Its offset; cut to SYM_NAME_MAX, and to its first NUL.  0 when full. */
uint32_t strs_add(struct strs *, const char *, size_t len);
/* The same offset for the same string; *new (may be NULL) = the first. */
uint32_t strs_once(struct strs *, const char *, size_t len, bool *new);

#endif
