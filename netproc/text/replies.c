/* SPDX-License-Identifier: ISC */
/* Answers of terminals among what is typed; see the header. */
#include <stdbool.h>
#include <string.h>

#include "replies.h"

#define ESC		'\033'
#define BEL		'\007'
/* No answer of the CSI kind is longer. */
#define CSI_MAX		64

/* A CSI sequence taken apart. */
struct csi {
	char	 mark;			/* ? > = or 0 */
	char	 middle;		/* $ and the like, or 0 */
	char	 final;
	unsigned int	nparams, params[2];
};

static void
read_params(struct csi *c, const char *p, const char *end)
{
	unsigned int v = 0;
	bool any = false;

	for (; p <= end; p++) {
		if (p < end && *p >= '0' && *p <= '9') {
			v = v < 10000 ? v * 10 + (unsigned int)(*p - '0') : v;
			any = true;
			continue;
		}
		if (c->nparams < 2)
			c->params[c->nparams] = v;
		c->nparams += p < end || any;
		v = 0;
	}
}

/* How long the sequence is that begins with ESC [; 0 = it is none. */
static size_t
read_csi(const char *p, size_t n, struct csi *c)
{
	size_t i = 2, begin;

	memset(c, 0, sizeof(*c));
	if (n > CSI_MAX)
		n = CSI_MAX;
	if (i < n && p[i] >= '<' && p[i] <= '?')
		c->mark = p[i++];
	begin = i;
	while (i < n && p[i] >= '0' && p[i] <= ';')
		i++;
	read_params(c, p + begin, p + i);
	if (i < n && p[i] >= ' ' && p[i] <= '/')
		c->middle = p[i++];
	if (i == n || p[i] < '@' || p[i] > '~')
		return 0;
	c->final = p[i];
	return i + 1;
}

/*
 * The final bytes and marks of answers: attributes, status, modes, colours
 * and sizes.  Without a mark some of them are keys.
 */
static const struct {
	char	final, mark, middle;
} answers[] = {
	{ 'c', '?', 0 }, { 'c', '>', 0 }, { 'c', '=', 0 },
	{ 'n', 0, 0 }, { 'n', '?', 0 }, { 'R', '?', 0 },
	{ 'y', '?', '$' }, { 'y', 0, '$' }, { 't', 0, 0 },
	{ 'u', '?', 0 }, { 'x', 0, 0 }, { 'S', '?', 0 },
	{ 'm', '>', 0 },
};

static bool
csi_is_answer(const struct csi *c)
{
	size_t i;

	/* where the cursor is; F3 with shift and the like look like row 1 */
	if (c->final == 'R' && c->mark == 0)
		return c->nparams == 2 && (c->params[0] != 1 ||
		    c->params[1] == 1 || c->params[1] > 16);
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (c->final == answers[i].final &&
		    c->mark == answers[i].mark &&
		    c->middle == answers[i].middle)
			return true;
	return false;
}

/* Strings of OSC, DCS and APC are typed by nobody; 0 = not complete. */
static size_t
string_length(const char *p, size_t n)
{
	size_t i;

	for (i = 2; i < n; i++) {
		if (p[i] == BEL && p[1] == ']')
			return i + 1;
		if (p[i] == ESC)
			return i + 1 < n && p[i + 1] == '\\' ? i + 2 : 0;
	}
	return 0;
}

/* How long the answer is that begins here; 0 = it is none. */
static size_t
answer_length(const char *p, size_t n)
{
	struct csi c;
	size_t len;

	if (n < 3 || p[0] != ESC)
		return 0;
	if (p[1] == ']' || p[1] == 'P' || p[1] == '_')
		return string_length(p, n);
	if (p[1] != '[')
		return 0;
	len = read_csi(p, n, &c);
	return len > 0 && csi_is_answer(&c) ? len : 0;
}

size_t
replies_strip(const char *p, size_t n, char *out)
{
	size_t at = 0, kept = 0, len;
	const char *esc;

	while (at < n) {
		esc = memchr(p + at, ESC, n - at);
		len = (esc == NULL ? n : (size_t)(esc - p)) - at;
		memmove(out + kept, p + at, len);
		kept += len;
		at += len;
		if (at == n)
			break;
		len = answer_length(p + at, n - at);
		if (len == 0) {
			out[kept++] = p[at];
			len = 1;
		}
		at += len;
	}
	return kept;
}
