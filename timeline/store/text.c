/* SPDX-License-Identifier: ISC */
/* Text that grows up to a bound. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text.h"

#define TEXT_MAX	((size_t)64 << 20)

static bool
room(struct text *t, size_t more)
{
	size_t max = t->max > 0 ? t->max : TEXT_MAX, cap;
	char *s;

	if (t->cut || more > max || t->len > max - more) {
		t->cut = true;
		return false;
	}
	if (t->len + more < t->cap)
		return true;
	cap = 2 * t->cap + more + 256;
	if ((s = realloc(t->s, cap)) == NULL) {
		t->cut = true;
		return false;
	}
	t->s = s;
	t->cap = cap;
	return true;
}

void
text_add(struct text *t, const void *data, size_t len)
{
	if (!room(t, len))
		return;
	if (len > 0)
		memcpy(t->s + t->len, data, len);
	t->len += len;
	t->s[t->len] = '\0';
}

void
text_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !room(t, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(t->s + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void
text_num(struct text *t, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	text_add(t, digits + n, sizeof(digits) - n);
}

/* The short escapes that JSON, C and terminals have in common, or 0. */
static char
short_escape(char c)
{
	return c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : '\0';
}

/* prefix: what stands before the hexadecimal digits of those without one */
static void
escape(struct text *t, char c, const char *prefix)
{
	char e = short_escape(c), two[2] = { '\\', e };

	if (c == '"' || c == '\\')
		two[1] = e = c;
	if (e != '\0')
		text_add(t, two, 2);
	else
		text_printf(t, "%s%02x", prefix, (unsigned int)(uint8_t)c);
}

/* Bytes at s, at most n, that stand for themselves in JSON. */
static size_t
unescaped(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (uint8_t)s[i] >= 0x20 && (uint8_t)s[i] < 0x7f &&
	    s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

void
text_json(struct text *t, const char *s, size_t len)
{
	size_t n;

	text_add(t, "\"", 1);
	for (; len > 0; s += n, len -= n) {
		if ((n = unescaped(s, len)) > 0) {
			text_add(t, s, n);
			continue;
		}
		if ((n = utf8_sequence(s, len)) > 1) {
			text_add(t, s, n);
		} else if (n == 1) {
			escape(t, *s, "\\u00");
		} else {
			text_str(t, "\xef\xbf\xbd");
			n = 1;
		}
	}
	text_add(t, "\"", 1);
}

/* C1 controls are one character in UTF-8, and terminals obey them. */
static bool
is_c1(const char *s, size_t n)
{
	return n == 2 && (uint8_t)s[0] == 0xc2 && (uint8_t)s[1] < 0xa0;
}

void
text_plain(struct text *t, const char *s, size_t len)
{
	size_t n, i;

	for (; len > 0; s += n, len -= n) {
		n = utf8_sequence(s, len);
		if (n > 1 && !is_c1(s, n)) {
			text_add(t, s, n);
			continue;
		}
		if (n == 0)
			n = 1;
		for (i = 0; i < n; i++)
			if ((uint8_t)s[i] >= 0x20 && (uint8_t)s[i] < 0x7f &&
			    s[i] != '\\')
				text_add(t, s + i, 1);
			else
				escape(t, s[i], "\\x");
	}
}

void
text_clear(struct text *t)
{
	t->len = 0;
	t->cut = false;
	if (t->s != NULL)
		t->s[0] = '\0';
}

void
text_free(struct text *t)
{
	free(t->s);
	t->s = NULL;
	t->len = t->cap = 0;
	t->cut = false;
}
