/* SPDX-License-Identifier: ISC */
/* JSON where it lies; see the header. */
#include <string.h>

#include "jsonwalk.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* The byte after a string that begins at p. */
static const char *
skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

static const char *
skip_value(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"')
			p = skip_string(p, end);
		else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			/* of what is around a number or literal */
			if (depth == 0)
				return p;
			depth--;
			p++;
		} else if (depth == 0 && (is_blank(*p) || *p == ','))
			return p;
		else {
			p++;
			continue;
		}
		if (depth == 0)
			return p;
	}
	return p;
}

struct word
json_whole(const char *p, size_t len)
{
	const char *end = p + len;

	p = skip_blanks(p, end);
	return (struct word){ p, (size_t)(skip_value(p, end) - p) };
}

char
json_kind(const struct word *v)
{
	if (v->len == 0)
		return '\0';
	return v->p[0] == '-' || (v->p[0] >= '0' && v->p[0] <= '9') ? '0' :
	    v->p[0];
}

void
json_walk(struct json_walk *w, const struct word *v)
{
	char kind = json_kind(v);

	w->p = w->end = v->p;
	if (kind == '{' || kind == '[') {
		w->p++;
		w->end = v->p + v->len - 1;
	}
}

/* The next value that is there, and a comma after it. */
static bool
next(struct json_walk *w, struct word *v, char after)
{
	const char *p = skip_blanks(w->p, w->end);

	v->p = p;
	w->p = skip_value(p, w->end);
	v->len = (size_t)(w->p - p);
	if (v->len == 0)
		return false;
	w->p = skip_blanks(w->p, w->end);
	if (w->p < w->end && *w->p == after)
		w->p++;
	return true;
}

bool
json_walk_member(struct json_walk *w, struct word *key, struct word *v)
{
	return next(w, key, ':') && next(w, v, ',');
}

bool
json_walk_item(struct json_walk *w, struct word *v)
{
	return next(w, v, ',');
}

enum json_found
json_member(const struct word *object, const char *name, struct word *value)
{
	enum json_found found = JSON_NONE;
	struct json_walk w;
	struct word key, v;

	*value = (struct word){ NULL, 0 };
	if (json_kind(object) != '{')
		return JSON_NONE;
	json_walk(&w, object);
	while (json_walk_member(&w, &key, &v)) {
		if (!json_says(&key, name))
			continue;
		if (found != JSON_NONE)
			return JSON_TWICE;
		found = JSON_ONE;
		*value = v;
	}
	return found;
}

size_t
json_count(const struct word *v)
{
	bool object = json_kind(v) == '{';
	struct word key, item;
	struct json_walk w;
	size_t n = 0;

	json_walk(&w, v);
	while (object ? json_walk_member(&w, &key, &item) :
	    json_walk_item(&w, &item))
		n++;
	return n;
}

/* -- strings -------------------------------------------------------------- */

static unsigned int
hex4(const char *p)
{
	unsigned int v = 0, i;

	for (i = 0; i < 4; i++)
		v = v << 4 | (unsigned int)(p[i] <= '9' ? p[i] - '0' :
		    (p[i] | 0x20) - 'a' + 10);
	return v;
}

static size_t
put_utf8(unsigned int c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* The next character, moves *p; how many bytes of out it takes. */
static size_t
next_char(const char **p, char out[4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *hit;
	unsigned int c;

	if (**p != '\\') {
		out[0] = *(*p)++;
		return 1;
	}
	c = (unsigned char)(*p)[1];
	*p += 2;
	if (c != 'u') {
		hit = strchr(from, (int)c);
		out[0] = hit == NULL ? (char)c : to[hit - from];
		return 1;
	}
	c = hex4(*p);
	*p += 4;
	/* the other half follows, as the text is good */
	if (c >= 0xd800 && c <= 0xdbff) {
		c = 0x10000 + ((c - 0xd800) << 10) + (hex4(*p + 2) - 0xdc00);
		*p += 6;
	}
	return put_utf8(c, out);
}

bool
json_says(const struct word *v, const char *s)
{
	const char *p, *end;
	size_t n, left = strlen(s);
	char c[4];

	if (json_kind(v) != '"')
		return false;
	p = v->p + 1;
	end = v->p + v->len - 1;
	while (p < end) {
		n = next_char(&p, c);
		if (n > left || memcmp(s, c, n) != 0)
			return false;
		s += n;
		left -= n;
	}
	return left == 0;
}

size_t
json_unquote(const struct word *v, char *buf, size_t size)
{
	const char *p, *end;
	size_t n, at = 0;
	char c[4];

	if (json_kind(v) != '"')
		return SIZE_MAX;
	p = v->p + 1;
	end = v->p + v->len - 1;
	while (p < end) {
		n = next_char(&p, c);
		if (n >= size - at)
			return SIZE_MAX;
		memcpy(buf + at, c, n);
		at += n;
	}
	buf[at] = '\0';
	return at;
}
