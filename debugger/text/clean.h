/* SPDX-License-Identifier: ISC */
/* Text that must be UTF-8 whatever the debugged program holds. */
#ifndef DEBUGGER_TEXT_CLEAN_H
#define DEBUGGER_TEXT_CLEAN_H

#include <stddef.h>

/*
 * A copy of *len bytes with U+FFFD for every byte that belongs to no
 * sequence; *len becomes its length.  The caller frees it.
 */
char	*utf8_clean(const char *, size_t *len);
/* The length that it would have. */
size_t	 utf8_clean_length(const char *, size_t len);

#endif
