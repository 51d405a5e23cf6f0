/* SPDX-License-Identifier: ISC */
/* UTF-8: what is, and making it so. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "utf8.h"

size_t
utf8_sequence(const char *s, size_t left)
{
	/* lead bytes, and what the second byte may be after each */
	static const struct {
		uint8_t first, last, low, high;
		size_t len;
	} leads[] = {
		{ 0x00, 0x7f, 0, 0, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const uint8_t *p = (const uint8_t *)s;
	size_t i, k;

	if (left == 0)
		return 0;
	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (p[0] >= leads[i].first && p[0] <= leads[i].last)
			break;
	if (i == sizeof(leads) / sizeof(leads[0]) || leads[i].len > left)
		return 0;
	for (k = 1; k < leads[i].len; k++)
		if (p[k] < (k == 1 ? leads[i].low : 0x80) ||
		    p[k] > (k == 1 ? leads[i].high : 0xbf))
			return 0;
	return leads[i].len;
}

bool
utf8_valid(const char *s, size_t len)
{
	size_t n;

	for (; len > 0; s += n, len -= n)
		if ((n = utf8_sequence(s, len)) == 0)
			return false;
	return true;
}

char *
utf8_clean(const char *s, size_t *len)
{
	char *out = malloc(3 * *len + 1);
	size_t at, n, to = 0;

	if (out == NULL)
		fatal("answer");
	for (at = 0; at < *len; at += n > 0 ? n : 1) {
		n = utf8_sequence(s + at, *len - at);
		memcpy(out + to, n > 0 ? s + at : "\xef\xbf\xbd",
		    n > 0 ? n : 3);
		to += n > 0 ? n : 3;
	}
	out[to] = '\0';
	*len = to;
	return out;
}
