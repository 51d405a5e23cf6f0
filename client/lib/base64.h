/* SPDX-License-Identifier: ISC */
/* Base64 as the protocol's byte-exact output uses it. */
#ifndef CLIENT_LIB_BASE64_H
#define CLIENT_LIB_BASE64_H

#include <stddef.h>

/*
 * Decodes len characters of padded base64. The bytes are the caller's to
 * free, *outlen of them; NULL when the text is not base64 or memory is short.
 */
unsigned char *base64_decode(const char *text, size_t len, size_t *outlen);

#endif
