/* SPDX-License-Identifier: ISC */
/* Text that grows up to a bound. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "utf8.h"

#define CAP_MIN		256

/* A byte more than max, for the NUL. */
static bool
grow(struct text *t, size_t need)
{
	size_t cap = t->cap < CAP_MIN ? CAP_MIN : t->cap;
	char *p;

	if (need > t->max || t->len > t->max - need)
		return false;
	while (cap <= t->len + need)
		cap *= 2;
	if (cap - 1 > t->max)
		cap = t->max + 1;
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
	if (t->bad || (n >= t->cap - t->len && !grow(t, n))) {
		t->bad = true;
		return NULL;
	}
	return t->p + t->len;
}

void
text_put(struct text *t, const void *p, size_t len)
{
	char *at = text_room(t, len);

	if (at == NULL)
		return;
	if (len > 0)
		memcpy(at, p, len);
	at[len] = '\0';
	t->len += len;
}

void
text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	char *at;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		t->bad = true;
	if (n < 0 || (at = text_room(t, (size_t)n)) == NULL)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(at, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

/* Quicker than printf(3), as it stands in every event of a timeline. */
void
text_u64(struct text *t, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	text_put(t, digits + n, sizeof(digits) - n);
}

/* C1 controls are one character in UTF-8, and terminals obey them. */
static bool
is_c1(const uint8_t *s, size_t n)
{
	return n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

static void
put_plain(struct text *t, uint8_t c)
{
	static const char from[] = "\\\n\t\r", to[] = "\\ntr";
	const char *hit = c == '\0' ? NULL : strchr(from, c);
	char two[2] = { '\\' };

	if (hit != NULL) {
		two[1] = to[hit - from];
		text_put(t, two, sizeof(two));
	} else if (c >= 0x20 && c < 0x7f) {
		text_put(t, &c, 1);
	} else {
		text_printf(t, "\\x%02x", c);
	}
}

void
text_plain(struct text *t, const void *buf, size_t len)
{
	const uint8_t *s = buf;
	size_t n, i;

	for (; len > 0; s += n, len -= n) {
		n = utf8_sequence(s, len);
		if (n > 1 && !is_c1(s, n)) {
			text_put(t, s, n);
			continue;
		}
		if (n == 0)
			n = 1;
		for (i = 0; i < n; i++)
			put_plain(t, s[i]);
	}
}

void
text_reset(struct text *t, size_t keep)
{
	if (t->cap > keep) {
		free(t->p);
		t->p = NULL;
		t->cap = 0;
	}
	if (t->p != NULL)
		t->p[0] = '\0';
	t->len = 0;
	t->bad = false;
}

void
text_free(struct text *t)
{
	text_reset(t, 0);
}
