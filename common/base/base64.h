/* SPDX-License-Identifier: ISC */
/* Base64 (RFC 4648, section 4) with its padding; nettle's, but strict. */
#ifndef DL_BASE64_H
#define DL_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Characters that stand for n bytes, without a NUL. */
#define BASE64_LEN(n)	(((n) + 2) / 3 * 4)
/* Bytes that n characters stand for at most. */
#define BASE64_ROOM(n)	((n) / 4 * 3)

/* Writes BASE64_LEN(len) characters and no NUL. */
void	 base64_put(char *out, const void *, size_t len);
/*
 * The bytes of a text go to out, which has BASE64_ROOM(len), and may be where
 * the text is; *n is their number.  False: it is not base64 to its end, or
 * carries bits that belong to no byte; out is undefined then.
 */
bool	 base64_get(const char *, size_t len, void *out, size_t *n);

#endif
