/* SPDX-License-Identifier: ISC */
/* Finds the captures of results that are shown as a given value. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inverse.h"

#define EXACT_MOST	9007199254740992.0	/* 2^53 */

/* A result's only node, and how it lies in its only capture. */
struct lone {
	const struct desc *d;
	const struct desc_node *n;
	const struct capture *steps;
	size_t	 nsteps;
	const struct store_value *v;
	struct store_inverse *inv;
};

static bool
is_text(const struct store_value *v)
{
	return v->type == STORE_STRING;
}

/*
 * Words of one capture whose bytes from off on are u.  A capture that is no
 * larger than that has no other bits.
 */
static void
set_word(const struct lone *l, uint64_t u, bool exact)
{
	const struct desc_value *val = &l->d->values[l->d->head->nargs];
	const struct desc_part *p = &l->d->parts[val->part];
	const struct desc_node *n = l->n;
	uint64_t mask, off;

	l->inv->found = FOUND_PERHAPS;
	if (val->nparts != 1 || l->nsteps != 1 || p->step != 0 ||
	    p->step_off != 0 || n->flags & DESC_BITS || n->size == 0 ||
	    n->size > 8 || l->steps[0].len > 8 || n->off < p->off)
		return;
	off = n->off - p->off;
	if (off + n->size > p->len || off + n->size > l->steps[0].len)
		return;
	mask = n->size < 8 ? (UINT64_C(1) << (8 * n->size)) - 1 : UINT64_MAX;
	l->inv->found = FOUND_WORD;
	l->inv->exact = exact;
	l->inv->wanted = (u & mask) << (8 * off);
	l->inv->mask = l->steps[0].len == n->size ? UINT64_MAX :
	    mask << (8 * off);
}

/* -- numbers -------------------------------------------------------------- */
static void
find_signed(const struct lone *l)
{
	int64_t n = (int64_t)l->v->integer;
	unsigned int bits = 8 * l->n->size;

	if (l->v->negative != (n < 0))
		return;
	if (bits < 64 && n >> (bits - 1) != (n < 0 ? -1 : 0))
		return;
	set_word(l, l->v->integer, true);
}

static void
find_integer(const struct lone *l)
{
	double whole = l->v->real < 0 ? -l->v->real : l->v->real;

	/* beyond 64 bits they are shown as text */
	if (is_text(l->v) && l->n->size > 8)
		l->inv->found = FOUND_PERHAPS;
	/* of the large ones several are equal to one double */
	if (l->v->type == STORE_REAL && whole >= EXACT_MOST)
		l->inv->found = FOUND_PERHAPS;
	if (l->v->type != STORE_INTEGER)
		return;
	if (l->n->size > 8 || l->n->size == 0 || l->n->flags & DESC_BITS)
		l->inv->found = FOUND_PERHAPS;
	else if (l->n->kind == DESC_SINT)
		find_signed(l);
	else if (!l->v->negative && (l->n->size == 8 ||
	    l->v->integer >> (8 * l->n->size) == 0))
		set_word(l, l->v->integer, true);
}

static void
find_float(const struct lone *l)
{
	double d = l->v->real;
	float f = (float)d;
	uint64_t u = 0;

	if (is_text(l->v))
		l->inv->found = FOUND_PERHAPS;	/* "NaN" and the like */
	if (l->v->type != STORE_INTEGER && l->v->type != STORE_REAL)
		return;
	if (l->n->size == sizeof(f))
		memcpy(&u, &f, sizeof(f));
	else
		memcpy(&u, &d, sizeof(d));
	/* zero has two signs, and digits are cut in ways of their own */
	if (d - d != 0 || u << 1 == 0 || l->n->size == 16 ||
	    l->n->size == sizeof(f))
		l->inv->found = FOUND_PERHAPS;
	else
		set_word(l, u, false);
}

static void
find_bool(const struct lone *l)
{
	if (l->v->type == STORE_BOOL)
		l->inv->found = FOUND_PERHAPS;
}

/* As it is written, "0x" and no zero too many; false: it is none. */
static bool
address_of(const struct store_value *v, uint64_t *u)
{
	char text[24], again[24];

	if (!is_text(v) || v->len >= sizeof(text))
		return false;
	memcpy(text, v->s, v->len);
	text[v->len] = '\0';
	if (strncmp(text, "0x", 2) != 0)
		return false;
	*u = strtoull(text, NULL, 16);
	(void)snprintf(again, sizeof(again), "0x%" PRIx64, *u);
	return strcmp(text, again) == 0;
}

static void
find_pointer(const struct lone *l)
{
	uint64_t u;

	if (address_of(l->v, &u) && (l->n->size >= 8 ||
	    u >> (8 * l->n->size) == 0))
		set_word(l, u, true);
}

/* -- names and strings ---------------------------------------------------- */
/* Bytes that are no text are shown as such. */
static bool
may_be_escaped(const struct store_value *v)
{
	return memmem(v->s, v->len, "\\x", 2) != NULL;
}

static void
find_enum(const struct lone *l)
{
	const struct desc_enum *e = l->d->enums + l->n->enum_first;
	const char *name;
	uint64_t u = 0;
	size_t i, n = 0;

	if (l->v->type == STORE_INTEGER)
		set_word(l, l->v->integer, false);
	else if (l->v->type == STORE_REAL)
		l->inv->found = FOUND_PERHAPS;
	if (!is_text(l->v))
		return;
	for (i = 0; i < l->n->enum_count; i++) {
		name = l->d->strs + e[i].name;
		if (strlen(name) != l->v->len ||
		    memcmp(name, l->v->s, l->v->len) != 0)
			continue;
		u = e[i].low | (uint64_t)e[i].high << 32;
		n++;
	}
	if (n == 1)
		set_word(l, u, false);
	else if (n > 1 || may_be_escaped(l->v))
		l->inv->found = FOUND_PERHAPS;
}

/* In the last capture, behind n bytes. */
static void
set_bytes(const struct lone *l, const void *before, size_t n)
{
	struct store_inverse *inv = l->inv;

	if (!is_text(l->v))
		return;
	inv->found = FOUND_PERHAPS;
	if (l->n->step + (size_t)1 != l->nsteps || may_be_escaped(l->v) ||
	    l->v->len > STORE_BYTES_MAX - n)
		return;
	inv->found = FOUND_BYTES;
	memcpy(inv->bytes, before, n);
	memcpy(inv->bytes + n, l->v->s, l->v->len);
	inv->len = n + l->v->len;
}

static void
find_string(const struct lone *l)
{
	set_bytes(l, "", 0);
}

static void
find_counted(const struct lone *l)
{
	uint64_t n = l->v->len;

	if (l->n->step < l->nsteps && l->steps[l->n->step].scale != 1) {
		if (is_text(l->v))
			l->inv->found = FOUND_PERHAPS;
		return;
	}
	set_bytes(l, &n, sizeof(n));
}

/* -- what has parts ------------------------------------------------------- */
static void
find_text(const struct lone *l)
{
	if (is_text(l->v))
		l->inv->found = FOUND_PERHAPS;
}

static void
find_compound(const struct lone *l)
{
	if (is_text(l->v) || l->v->type == STORE_COMPOUND)
		l->inv->found = FOUND_PERHAPS;
}

static void
find_null(const struct lone *l)
{
	if (l->v->type == STORE_NULL)
		l->inv->found = FOUND_PERHAPS;
}

static void	(*const finders[DESC_KINDS])(const struct lone *) = {
	[DESC_NULL] = find_null,	[DESC_SINT] = find_integer,
	[DESC_UINT] = find_integer,	[DESC_BOOL] = find_bool,
	[DESC_FLOAT] = find_float,	[DESC_CHAR] = find_text,
	[DESC_POINTER] = find_pointer,	[DESC_STRING] = find_string,
	[DESC_CHARS] = find_text,	[DESC_TEXT] = find_counted,
	[DESC_SLICE] = find_compound,	[DESC_ARRAY] = find_compound,
	[DESC_ENUM] = find_enum,	[DESC_STRUCT] = find_compound,
	[DESC_TUPLE] = find_compound,	[DESC_NESTED] = find_text,
	[DESC_VARIANTS] = find_compound, [DESC_VARIANT] = find_compound,
	[DESC_LOST] = find_text,
};

/* The first capture as a hexadecimal number. */
static void
find_words(const struct capture *steps, size_t nsteps,
    const struct store_value *v, struct store_inverse *inv)
{
	uint64_t u;

	if (!is_text(v))
		return;
	inv->found = FOUND_PERHAPS;
	if (nsteps != 1 || steps[0].len > 8 || !address_of(v, &u))
		return;
	inv->found = FOUND_WORD;
	inv->exact = true;
	inv->wanted = u;
	inv->mask = UINT64_MAX;
}

void
inverse_of(const struct desc *d, const struct capture *steps, size_t nsteps,
    const struct store_value *v, struct store_inverse *inv)
{
	struct lone l = { .d = d, .steps = steps, .nsteps = nsteps, .v = v,
		.inv = inv };

	inv->found = FOUND_NEVER;
	if (d == NULL) {
		find_words(steps, nsteps, v, inv);
		return;
	}
	if (d->head->nresults == 0) {
		find_null(&l);
		return;
	}
	l.n = &d->nodes[d->values[d->head->nargs].node];
	finders[l.n->kind](&l);
}
