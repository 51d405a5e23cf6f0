/* SPDX-License-Identifier: ISC */
/* Strict tokens of JSON: see the header. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "jsonlex.h"
#include "line.h"

/* An empty object costs json-c 260 times the bytes that stand for it. */
#define CONTAINERS_MAX	64
#define MEMBERS_MAX	64
/* Each costs it ten times what other values do; no command takes a list. */
#define NUMBERS_MAX	64
/* strtod() takes its time over numbers that no command wants */
#define DIGITS_MAX	32
/* Nesting depth of an answer; each level takes a bit. */
#define ANSWER_DEPTH	64

struct lex {
	const char	*p, *end;
	size_t		 members, containers, numbers;
	bool		 answer;	/* not for a parser of ours */
	bool		 nul;		/* a text may hold one */
	/* jsonlex_request(): may still pass one on; open brackets around */
	bool		 may_pass;
	size_t		 level;
	struct word	 outer, key;	/* latest strings of levels 1 and 2 */
	/* open brackets: bit n is set where the one of depth n is a brace */
	uint64_t	 braces;
	unsigned int	 depth;
};

static bool
is_digit(const struct lex *l)
{
	return l->p < l->end && *l->p >= '0' && *l->p <= '9';
}

static bool
take(struct lex *l, const char *set)
{
	if (l->p == l->end || *l->p == '\0' || strchr(set, *l->p) == NULL)
		return false;
	l->p++;
	return true;
}

static bool
take_digits(struct lex *l)
{
	bool any = is_digit(l);

	while (is_digit(l))
		l->p++;
	return any;
}

static const char *
number(struct lex *l)
{
	static const char wrong[] = "is not a number";
	const char *begin = l->p;
	struct word digits;
	bool negative = take(l, "-"), zero;
	uint64_t v;

	digits.p = l->p;
	zero = l->p < l->end && *l->p == '0';
	if (!take_digits(l))
		return wrong;
	digits.len = (size_t)(l->p - digits.p);
	if (zero && digits.len > 1)
		return "is a number with a zero before it";
	/* a fraction is good JSON; no command takes one */
	if (take(l, ".") && !take_digits(l))
		return wrong;
	if (take(l, "eE")) {
		(void)take(l, "+-");
		if (!take_digits(l))
			return wrong;
	}
	if (l->answer)
		return NULL;
	if (++l->numbers > NUMBERS_MAX)
		return "is one number too many";
	if (l->p - begin > DIGITS_MAX || number_parse(&digits, negative ?
	    (uint64_t)INT64_MAX + 1 : UINT64_MAX, &v) != NULL)
		return "is a number that is too large";
	return NULL;
}

/* The four digits after "\u"; -1 when they are not. */
static int
hex4(struct lex *l)
{
	int v = 0, i;

	if (l->end - l->p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		int c = (unsigned char)l->p[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v << 4 | ((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	l->p += 4;
	return v;
}

/* Checks an escape sequence after its backslash. */
static const char *
escape(struct lex *l)
{
	static const char lone[] = "is half a surrogate pair";
	int v;

	if (take(l, "\"\\/bfnrt"))
		return NULL;
	if (!take(l, "u") || (v = hex4(l)) == -1)
		return "is no escape of JSON";
	if (v == 0 && !l->nul)
		return "is a NUL, which no text may hold";
	if (v < 0xd800 || v > 0xdfff)
		return NULL;
	if (v > 0xdbff || !take(l, "\\") || !take(l, "u"))
		return lone;
	v = hex4(l);
	return v >= 0xdc00 && v <= 0xdfff ? NULL : lone;
}

static const char *
string(struct lex *l)
{
	const char *why, *at;
	int n;

	for (l->p++; l->p < l->end && *l->p != '"'; ) {
		unsigned char c = (unsigned char)*l->p;

		if (c < 0x20)
			return "is a control character within a string; "
			    "write it as an escape";
		if (c == '\\') {
			at = l->p++;
			if ((why = escape(l)) != NULL) {
				l->p = at;
				return why;
			}
			continue;
		}
		n = utf8_length(l->p, (size_t)(l->end - l->p));
		if (n <= 0)
			return "is not UTF-8";
		l->p += n;
	}
	if (l->p == l->end)
		return "a string has begun that does not end";
	l->p++;
	return NULL;
}

static const char *
literal(struct lex *l)
{
	static const char *const words[] = { "true", "false", "null" };
	struct word w = { l->p, 0 };
	size_t i;

	while (l->p < l->end && ((*l->p | 0x20) >= 'a' && (*l->p | 0x20) <= 'z'))
		l->p++;
	w.len = (size_t)(l->p - w.p);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word_is(&w, words[i]))
			return NULL;
	return "stands for no value of JSON";
}

/* Brackets of an answer. */
static const char *
nest(struct lex *l, char bracket)
{
	uint64_t bit;

	if (bracket == '{' || bracket == '[') {
		if (l->depth == ANSWER_DEPTH)
			return "is nested too deeply";
		bit = (uint64_t)1 << l->depth++;
		l->braces = bracket == '{' ? l->braces | bit :
		    l->braces & ~bit;
		return NULL;
	}
	if (l->depth == 0 ||
	    (l->braces >> --l->depth & 1) != (bracket == '}'))
		return "closes what was not opened";
	return NULL;
}

static const char *
token(struct lex *l)
{
	if (l->answer && strchr("{}[]", *l->p) != NULL && *l->p != '\0')
		return nest(l, *l->p++);
	if (l->answer && take(l, ":"))
		return NULL;
	if (*l->p == '"')
		return string(l);
	if (*l->p == '-' || is_digit(l))
		return number(l);
	if (take(l, "{["))
		return ++l->containers > CONTAINERS_MAX ?
		    "is one object or array too many" : NULL;
	if (take(l, ":"))
		return ++l->members > MEMBERS_MAX ?
		    "is one member too many" : NULL;
	return take(l, " \t\r,]}") ? NULL : literal(l);
}

/* -- what is passed on -- */

/* The object that begins here is the value of "request", and in its place. */
static bool
is_passed(const struct lex *l)
{
	const struct word *name = l->level == 1 ? &l->outer : &l->key;

	return l->may_pass && l->p < l->end && *l->p == '{' &&
	    word_is(name, "\"request\"") && (l->level == 1 ||
	    (l->level == 2 && word_is(&l->outer, "\"args\"")));
}

/* All of it, by the rules of an answer. */
static const char *
pass(struct lex *l, struct jsonlex *result, const char *text)
{
	const char *begin = l->p, *why = NULL;

	l->answer = true;
	l->may_pass = false;
	do
		why = token(l);
	while (why == NULL && l->depth > 0 && l->p < l->end);
	l->answer = false;
	if (why == NULL && l->depth > 0)
		return "has begun that does not end";
	result->passed_at = (size_t)(begin - text);
	result->passed_len = (size_t)(l->p - begin);
	result->in_args = l->level == 2;
	return why;
}

/* Where it is, for is_passed(): after the token that begins at begin. */
static void
keep_place(struct lex *l, const char *begin)
{
	struct word w = { begin, (size_t)(l->p - begin) };

	if (*begin == '"' && l->level == 1)
		l->outer = w;
	else if (*begin == '"' && l->level == 2)
		l->key = w;
	else if (*begin == '{' || *begin == '[')
		l->level++;
	else if ((*begin == '}' || *begin == ']') && l->level > 0)
		l->level--;
}

static const char *
check(struct lex *l, struct jsonlex *result)
{
	const char *why = NULL, *text = l->p, *begin = l->p;

	memset(result, 0, sizeof(*result));
	while (why == NULL && l->p < l->end) {
		begin = l->p;
		if (is_passed(l)) {
			why = pass(l, result, text);
			continue;
		}
		why = token(l);
		keep_place(l, begin);
	}
	/* in a string that is the place within it */
	result->at = (size_t)((begin < l->end && *begin == '"' ? l->p :
	    begin) - text);
	result->members = l->members;
	return why;
}

const char *
jsonlex_check(const char *p, size_t len, struct jsonlex *result)
{
	struct lex l = { .p = p, .end = p + len };

	return check(&l, result);
}

const char *
jsonlex_request(const char *p, size_t len, struct jsonlex *result)
{
	struct lex l = { .p = p, .end = p + len, .may_pass = true };

	return check(&l, result);
}

static const char *
one_object(struct lex *l)
{
	const char *why = NULL;

	if (l->p == l->end || *l->p != '{')
		return "is no object";
	while (why == NULL && l->p < l->end) {
		why = token(l);
		if (why == NULL && l->depth == 0 && l->p < l->end)
			why = "is more than one object";
	}
	if (why == NULL && l->depth > 0)
		why = "ends too early";
	return why;
}

const char *
jsonlex_passed(const char *p, size_t len)
{
	struct lex l = { .p = p, .end = p + len, .answer = true };

	return one_object(&l);
}

const char *
jsonlex_answer(const char *p, size_t len)
{
	struct lex l = { .p = p, .end = p + len, .answer = true, .nul = true };

	return one_object(&l);
}

/* -- with its order -- */

/* Tokens that may come next. */
enum expect {
	EXPECT_VALUE,
	EXPECT_FIRST_VALUE,	/* or the end of an array */
	EXPECT_KEY,
	EXPECT_FIRST_KEY,	/* or the end of an object */
	EXPECT_COLON,
	EXPECT_AFTER		/* a comma, or an end */
};

static bool
in_object(const struct lex *l)
{
	return l->depth > 0 && (l->braces >> (l->depth - 1) & 1) != 0;
}

static const char *
punctuation(struct lex *l, enum expect *e)
{
	char c = *l->p++;

	if (c == ',' && *e == EXPECT_AFTER && l->depth > 0)
		*e = in_object(l) ? EXPECT_KEY : EXPECT_VALUE;
	else if (c == ':' && *e == EXPECT_COLON)
		*e = EXPECT_VALUE;
	else if ((c == '}' || c == ']') && (*e == EXPECT_AFTER ||
	    *e == EXPECT_FIRST_VALUE || *e == EXPECT_FIRST_KEY)) {
		*e = EXPECT_AFTER;
		return nest(l, c);
	} else
		return "is not what may stand there";
	return NULL;
}

static const char *
ordered(struct lex *l, enum expect *e)
{
	char c = *l->p;

	if (c != '\0' && strchr(",:}]", c) != NULL)
		return punctuation(l, e);
	if (*e == EXPECT_KEY || *e == EXPECT_FIRST_KEY) {
		*e = EXPECT_COLON;
		return c == '"' ? string(l) : "is no name of a member";
	}
	if (*e != EXPECT_VALUE && *e != EXPECT_FIRST_VALUE)
		return "is not what may stand there";
	*e = c == '{' ? EXPECT_FIRST_KEY : c == '[' ? EXPECT_FIRST_VALUE :
	    EXPECT_AFTER;
	return token(l);
}

const char *
jsonlex_value(const char *p, size_t len)
{
	struct lex l = { .p = p, .end = p + len, .answer = true };
	enum expect e = EXPECT_VALUE;
	const char *why = NULL;

	while (why == NULL && l.p < l.end)
		if (*l.p == '\n')
			l.p++;
		else if (!take(&l, " \t\r"))
			why = ordered(&l, &e);
	if (why == NULL && (l.depth > 0 || e != EXPECT_AFTER))
		why = "ends too early";
	return why;
}
