/* SPDX-License-Identifier: ISC */
/* Making UTF-8 of what is none. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "clean.h"

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

size_t
utf8_clean_length(const char *s, size_t len)
{
	size_t at, n, all = 0;

	for (at = 0; at < len; at += n > 0 ? n : 1) {
		n = utf8_sequence(s + at, len - at);
		all += n > 0 ? n : 3;
	}
	return all;
}
