/* SPDX-License-Identifier: ISC */
/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF.
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INCOMPLETE	((size_t)-1)

/*
 * Bytes of the sequence that begins at p: 1 to 4; 0 = not UTF-8; -1 = what
 * is there is right, but it ends too early.
 */
int	 utf8_length(const void *p, size_t left);
/* The same where the rest will not come: 0 = no sequence, or no whole one. */
size_t	 utf8_sequence(const void *p, size_t left);
/* The same with the character it stands for; UTF8_INCOMPLETE for -1. */
size_t	 utf8_decode(const void *p, size_t left, uint32_t *cpp);
/* Bytes at the end of p that begin a sequence without ending it, 0 to 3. */
size_t	 utf8_unfinished(const void *p, size_t len);
bool	 utf8_valid(const void *p, size_t len);

#endif
