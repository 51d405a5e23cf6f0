/* SPDX-License-Identifier: ISC */
/*
 * Makes text safe for a terminal: names and messages of the daemon become one
 * line of harmless text, a program's output keeps nothing but colours.
 */
#include <err.h>
#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "safe.h"

#define ESC		0x1b
#define INCOMPLETE	UTF8_INCOMPLETE

/* A terminal that is not UTF-8 would take our bytes for other characters. */
static bool
terminal_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static bool
is_hostile(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) ||
	    (cp >= 0x200e && cp <= 0x200f) ||
	    (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2066 && cp <= 0x2069) ||
	    cp == 0x61c || cp == 0xfeff;
}

static void
spell_out(uint32_t cp, FILE *out)
{
	switch (cp) {
	case '\n':
		fputs("\\n", out);
		break;
	case '\t':
		fputs("\\t", out);
		break;
	case '\r':
		fputs("\\r", out);
		break;
	default:
		fprintf(out, cp < 0x100 ? "\\x%02x" : "\\u%04x",
		    (unsigned int)cp);
	}
}

/* Writes the character at p, returns its length; 0 when it is cut off. */
static size_t
put_char(const unsigned char *p, size_t len, const char *pass, FILE *out)
{
	uint32_t cp = 0;
	size_t n;

	if ((n = utf8_decode(p, len, &cp)) == INCOMPLETE)
		return 0;
	if (n == 0) {
		fprintf(out, "\\x%02x", *p);
		return 1;
	}
	if (cp < 0x80 && cp != 0 && strchr(pass, (int)cp) != NULL)
		fputc((int)cp, out);
	else if (is_hostile(cp) || (n > 1 && !terminal_is_utf8()))
		spell_out(cp, out);
	else
		fwrite(p, 1, n, out);
	return n;
}

char *
safe_string(const char *s)
{
	/* as JSON has it where a string may be expected */
	const char *given = s == NULL ? "null" : s;
	const unsigned char *p = (const unsigned char *)given;
	size_t left = strlen(given), n, size;
	char *text = NULL;
	FILE *out;

	if ((out = open_memstream(&text, &size)) == NULL)
		err(2, NULL);
	while (left > 0) {
		if ((n = put_char(p, left, "", out)) == 0) {
			fprintf(out, "\\x%02x", *p);
			n = 1;
		}
		p += n;
		left -= n;
	}
	if (fclose(out) != 0)
		err(2, NULL);
	return text;
}

size_t
safe_width(const char *s)
{
	mbstate_t state = { 0 };
	size_t n, width = 0;
	wchar_t wc;
	int w;

	while ((n = mbrtowc(&wc, s, MB_CUR_MAX, &state)) != 0) {
		if (n == (size_t)-1 || n == (size_t)-2)
			return width + strlen(s);
		w = wcwidth(wc);
		width += w > 0 ? (size_t)w : 0;
		s += n;
	}
	return width;
}

/*
 * Length of a colour sequence (ESC [ digits ; : m) at p, 0 when it is
 * something else, INCOMPLETE when it is cut.
 */
static size_t
colour_length(const unsigned char *p, size_t len)
{
	size_t i;

	if (len < 2)
		return INCOMPLETE;
	if (p[1] != '[')
		return 0;
	for (i = 2; i < len; i++) {
		if (p[i] == 'm')
			return i + 1;
		if (strchr("0123456789;:", p[i]) == NULL || p[i] == 0)
			return 0;
	}
	/* A longer one than fits into pending[] is not worth keeping. */
	return len < sizeof(((struct safe_filter *)0)->pending) / 2 ?
	    INCOMPLETE : 0;
}

/* Filters p; returns how many bytes at the end are cut off characters. */
static size_t
filter(struct safe_filter *f, const unsigned char *p, size_t len, FILE *out)
{
	size_t n;

	while (len > 0) {
		n = *p == ESC ? colour_length(p, len) : 0;
		if (n == INCOMPLETE)
			break;
		if (n > 0) {
			fwrite(p, 1, n, out);
			f->coloured = !(n == 3 || (n == 4 && p[2] == '0'));
		} else if ((n = put_char(p, len, "\n\r\t\b\a", out)) == 0)
			break;
		p += n;
		len -= n;
	}
	return len;
}

void
safe_filter_put(struct safe_filter *f, const void *buf, size_t len, FILE *out)
{
	const unsigned char *p = buf;
	size_t left, take;

	/* First finish what the last piece left over, a byte at a time. */
	while (f->npending > 0 && len > 0) {
		f->pending[f->npending++] = *p++;
		len--;
		take = f->npending;
		left = filter(f, f->pending, take, out);
		memmove(f->pending, f->pending + take - left, left);
		f->npending = left;
	}
	if (len == 0)
		return;
	left = filter(f, p, len, out);
	memcpy(f->pending, p + len - left, left);
	f->npending = left;
}

void
safe_filter_end(struct safe_filter *f, FILE *out)
{
	size_t i;

	for (i = 0; i < f->npending; i++) {
		if (f->pending[i] < 0x20 || f->pending[i] >= 0x7f)
			fprintf(out, "\\x%02x", f->pending[i]);
		else
			fputc(f->pending[i], out);
	}
	f->npending = 0;
	if (f->coloured)
		fputs("\033[0m", out);
	f->coloured = false;
}
