/* SPDX-License-Identifier: ISC */
/* Text that must be UTF-8 whatever the debugged program holds. */
#ifndef DEBUGGER_UTF8_H
#define DEBUGGER_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the sequence that begins at s, 1 to 4; 0 = it is none. */
size_t	 utf8_sequence(const char *s, size_t left);
bool	 utf8_valid(const char *, size_t);
/* A copy with U+FFFD for every byte that belongs to no sequence; owned. */
char	*utf8_clean(const char *, size_t *len);

#endif
