/* SPDX-License-Identifier: ISC */
/* Base64, decoding only, strict: a wrong character is a wrong answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void
fill_table(signed char table[256])
{
	int i;

	memset(table, -1, 256);
	for (i = 0; i < 64; i++)
		table[(unsigned char)alphabet[i]] = (signed char)i;
}

unsigned char *
base64_decode(const char *text, size_t len, size_t *outlen)
{
	signed char table[256], v;
	unsigned char *out;
	size_t i, n = 0, pad = 0;
	uint32_t bits = 0;

	if (len % 4 != 0 || (out = malloc(len / 4 * 3 + 1)) == NULL)
		return NULL;
	fill_table(table);
	while (pad < 2 && pad < len && text[len - pad - 1] == '=')
		pad++;
	for (i = 0; i < len - pad; i++) {
		if ((v = table[(unsigned char)text[i]]) == -1) {
			free(out);
			return NULL;
		}
		bits = (bits << 6) | (unsigned char)v;
		/* every digit but the first of four completes a byte */
		if (i % 4 != 0)
			out[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	*outlen = n;
	return out;
}
