/* SPDX-License-Identifier: ISC */
/* UTF-8, as far as one may believe it. */
#ifndef CTL_UTF8_H
#define CTL_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INCOMPLETE	((size_t)-1)

/*
 * Length of the UTF-8 sequence at p (len > 0 bytes) and its code point; 0
 * when it is none, UTF8_INCOMPLETE when more bytes could make it one.
 */
size_t	utf8_decode(const unsigned char *p, size_t len, uint32_t *cpp);

#endif
