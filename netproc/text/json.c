/* SPDX-License-Identifier: ISC */
/* A small writer of JSON: bounded, and valid whatever bytes it is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "json.h"

#define CAP_MIN		256
/* the longest form of one byte: \u001f */
#define ESCAPE_MAX	6
#define REPLACEMENT	"\xef\xbf\xbd"

static bool
grow(struct text *t, size_t need)
{
	size_t cap = t->cap < CAP_MIN ? CAP_MIN : t->cap;
	char *p;

	if (t->bad || need > t->max || t->len > t->max - need)
		return false;
	while (cap < t->len + need)
		cap *= 2;
	if (cap > t->max)
		cap = t->max;
	p = realloc(t->p, cap);
	if (p == NULL)
		return false;
	t->p = p;
	t->cap = cap;
	return true;
}

char *
text_room(struct text *t, size_t n)
{
	if (n > t->cap - t->len && !grow(t, n)) {
		t->bad = true;
		return NULL;
	}
	return t->p + t->len;
}

void
text_put(struct text *t, const void *p, size_t len)
{
	char *at;

	/* before there is room at all, none is needed for nothing */
	if (len == 0 || (at = text_room(t, len)) == NULL)
		return;
	memcpy(at, p, len);
	t->len += len;
}

void
text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void
text_reset(struct text *t, size_t keep)
{
	if (t->cap > keep) {
		free(t->p);
		t->p = NULL;
		t->cap = 0;
	}
	t->len = 0;
	t->bad = false;
}

void
text_free(struct text *t)
{
	text_reset(t, 0);
}

/* A value follows directly after an opening bracket or a key's colon. */
static void
comma(struct text *t)
{
	char last = t->len > 0 ? t->p[t->len - 1] : '[';

	if (last != '{' && last != '[' && last != ':')
		text_put(t, ",", 1);
}

void
json_open(struct text *t, char bracket)
{
	comma(t);
	text_put(t, &bracket, 1);
}

void
json_close(struct text *t, char bracket)
{
	text_put(t, &bracket, 1);
}

void
json_key(struct text *t, const char *key)
{
	comma(t);
	text_put(t, "\"", 1);
	text_puts(t, key);
	text_put(t, "\":", 2);
}

void
json_string(struct text *t, const void *p, size_t len)
{
	comma(t);
	text_put(t, "\"", 1);
	(void)json_escape(t, p, len, false);
	text_put(t, "\"", 1);
}

void
json_text(struct text *t, const char *s)
{
	json_string(t, s, strlen(s));
}

void
json_u64(struct text *t, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu",
	    (unsigned long long)v);

	comma(t);
	text_put(t, digits, (size_t)n);
}

void
json_raw(struct text *t, const char *s)
{
	comma(t);
	text_puts(t, s);
}

static bool
is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Writes a byte below 0x80 that has to be escaped. */
static void
put_escaped(struct text *t, uint8_t c)
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
	const char *hit = c == '\0' ? NULL : strchr(from, c);
	char buf[ESCAPE_MAX + 1];

	if (hit != NULL) {
		buf[0] = '\\';
		buf[1] = to[hit - from];
		text_put(t, buf, 2);
		return;
	}
	(void)snprintf(buf, sizeof(buf), "\\u%04x", c);
	text_put(t, buf, ESCAPE_MAX);
}

size_t
json_escape(struct text *t, const void *buf, size_t len, bool more)
{
	const uint8_t *p = buf;
	size_t at = 0, run;
	int n;

	while (at < len && !t->bad) {
		for (run = at; run < len && is_plain(p[run]); run++)
			continue;
		text_put(t, p + at, run - at);
		at = run;
		if (at == len)
			break;
		n = utf8_length(p + at, len - at);
		if (n == -1 && more)
			break;
		if (n == 1)
			put_escaped(t, p[at]);
		else if (n > 1)
			text_put(t, p + at, (size_t)n);
		else
			text_puts(t, REPLACEMENT);
		at += n > 1 ? (size_t)n : 1;
	}
	return at;
}

void
text_base64(struct text *t, const void *buf, size_t len)
{
	char *out = text_room(t, BASE64_LEN(len));

	if (out == NULL)
		return;
	base64_put(out, buf, len);
	t->len += BASE64_LEN(len);
}
