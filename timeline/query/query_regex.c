/* SPDX-License-Identifier: ISC */
/*
 * Regular expressions: a pattern becomes a tree, the tree a program, and the
 * program is run with all its states at once.  Sizes are bounded before
 * anything grows: the tree by the pattern's length, the program by PROG_MAX.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "query_regex.h"

#define PROG_MAX	4096
#define NODES_MAX	(4 * REGEX_PATTERN_MAX)
#define RANGES_MAX	(4 * REGEX_PATTERN_MAX)
#define DEPTH_MAX	100
#define COUNT_MAX	1000
#define NOTHING		UINT32_MAX	/* no character: before, after the text */

enum kind {
	N_EMPTY, N_CHAR, N_ANY, N_CLASS, N_BEGIN, N_END, N_WORD, N_NOT_WORD,
	N_CAT, N_ALT, N_REPEAT
};

struct node {
	enum kind kind;
	uint32_t a, b;		/* children; N_CHAR: the character; N_CLASS:
				   first range and how many */
	int	 min, max;	/* N_REPEAT, max -1 = any; N_CLASS: min 1 = not */
};

struct range {
	uint32_t low, high;
};

enum op { I_CHAR, I_ANY, I_CLASS, I_ASSERT, I_SPLIT, I_JUMP, I_MATCH };

struct inst {
	enum op	 op;
	uint32_t x, y;		/* targets, or as in the node */
	uint8_t	 flag;		/* I_CLASS: not; I_ASSERT: enum kind */
};

struct set {
	uint32_t n;
	uint16_t dense[PROG_MAX], sparse[PROG_MAX];
};

struct regex {
	struct inst prog[PROG_MAX];
	struct range ranges[RANGES_MAX];
	uint32_t nprog, nranges;
	bool	 fold;
	struct set sets[2];
	uint16_t stack[2 * PROG_MAX];
};

struct parser {
	struct regex *re;
	const char *p, *end;
	struct node nodes[NODES_MAX];
	uint32_t nnodes;
	int	 depth;
	uint32_t work;		/* steps of emit() that are left */
	const char *why;
};

/* -- parsing ------------------------------------------------------------ */
static uint32_t	parse_alt(struct parser *);

static uint32_t
node(struct parser *ps, enum kind kind, uint32_t a, uint32_t b)
{
	if (ps->nnodes == NODES_MAX) {
		ps->why = "the pattern is too long";
		return 0;
	}
	ps->nodes[ps->nnodes] = (struct node){ kind, a, b, 0, 0 };
	return ps->nnodes++;
}

static bool
at(const struct parser *ps, char c)
{
	return ps->p < ps->end && *ps->p == c;
}

static bool
take(struct parser *ps, char c)
{
	if (!at(ps, c))
		return false;
	ps->p++;
	return true;
}

/* Decodes a character of UTF-8; a byte that is none stands for U+FFFD. */
static uint32_t
decode(const char **s, const char *end)
{
	uint32_t c;
	size_t n;

	if ((uint8_t)**s < 0x80)
		return (uint8_t)*(*s)++;
	n = utf8_decode(*s, (size_t)(end - *s), &c);
	if (n == 0 || n == UTF8_INCOMPLETE) {
		++*s;
		return 0xfffd;
	}
	*s += n;
	return c;
}

static void
add_range(struct parser *ps, uint32_t low, uint32_t high)
{
	struct regex *re = ps->re;

	if (re->nranges == RANGES_MAX)
		ps->why = "the pattern has too many ranges";
	else
		re->ranges[re->nranges++] = (struct range){ low, high };
}

/* Sets by letter and by name; each is pairs of characters. */
static const struct {
	const char *name, *ranges;
} sets[] = {
	{ "d", "09" }, { "w", "09AZ__az" }, { "s", "\t\r  " },
	{ "digit", "09" }, { "alpha", "AZaz" }, { "alnum", "09AZaz" },
	{ "upper", "AZ" }, { "lower", "az" }, { "space", "\t\r  " },
	{ "punct", "!/:@[`{~" }, { "xdigit", "09AFaf" }, { "word", "09AZ__az" },
};

static bool
add_set(struct parser *ps, const char *name, size_t len, bool inverted)
{
	const char *r;
	uint32_t from = 0;
	size_t i;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (strlen(sets[i].name) == len &&
		    memcmp(sets[i].name, name, len) == 0)
			break;
	if (i == sizeof(sets) / sizeof(sets[0]))
		return false;
	for (r = sets[i].ranges; *r != '\0'; r += 2) {
		if (!inverted)
			add_range(ps, (uint8_t)r[0], (uint8_t)r[1]);
		else if ((uint8_t)r[0] > from)
			add_range(ps, from, (uint8_t)r[0] - 1U);
		from = (uint8_t)r[1] + 1U;
	}
	if (inverted)
		add_range(ps, from, 0x10ffff);
	return true;
}

static int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *d = c == '\0' ? NULL : strchr(digits,
	    c >= 'A' && c <= 'F' ? c + 32 : c);

	return d == NULL ? -1 : (int)(d - digits);
}

/* After \x: HH or {H...}. */
static uint32_t
parse_hex(struct parser *ps)
{
	bool brace = take(ps, '{');
	int digits = 0, most = brace ? 6 : 2, d;
	uint32_t c = 0;

	while (digits < most && ps->p < ps->end &&
	    (d = hex_digit(*ps->p)) >= 0) {
		c = c << 4 | (uint32_t)d;
		digits++;
		ps->p++;
	}
	if ((brace ? digits == 0 || !take(ps, '}') : digits < 2) ||
	    c > 0x10ffff)
		ps->why = "\\x needs two digits, or {..} with one to six";
	return c;
}

/* After a backslash, what is one character. */
static uint32_t
parse_escape(struct parser *ps)
{
	static const char letters[] = "nrtfva", values[] = "\n\r\t\f\v\a";
	const char *l;
	char c;

	if (ps->p == ps->end) {
		ps->why = "a \\ at the end";
		return 0;
	}
	c = *ps->p++;
	if (c == 'x')
		return parse_hex(ps);
	if ((l = strchr(letters, c)) != NULL && c != '\0')
		return (uint8_t)values[l - letters];
	if (c >= '0' && c <= '9')
		ps->why = "back references are not supported";
	else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		ps->why = "unknown letter after \\";
	if ((uint8_t)c >= 0x80) {
		ps->p--;
		return decode(&ps->p, ps->end);
	}
	return (uint8_t)c;
}

/* [:name:] within brackets. */
static bool
parse_named(struct parser *ps)
{
	const char *name = ps->p + 2, *s;

	if (ps->end - ps->p < 4 || ps->p[0] != '[' || ps->p[1] != ':')
		return false;
	for (s = name; s + 1 < ps->end && *s >= 'a' && *s <= 'z'; s++)
		;
	if (s + 1 >= ps->end || s[0] != ':' || s[1] != ']')
		return false;
	if (!add_set(ps, name, (size_t)(s - name), false))
		ps->why = "unknown name in [: :]";
	ps->p = s + 2;
	return true;
}

static bool
is_set_letter(char c)
{
	return c != '\0' && strchr("dwsDWS", c) != NULL;
}

static void
add_letter(struct parser *ps, char c)
{
	char lower = (char)(c | 0x20);

	add_set(ps, &lower, 1, lower != c);
}

static uint32_t
class_char(struct parser *ps)
{
	if (take(ps, '\\'))
		return parse_escape(ps);
	return decode(&ps->p, ps->end);
}

static void
parse_item(struct parser *ps)
{
	uint32_t low, high;

	if (parse_named(ps))
		return;
	if (ps->end - ps->p >= 2 && *ps->p == '\\' && is_set_letter(ps->p[1])) {
		add_letter(ps, ps->p[1]);
		ps->p += 2;
		return;
	}
	low = high = class_char(ps);
	if (ps->end - ps->p >= 2 && ps->p[0] == '-' && ps->p[1] != ']') {
		ps->p++;
		high = class_char(ps);
	}
	if (high < low)
		ps->why = "a range in [] is the wrong way round";
	add_range(ps, low, high);
}

/* After [. */
static uint32_t
parse_class(struct parser *ps)
{
	uint32_t first = ps->re->nranges, n;
	bool inverted = take(ps, '^'), any = false;

	while (ps->why == NULL && ps->p < ps->end && (!at(ps, ']') || !any)) {
		parse_item(ps);
		any = true;
	}
	if (ps->why == NULL && !take(ps, ']'))
		ps->why = "a [ without its ]";
	n = node(ps, N_CLASS, first, ps->re->nranges - first);
	ps->nodes[n].min = inverted;
	return n;
}

static uint32_t
parse_backslash(struct parser *ps)
{
	uint32_t first = ps->re->nranges;
	char c = ps->p < ps->end ? *ps->p : '\0';

	if (c == 'b' || c == 'B') {
		ps->p++;
		return node(ps, c == 'b' ? N_WORD : N_NOT_WORD, 0, 0);
	}
	if (is_set_letter(c)) {
		ps->p++;
		add_letter(ps, c);
		return node(ps, N_CLASS, first, ps->re->nranges - first);
	}
	return node(ps, N_CHAR, parse_escape(ps), 0);
}

/* After (. */
static uint32_t
parse_group(struct parser *ps)
{
	uint32_t n;

	if (take(ps, '?') && !take(ps, ':')) {
		ps->why = "of the groups with (? only (?:..) and, at the "
		    "beginning, (?i) are supported";
		return 0;
	}
	if (++ps->depth > DEPTH_MAX) {
		ps->why = "too many groups within each other";
		return 0;
	}
	n = parse_alt(ps);
	ps->depth--;
	if (ps->why == NULL && !take(ps, ')'))
		ps->why = "a ( without its )";
	return n;
}

static uint32_t
parse_atom(struct parser *ps)
{
	switch (*ps->p) {
	case '(':
		ps->p++;
		return parse_group(ps);
	case '[':
		ps->p++;
		return parse_class(ps);
	case '\\':
		ps->p++;
		return parse_backslash(ps);
	case '.':
		ps->p++;
		return node(ps, N_ANY, 0, 0);
	case '^':
		ps->p++;
		return node(ps, N_BEGIN, 0, 0);
	case '$':
		ps->p++;
		return node(ps, N_END, 0, 0);
	case '*':
	case '+':
	case '?':
		ps->why = "nothing before a repetition";
		return 0;
	default:
		return node(ps, N_CHAR, decode(&ps->p, ps->end), 0);
	}
}

static bool
number(const char **s, const char *end, int *n)
{
	if (*s == end || **s < '0' || **s > '9')
		return false;
	for (*n = 0; *s < end && **s >= '0' && **s <= '9'; ++*s)
		if (*n <= COUNT_MAX)
			*n = 10 * *n + (**s - '0');
	return true;
}

/* {n}, {n,} or {n,m}; else the brace is a character like others. */
static bool
parse_count(struct parser *ps, int *min, int *max)
{
	const char *s = ps->p + 1;

	if (!number(&s, ps->end, min))
		return false;
	*max = *min;
	if (s < ps->end && *s == ',') {
		s++;
		if (!number(&s, ps->end, max))
			*max = -1;
	}
	if (s == ps->end || *s != '}')
		return false;
	ps->p = s + 1;
	if (*min > COUNT_MAX || *max > COUNT_MAX ||
	    (*max != -1 && *max < *min))
		ps->why = "counts in {} go up to 1000, the smaller first";
	return true;
}

static bool
parse_suffix(struct parser *ps, int *min, int *max)
{
	static const struct {
		char c;
		int min, max;
	} signs[] = { { '*', 0, -1 }, { '+', 1, -1 }, { '?', 0, 1 } };
	size_t i;

	if (at(ps, '{'))
		return parse_count(ps, min, max);
	for (i = 0; i < 3; i++)
		if (take(ps, signs[i].c)) {
			*min = signs[i].min;
			*max = signs[i].max;
			return true;
		}
	return false;
}

static uint32_t
parse_repeat(struct parser *ps)
{
	uint32_t n = parse_atom(ps);
	int min, max, times = 0;

	while (ps->why == NULL && parse_suffix(ps, &min, &max)) {
		/* whether it takes much or little is all one to a match */
		take(ps, '?');
		if (++times > 2)
			ps->why = "too many repetitions of a repetition";
		n = node(ps, N_REPEAT, n, 0);
		ps->nodes[n].min = min;
		ps->nodes[n].max = max;
	}
	return n;
}

static uint32_t
parse_cat(struct parser *ps)
{
	uint32_t n = node(ps, N_EMPTY, 0, 0), next;

	while (ps->why == NULL && ps->p < ps->end && !at(ps, '|') &&
	    !at(ps, ')')) {
		next = parse_repeat(ps);
		n = node(ps, N_CAT, n, next);
	}
	return n;
}

static uint32_t
parse_alt(struct parser *ps)
{
	uint32_t n = parse_cat(ps), next;

	while (ps->why == NULL && take(ps, '|')) {
		next = parse_cat(ps);
		n = node(ps, N_ALT, n, next);
	}
	return n;
}

/* -- the program -------------------------------------------------------- */
static uint32_t
inst(struct parser *ps, enum op op, uint32_t x, uint32_t y)
{
	struct regex *re = ps->re;

	if (re->nprog == PROG_MAX) {
		ps->why = "the pattern is too large";
		return 0;
	}
	re->prog[re->nprog] = (struct inst){ op, x, y, 0 };
	return re->nprog++;
}

static void	emit(struct parser *, uint32_t);

static void
emit_alt(struct parser *ps, const struct node *n)
{
	struct inst *prog = ps->re->prog;
	uint32_t split, jump;

	split = inst(ps, I_SPLIT, ps->re->nprog + 1, 0);
	emit(ps, n->a);
	jump = inst(ps, I_JUMP, 0, 0);
	prog[split].y = ps->re->nprog;
	emit(ps, n->b);
	prog[jump].x = ps->re->nprog;
}

static void
emit_repeat(struct parser *ps, const struct node *n)
{
	struct inst *prog = ps->re->prog;
	uint32_t split;
	int i;

	for (i = 0; i < n->min && ps->why == NULL; i++)
		emit(ps, n->a);
	if (n->max == -1) {
		split = inst(ps, I_SPLIT, ps->re->nprog + 1, 0);
		emit(ps, n->a);
		inst(ps, I_JUMP, split, 0);
		prog[split].y = ps->re->nprog;
		return;
	}
	for (; i < n->max && ps->why == NULL; i++) {
		split = inst(ps, I_SPLIT, ps->re->nprog + 1, 0);
		emit(ps, n->a);
		prog[split].y = ps->re->nprog;
	}
}

static void
emit(struct parser *ps, uint32_t index)
{
	static const enum op ops[] = { [N_CHAR] = I_CHAR, [N_ANY] = I_ANY,
		[N_CLASS] = I_CLASS, [N_BEGIN] = I_ASSERT, [N_END] = I_ASSERT,
		[N_WORD] = I_ASSERT, [N_NOT_WORD] = I_ASSERT };
	const struct node *n = &ps->nodes[index];
	uint32_t i;

	/* repeated nothings have no instructions to be bounded by */
	if (ps->why != NULL || ps->work-- == 0) {
		ps->why = ps->why != NULL ? ps->why : "the pattern is too large";
		return;
	}
	switch (n->kind) {
	case N_EMPTY:
		break;
	case N_CAT:
		emit(ps, n->a);
		emit(ps, n->b);
		break;
	case N_ALT:
		emit_alt(ps, n);
		break;
	case N_REPEAT:
		emit_repeat(ps, n);
		break;
	default:
		i = inst(ps, ops[n->kind], n->a, n->b);
		ps->re->prog[i].flag = (uint8_t)(n->kind == N_CLASS ?
		    (unsigned)n->min : n->kind);
	}
}

static void
compile(struct parser *ps)
{
	struct regex *re = ps->re;
	uint32_t root;

	if (ps->end - ps->p >= 4 && memcmp(ps->p, "(?i)", 4) == 0) {
		re->fold = true;
		ps->p += 4;
	}
	root = parse_alt(ps);
	if (ps->why == NULL && ps->p < ps->end)
		ps->why = "a ) without its (";
	ps->work = 100000;
	emit(ps, root);
	inst(ps, I_MATCH, 0, 0);
}

struct regex *
regex_new(const char *pattern, size_t len, char why[REGEX_WHY])
{
	struct parser *ps = calloc(1, sizeof(*ps));
	struct regex *re = calloc(1, sizeof(*re));

	snprintf(why, REGEX_WHY, "no memory");
	if (ps == NULL || re == NULL)
		goto fail;
	ps->re = re;
	ps->p = pattern;
	ps->end = pattern + len;
	if (len > REGEX_PATTERN_MAX)
		ps->why = "the pattern has more than 1000 bytes";
	else
		compile(ps);
	if (ps->why == NULL) {
		free(ps);
		return re;
	}
	snprintf(why, REGEX_WHY, "%s (at byte %td)", ps->why,
	    ps->p - pattern);
fail:
	free(ps);
	free(re);
	return NULL;
}

/* -- running ------------------------------------------------------------ */
static bool
is_word(uint32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
holds(enum kind assertion, uint32_t before, uint32_t after)
{
	switch (assertion) {
	case N_BEGIN:
		return before == NOTHING;
	case N_END:
		return after == NOTHING;
	case N_WORD:
		return is_word(before) != is_word(after);
	default:
		return is_word(before) == is_word(after);
	}
}

static bool
in_set(const struct set *s, uint32_t i)
{
	return s->sparse[i] < s->n && s->dense[s->sparse[i]] == i;
}

/* Adds a state and all that follow without a character. */
static void
add_state(struct regex *re, struct set *s, uint32_t first, uint32_t before,
    uint32_t after)
{
	const struct inst *in;
	uint32_t n = 0, i;

	re->stack[n++] = (uint16_t)first;
	while (n > 0) {
		i = re->stack[--n];
		if (in_set(s, i))
			continue;
		s->sparse[i] = (uint16_t)s->n;
		s->dense[s->n++] = (uint16_t)i;
		in = &re->prog[i];
		if (in->op == I_JUMP) {
			re->stack[n++] = (uint16_t)in->x;
		} else if (in->op == I_SPLIT) {
			re->stack[n++] = (uint16_t)in->x;
			re->stack[n++] = (uint16_t)in->y;
		} else if (in->op == I_ASSERT &&
		    holds((enum kind)in->flag, before, after)) {
			re->stack[n++] = (uint16_t)(i + 1);
		}
	}
}

static bool
in_ranges(const struct regex *re, const struct inst *in, uint32_t c)
{
	const struct range *r = &re->ranges[in->x], *end = r + in->y;

	while (r < end && (c < r->low || c > r->high))
		r++;
	return r < end;
}

static uint32_t
other_case(uint32_t c)
{
	uint32_t lower = c | 0x20;

	return lower >= 'a' && lower <= 'z' && c < 0x80 ? c ^ 0x20 : c;
}

static bool
accepts(const struct regex *re, const struct inst *in, uint32_t c)
{
	switch (in->op) {
	case I_CHAR:
		return c == in->x || (re->fold && other_case(c) == in->x);
	case I_ANY:
		return c != '\n';
	case I_CLASS:
		return (in_ranges(re, in, c) || (re->fold &&
		    in_ranges(re, in, other_case(c)))) != (in->flag != 0);
	default:
		return false;
	}
}

/* The states after c; *matched if the end was among those before it. */
static void
step(struct regex *re, const struct set *from, struct set *to, uint32_t c,
    uint32_t after, bool *matched)
{
	uint32_t i;

	to->n = 0;
	for (i = 0; i < from->n; i++) {
		if (re->prog[from->dense[i]].op == I_MATCH)
			*matched = true;
		else if (accepts(re, &re->prog[from->dense[i]], c))
			add_state(re, to, from->dense[i] + 1U, c, after);
	}
}

bool
regex_match(struct regex *re, const char *text, size_t len)
{
	const char *end = text + len;
	struct set *from = &re->sets[0], *to = &re->sets[1], *swap;
	uint32_t before = NOTHING, c, after;
	bool matched = false;

	from->n = 0;
	c = text < end ? decode(&text, end) : NOTHING;
	for (;;) {
		add_state(re, from, 0, before, c);
		after = c != NOTHING && text < end ? decode(&text, end) :
		    NOTHING;
		step(re, from, to, c, after, &matched);
		if (matched || c == NOTHING)
			return matched;
		before = c;
		c = after;
		swap = from;
		from = to;
		to = swap;
	}
}

void
regex_free(struct regex *re)
{
	free(re);
}
