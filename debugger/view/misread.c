/* SPDX-License-Identifier: ISC */
/* Functions that lldb unwinds by wrong rules, as lldb itself tells them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/repl.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "misread.h"

#define ASKED_MOST	24	/* frames at one stop */
#define NAME_MOST	120	/* bytes of a function's name */

/* In the order in which lldb met them. */
static struct {
	struct misread_code code;
	bool		 wrong;
} met[MISREAD_MOST];
static size_t		nmet;

/* All questions about one stack, and one of them. */
struct lesson {
	void		(*fn)(void *);
	void		*arg;
	unsigned int	 pending;
};

struct question {
	struct lesson	*lesson;
	uint64_t	 at;
};

void
misread_forget(void)
{
	nmet = 0;
}

/* -- the answer --------------------------------------------------------- */
/* "[0x10-0x20)", and *p goes behind it. */
static bool
take_range(const char **p, uint64_t *from, uint64_t *to)
{
	char *end;

	if (**p != '[')
		return false;
	*from = strtoull(*p + 1, &end, 16);
	if (*end != '-')
		return false;
	*to = strtoull(end + 1, &end, 16);
	if (*end != ')' || *to <= *from)
		return false;
	*p = end + 1;
	return true;
}

/* The ranges at the end of the first line of that title; NULL = none. */
static const char *
ranges_of(const char *text, const char *title)
{
	const char *line = strstr(text, title), *p;

	if (line == NULL || (p = memrchr(line, '=', strcspn(line, "\n"))) ==
	    NULL)
		return NULL;
	return p + 1 + strspn(p + 1, " ");
}

/* A function without debug information is its symbol. */
static void
read_symbol(struct misread_code *c, const char *text)
{
	const char *p = strstr(text, " Symbol: ");
	uint64_t from, to;

	if (p == NULL || (p = strstr(p, "range = [")) == NULL)
		return;
	p += strlen("range = ");
	if (take_range(&p, &from, &to) && from <= c->from && c->from < to) {
		c->from = c->low = from;
		c->to = c->high = to;
	}
}

/*
 * "Function: ..., range = [0x10-0x90)" has one range for all, and "Blocks: ...,
 * ranges = [0x10-0x20)[0x60-0x90)" the parts.  Later versions have several
 * in both.
 */
void
misread_read(struct misread_code *c, const char *text, uint64_t at)
{
	const char *function = ranges_of(text, " Function: ");
	const char *blocks = ranges_of(text, " Blocks: ");
	uint64_t from, to, low, high;
	size_t n;

	*c = (struct misread_code) { at, at + 1, at, at + 1, false };
	if (function == NULL || !take_range(&function, &low, &high) ||
	    at < low || at >= high || *function == '[') {
		read_symbol(c, text);
		return;
	}
	*c = (struct misread_code) { low, high, low, high, false };
	for (n = 0; blocks != NULL && take_range(&blocks, &from, &to); n++)
		if (from <= at && at < to) {
			c->from = from;
			c->to = to;
		}
	c->joined = n > 1;
}

/* -- what is known ------------------------------------------------------ */
static size_t
find(uint64_t at)
{
	size_t i;

	for (i = 0; i < nmet; i++)
		if (met[i].code.from <= at && at < met[i].code.to)
			break;
	return i;
}

/*
 * lldb takes the rules for an address from the function that begins next below
 * it, of those that it has met, if that has the address.
 */
static bool
is_enclosed(const struct misread_code *c, uint64_t at)
{
	const struct misread_code *next = NULL, *m;
	size_t i;

	for (i = 0; i < nmet; i++) {
		m = &met[i].code;
		if (m->low <= at && (next == NULL || m->low > next->low) &&
		    (!met[i].wrong || m->joined))
			next = m;
	}
	return next != NULL && next->joined && at < next->high &&
	    next->low != c->low;
}

static void
add(const struct misread_code *c, uint64_t at)
{
	if (find(at) < nmet)
		return;
	if (nmet == MISREAD_MOST)
		nmet = 0;
	met[nmet].wrong = (c->joined && c->from != c->low) ||
	    is_enclosed(c, at);
	met[nmet++].code = *c;
}

/* -- frames ------------------------------------------------------------- */
static bool
address_of(struct json_object *frames, size_t i, uint64_t *at)
{
	const char *s = jget_str(jat(frames, i),
	    "instructionPointerReference");

	return s != NULL && format_address(s, at);
}

/*
 * Where the frame's code is: callers are one byte before where they go on,
 * which may be in another function.  Inlined functions share their frame's
 * place.
 */
static bool
code_at(struct json_object *frames, size_t i, size_t first, uint64_t *at)
{
	uint64_t top;

	if (!address_of(frames, i, at))
		return false;
	if (*at > 0 && (first > 0 || (address_of(frames, 0, &top) &&
	    *at != top)))
		(*at)--;
	return true;
}

size_t
misread_number(struct json_object *frames, size_t i, size_t first)
{
	uint64_t at;

	return code_at(frames, i, first, &at) ? find(at) : nmet;
}

size_t
misread_frame(struct json_object *frames, size_t n, size_t first)
{
	size_t i, k;

	for (i = 0; i < n && i < jlen(frames); i++)
		if ((k = misread_number(frames, i, first)) < nmet &&
		    met[k].wrong)
			return i;
	return n;
}

/* The function that has the frame, not one that is inlined in it. */
static const char *
name_of(struct json_object *frames, size_t i)
{
	const char *name = jget_str(jat(frames, i), "name");
	uint64_t at, next;

	while (address_of(frames, i, &at) &&
	    address_of(frames, i + 1, &next) && at == next)
		name = jget_str(jat(frames, ++i), "name");
	return name == NULL ? "a function" : name;
}

char *
misread_words(struct json_object *frames, size_t i)
{
	const char *name = name_of(frames, i);
	const size_t k = misread_number(frames, i, 0);
	char *words;

	if (asprintf(&words, "lldb misreads %.*s, which %s: its variables in "
	    "the stack and its callers may be wrong. " MISREAD_REMEDY,
	    (int)format_cut(name, strlen(name), NAME_MOST), name,
	    k < nmet && met[k].code.joined ? "gcc has split" :
	    "is between the parts of a split function") < 0)
		fatal("memory");
	return words;
}

/* -- values ------------------------------------------------------------- */
/*
 * Complex numbers of the type long double have their second part behind the
 * padding of the first, where lldb does not look.
 */
static bool
is_long_complex(const char *type)
{
	static const char *const types[] = { "_Complex long double",
		"complex long double", "std::complex<long double>::_ComplexT" };
	size_t i;

	if (strncmp(type, "const ", 6) == 0)
		type += 6;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

void
misread_mend(struct json_object *dap, const char *name)
{
	const char *type = jget_str(dap, "type");
	const char *key = jget_str(dap, "value") != NULL ? "value" : "result";

	if (type == NULL || jget_str(dap, key) == NULL ||
	    !dialect()->lldb_commands || !is_long_complex(type))
		return;
	if (name == NULL)
		name = jget_str(dap, "evaluateName");
	if (name == NULL && (name = jget_str(dap, "name")) == NULL)
		name = "VALUE";
	jput_fmt(dap, key, "<lldb misreads this type: print __real__ %s, and "
	    "__imag__ %s>", name, name);
}

/* -- learning ----------------------------------------------------------- */
static void
lesson_less(struct lesson *l)
{
	if (--l->pending > 0)
		return;
	l->fn(l->arg);
	free(l);
}

static void
on_code(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct question *q = arg;
	struct misread_code c;

	(void)op;
	if (text != NULL) {
		misread_read(&c, text, q->at);
		add(&c, q->at);
	}
	lesson_less(q->lesson);
	free(q);
}

static void
ask(struct op *op, struct lesson *l, uint64_t at)
{
	struct question *q = malloc(sizeof(*q));

	if (q == NULL)
		return;
	*q = (struct question) { l, at };
	l->pending++;
	repl_ask(op, REPL_NO_FRAME, on_code, q,
	    "image lookup -v -a 0x%" PRIx64, at);
}

void
misread_learn(struct op *op, struct json_object *frames, size_t first,
    void (*fn)(void *), void *arg)
{
	struct lesson *l = malloc(sizeof(*l));
	uint64_t at, last = 0;
	size_t i, n = 0;

	if (l == NULL || !dialect()->lldb_commands) {
		free(l);
		fn(arg);
		return;
	}
	*l = (struct lesson) { fn, arg, 1 };
	for (i = 0; i < jlen(frames) && n < ASKED_MOST; i++) {
		if (!code_at(frames, i, first, &at) || at == last ||
		    find(at) < nmet)
			continue;
		ask(op, l, at);
		last = at;
		n++;
	}
	lesson_less(l);
}
