/* SPDX-License-Identifier: ISC */
/* UTF-8, as far as one may believe it: no overlong forms, no surrogates. */
#include "utf8.h"

size_t
utf8_decode(const unsigned char *p, size_t len, uint32_t *cpp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, need;
	uint32_t cp;

	if (p[0] < 0x80) {
		*cpp = p[0];
		return 1;
	}
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	cp = p[0] & (0xffU >> (need + 1));
	for (i = 1; i < need; i++) {
		if (i == len)
			return UTF8_INCOMPLETE;
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if (cp < least[need] || cp > 0x10ffff ||
	    (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	*cpp = cp;
	return need;
}
