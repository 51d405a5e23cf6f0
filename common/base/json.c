/* SPDX-License-Identifier: ISC */
/* A small writer of JSON: bounded, and valid whatever bytes it is given. */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

/* the longest form of one byte: \u001f */
#define ESCAPE_MAX	6
#define REPLACEMENT	"\xef\xbf\xbd"

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
json_quoted(struct text *t, const void *p, size_t len)
{
	text_put(t, "\"", 1);
	(void)json_escape(t, p, len, false);
	text_put(t, "\"", 1);
}

void
json_string(struct text *t, const void *p, size_t len)
{
	comma(t);
	json_quoted(t, p, len);
}

void
json_text(struct text *t, const char *s)
{
	json_string(t, s, strlen(s));
}

void
json_u64(struct text *t, uint64_t v)
{
	comma(t);
	text_u64(t, v);
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
