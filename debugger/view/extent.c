/* SPDX-License-Identifier: ISC */
/*
 * Which lines of a source file are a function, by brackets and indentation:
 * good for code that is indented as is usual, and never more than a view of
 * it, so that a wrong guess shows other lines and harms nothing.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "extent.h"
#include "source.h"

#define ABOVE	4000	/* lines to go back at most */
#define TAB	8

/* A line without its indentation. */
struct row {
	const char	*text;
	size_t		 len;
	int		 indent;	/* columns; INT_MAX: an empty line */
};

static bool
row_at(const char *file, int64_t line, struct row *r)
{
	r->text = source_line(file, line, &r->len);
	if (r->text == NULL)
		return false;
	for (r->indent = 0; r->len > 0 && (*r->text == ' ' ||
	    *r->text == '\t'); r->text++, r->len--)
		r->indent = *r->text == '\t' ? (r->indent / TAB + 1) * TAB :
					       r->indent + 1;
	if (r->len == 0)
		r->indent = INT_MAX;
	return true;
}

static char
last_of(const struct row *r)
{
	size_t n = r->len;

	while (n > 0 && (r->text[n - 1] == ' ' || r->text[n - 1] == '\t'))
		n--;
	return n == 0 ? '\0' : r->text[n - 1];
}

static bool
begins(const struct row *r, const char *word)
{
	size_t n = strlen(word);

	return r->len >= n && memcmp(r->text, word, n) == 0;
}

static bool
word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* "main.(*T).Add", "ns::T::add<int>(int) const" -> the name alone. */
static void
bare_name(const char *function, char *out, size_t room)
{
	const char *end = function, *start, *p;

	for (p = function; *p != '\0' && *p != '<'; p++)
		if (*p == '(' && p > function && word_char(p[-1]))
			break;
	end = p;
	for (start = end; start > function && word_char(start[-1]); start--)
		;
	snprintf(out, room, "%.*s", (int)(end - start), start);
}

/* Its name as a whole word, and a bracket behind it. */
static bool
names_it(const struct row *r, const char *name)
{
	const char *p = r->text, *end = r->text + r->len;
	size_t n = strlen(name);

	for (; n > 0 && (p = memmem(p, (size_t)(end - p), name, n)) != NULL;
	    p += n) {
		if (p > r->text && word_char(p[-1]))
			continue;
		if (p + n < end && (p[n] == '(' || p[n] == '<' ||
		    (p[n] == ' ' && p + n + 1 < end && p[n + 1] == '(')))
			return true;
	}
	return false;
}

/* Neither code nor a sign of how deep it is: a directive, a label. */
static bool
stands_out(const struct row *r)
{
	return r->indent == INT_MAX || *r->text == '{' || *r->text == '#' ||
	    (last_of(r) == ':' && memchr(r->text, ' ', r->len) == NULL);
}

/*
 * Back from where it stands: a line with the name in it that is less indented
 * than all below it is the declaration; more indented ones are calls.
 */
static bool
find_above(const char *file, int64_t line, const char *name, int64_t *declared)
{
	int64_t stop = line > ABOVE ? line - ABOVE : 1, at;
	bool found = false;
	int least = INT_MAX;
	struct row r;

	for (at = line; at >= stop && least > 0 && row_at(file, at, &r);
	    at--) {
		if (at != line && (stands_out(&r) || r.indent >= least))
			continue;
		if (names_it(&r, name)) {
			*declared = at;
			found = true;
		}
		least = r.indent;
	}
	return found;
}

/* Types, attributes and decorators stand above a name. */
static int64_t
first_of(const char *file, int64_t declared)
{
	struct row r, above;
	int64_t at;

	if (!row_at(file, declared, &r))
		return declared;
	for (at = declared; at > 1 && row_at(file, at - 1, &above) &&
	    above.indent == r.indent && declared - at < 8; at--)
		if (strchr(";}{:,/", last_of(&above)) != NULL ||
		    begins(&above, "#") || begins(&above, "*") ||
		    begins(&above, "//"))
			break;
	return at;
}

/*
 * Its end: the bracket that stands as far left as the declaration, or without
 * brackets the last line that is further in.
 */
static int64_t
last_from(const char *file, int64_t declared)
{
	int64_t at, last = declared;
	bool indented;
	struct row r;
	int left;

	if (!row_at(file, declared, &r))
		return declared;
	left = r.indent;
	indented = begins(&r, "def ") || begins(&r, "async def ");
	for (at = declared + 1; row_at(file, at, &r); at++) {
		if (r.indent == INT_MAX)
			continue;
		if (r.indent <= left && *r.text == '}')
			return at;
		if (r.indent <= left && indented && *r.text != '#' &&
		    *r.text != ')')
			return last;
		last = at;
	}
	return last;
}

bool
extent_around(const char *file, int64_t line, const char *function,
    int64_t *first, int64_t *last)
{
	int64_t declared = line;
	char name[256];

	bare_name(function, name, sizeof(name));
	if (!find_above(file, line, name, &declared))
		return false;
	*first = first_of(file, declared);
	*last = last_from(file, declared);
	return *last >= line;
}

/* A declaration without a body, and a call, end with a semicolon. */
static bool
has_body(const char *file, int64_t line)
{
	struct row r;
	int i;

	for (i = 0; i < 8 && row_at(file, line + i, &r); i++) {
		if (r.indent != INT_MAX && (last_of(&r) == '{' ||
		    last_of(&r) == ':' || *r.text == '{'))
			return true;
		if (last_of(&r) == ';' || r.indent == INT_MAX)
			return false;
	}
	return false;
}

bool
extent_named(const char *file, const char *function, int64_t *first,
    int64_t *last)
{
	int64_t line, lines = source_lines(file);
	struct row r;
	char name[256];

	bare_name(function, name, sizeof(name));
	for (line = 1; line <= lines && row_at(file, line, &r); line++) {
		if (r.len == 0 || strchr("/*", *r.text) != NULL ||
		    !names_it(&r, name) || !has_body(file, line))
			continue;
		if (r.indent > 0 && !begins(&r, "def ") &&
		    !begins(&r, "async def ") && !begins(&r, "fn ") &&
		    !begins(&r, "pub "))
			continue;
		*first = first_of(file, line);
		*last = last_from(file, line);
		return true;
	}
	return false;
}
