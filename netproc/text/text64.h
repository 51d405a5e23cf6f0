/* SPDX-License-Identifier: ISC */
/* Base64 written into text. */
#ifndef DL_NET_TEXT64_H
#define DL_NET_TEXT64_H

#include <stddef.h>

struct text;

/* The base64 form of len bytes, with padding. */
void	 text_base64(struct text *, const void *, size_t len);

#endif
