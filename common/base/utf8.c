/* SPDX-License-Identifier: ISC */
/* UTF-8: the one place that says what is. */
#include "utf8.h"

int
utf8_length(const void *buf, size_t left)
{
	const uint8_t *p = buf;
	uint8_t low = 0x80, high = 0xbf;
	int n, i;

	if (left == 0)
		return -1;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	/* overlong forms, surrogates, and what is beyond U+10FFFF */
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < n; i++) {
		if ((size_t)i == left)
			return -1;
		if (p[i] < low || p[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

size_t
utf8_sequence(const void *p, size_t left)
{
	int n = utf8_length(p, left);

	return n > 0 ? (size_t)n : 0;
}

size_t
utf8_decode(const void *buf, size_t left, uint32_t *cpp)
{
	/* what a lead byte gives to its character */
	static const uint8_t bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const uint8_t *p = buf;
	int n = utf8_length(buf, left), i;
	uint32_t c;

	if (n <= 0)
		return n == 0 ? 0 : UTF8_INCOMPLETE;
	c = p[0] & bits[n];
	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	*cpp = c;
	return (size_t)n;
}

size_t
utf8_unfinished(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	size_t back;

	for (back = 1; back <= 3 && back <= len; back++)
		if (p[len - back] >= 0xc0)
			return utf8_length(p + len - back, back) == -1 ?
			    back : 0;
	return 0;
}

bool
utf8_valid(const void *buf, size_t len)
{
	const char *p = buf;
	size_t n;

	for (; len > 0; p += n, len -= n)
		if ((n = utf8_sequence(p, len)) == 0)
			return false;
	return true;
}
