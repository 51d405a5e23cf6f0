/* SPDX-License-Identifier: ISC */
/* Base64: nettle passes over blanks, and here they are errors. */
#include <nettle/base64.h>
#include <stdint.h>

#include "base64.h"

void
base64_put(char *out, const void *p, size_t len)
{
	base64_encode_raw(out, len, p);
}

static size_t
padding(const char *s, size_t len)
{
	size_t n = 0;

	while (n < 2 && n < len && s[len - n - 1] == '=')
		n++;
	return n;
}

bool
base64_get(const char *s, size_t len, void *out, size_t *n)
{
	struct base64_decode_ctx ctx;
	/* the text may be overwritten */
	size_t want = BASE64_ROOM(len) - padding(s, len);

	*n = 0;
	if (len % 4 != 0)
		return false;
	*n = BASE64_DECODE_LENGTH(len);
	base64_decode_init(&ctx);
	return base64_decode_update(&ctx, n, out, len, s) == 1 &&
	    base64_decode_final(&ctx) == 1 && *n == want;
}
