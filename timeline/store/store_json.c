/* SPDX-License-Identifier: ISC */
/*
 * Whether a text is JSON, strictly: what json-c takes besides (NaN, quotes of
 * both kinds, what comes after) would make answers that others cannot read.
 */
#include <string.h>

#include "base/utf8.h"
#include "store_int.h"

#define DEPTH_MAX	16

struct json {
	const char *s, *end;
	int	 depth;
};

static bool	value(struct json *);

static bool
take(struct json *j, char c)
{
	if (j->s == j->end || *j->s != c)
		return false;
	j->s++;
	return true;
}

/* A newline is none: an event is one line. */
static void
blanks(struct json *j)
{
	while (take(j, ' ') || take(j, '\t'))
		;
}

static bool
digits(struct json *j)
{
	const char *first = j->s;

	while (j->s < j->end && *j->s >= '0' && *j->s <= '9')
		j->s++;
	return j->s > first;
}

static bool
number(struct json *j)
{
	take(j, '-');
	if (!take(j, '0') && !digits(j))
		return false;
	if (take(j, '.') && !digits(j))
		return false;
	if (!take(j, 'e') && !take(j, 'E'))
		return true;
	if (!take(j, '+'))
		take(j, '-');
	return digits(j);
}

static bool
hex4(struct json *j)
{
	int i;

	for (i = 0; i < 4; i++, j->s++)
		if (j->s == j->end || *j->s == '\0' ||
		    strchr("0123456789abcdefABCDEF", *j->s) == NULL)
			return false;
	return true;
}

static bool
escaped(struct json *j)
{
	if (take(j, 'u'))
		return hex4(j);
	if (j->s == j->end || *j->s == '\0' ||
	    strchr("\"\\/bfnrt", *j->s) == NULL)
		return false;
	j->s++;
	return true;
}

static bool
string(struct json *j)
{
	size_t n;

	if (!take(j, '"'))
		return false;
	while (!take(j, '"')) {
		if (take(j, '\\')) {
			if (!escaped(j))
				return false;
			continue;
		}
		n = utf8_sequence(j->s, (size_t)(j->end - j->s));
		if (n == 0 || (uint8_t)*j->s < 0x20)
			return false;
		j->s += n;
	}
	return true;
}

static bool
member(struct json *j, char close)
{
	blanks(j);
	if (close == '}') {
		if (!string(j))
			return false;
		blanks(j);
		if (!take(j, ':'))
			return false;
	}
	return value(j);
}

/* After the opening bracket. */
static bool
list(struct json *j, char close)
{
	bool good = ++j->depth <= DEPTH_MAX;

	blanks(j);
	if (!take(j, close)) {
		do
			good = good && member(j, close);
		while (good && take(j, ','));
		good = good && take(j, close);
	}
	j->depth--;
	return good;
}

static bool
word(struct json *j, const char *w)
{
	size_t len = strlen(w);

	if ((size_t)(j->end - j->s) < len || memcmp(j->s, w, len) != 0)
		return false;
	j->s += len;
	return true;
}

static bool
value(struct json *j)
{
	bool good;

	blanks(j);
	if (take(j, '{'))
		good = list(j, '}');
	else if (take(j, '['))
		good = list(j, ']');
	else if (j->s < j->end && *j->s == '"')
		good = string(j);
	else
		good = word(j, "null") || word(j, "true") ||
		    word(j, "false") || number(j);
	blanks(j);
	return good;
}

bool
json_is_object(const char *s, size_t len)
{
	struct json j = { s, s + len, 0 };

	return len > 0 && *s == '{' && value(&j) && j.s == j.end;
}
