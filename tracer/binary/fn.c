/* SPDX-License-Identifier: ISC */
/* The functions that have been traced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fn.h"
#include "timeline/store/counters.h"
#include "timeline/store/store.h"
#include "timeline/values/inverse.h"
#include "timeline/values/shape.h"
#include "tracer/engine/arch.h"
#include "tracer/syms/symclient.h"

static struct fn	**fns;
static uint32_t		 nfns, cap;
static struct shapes	*shapes;	/* a predecessor's; NULL = none */

struct fn *
fn_get(uint32_t n)
{
	return n < nfns ? fns[n] : NULL;
}

uint32_t
fn_count(void)
{
	return nfns;
}

static uint32_t
fn_new(void)
{
	uint32_t more = cap == 0 ? 1024 : 2 * cap;
	struct fn **all;

	/* all that there are is below what the timeline can count */
	if (nfns == FN_MAX)
		return FN_NONE;
	if (nfns == cap) {
		all = reallocarray(fns, more, sizeof(*all));
		if (all == NULL)
			return FN_NONE;
		fns = all;
		cap = more;
	}
	if ((fns[nfns] = calloc(1, sizeof(**fns))) == NULL)
		return FN_NONE;
	return nfns++;
}

void
fn_begin(struct store *st, uint32_t first)
{
	shapes = shapes_new(st);
	while (nfns < first && fn_new() != FN_NONE)
		fns[nfns - 1]->stored = true;
}

uint32_t
fn_of(struct binary *b, uint32_t i)
{
	uint32_t n;

	if (b->fns == NULL && (b->fns = calloc(b->ix.header->nfuncs,
	    sizeof(*b->fns))) == NULL)
		return FN_NONE;
	if (b->fns[i] != 0)
		return b->fns[i] - 1;
	if ((n = fn_new()) == FN_NONE)
		return FN_NONE;
	fns[n]->binary = b;
	fns[n]->i = i;
	fns[n]->addr = b->ix.funcs[i].addr;
	fns[n]->size = b->ix.funcs[i].size;
	b->fns[i] = n + 1;
	return n;
}

uint32_t
fn_at(struct binary *b, uint64_t addr, const char *name)
{
	uint32_t n;

	for (n = 0; n < nfns; n++)
		if (fns[n]->binary == b && fns[n]->i == FN_ADDRESS &&
		    fns[n]->addr == addr)
			return n;
	if ((n = fn_new()) == FN_NONE)
		return FN_NONE;
	fns[n]->binary = b;
	fns[n]->i = FN_ADDRESS;
	fns[n]->addr = addr;
	fns[n]->name = strdup(name);
	fn_make_raw(fns[n]);
	return n;
}

const char *
fn_name(const struct fn *f)
{
	if (f->name != NULL)
		return f->name;
	if (f->binary == NULL || f->i == FN_ADDRESS)
		return "";
	return symindex_str(&f->binary->ix, f->binary->ix.funcs[f->i].name);
}

const char *
fn_symbol(const struct fn *f)
{
	if (f->binary == NULL || f->i == FN_ADDRESS)
		return "";
	return symindex_str(&f->binary->ix, f->binary->ix.funcs[f->i].raw);
}

void
fn_make_raw(struct fn *f)
{
	uint32_t i;

	if (f->state == FN_TYPED || f->raw)
		return;
	free(f->enter);
	free(f->leave);
	f->enter = calloc(ARCH_ARGS + 1, sizeof(*f->enter));
	f->leave = calloc(2, sizeof(*f->leave));
	f->raw = true;
	f->state = FN_UNTYPED;
	if (f->enter == NULL || f->leave == NULL)
		return;
	for (i = 0; i < ARCH_ARGS; i++)
		f->enter[i] = (struct capture){ .op = CAP_REG,
		    .reg = arch_arg(i), .len = 8 };
	f->leave[0] = (struct capture){ .op = CAP_REG, .reg = arch_result(),
	    .len = 8 };
	f->nenter = ARCH_ARGS;
	f->nleave = 1;
}

/* -- types ---------------------------------------------------------------- */

/*
 * Copies capture steps; those received have no end and are not aligned.  NULL
 * for none.
 */
static struct capture *
steps(const void *from, size_t n)
{
	struct capture *c = n == 0 ? NULL : calloc(n + 1, sizeof(*c));

	if (c != NULL)
		memcpy(c, from, n * sizeof(*c));
	return c;
}

void
fn_typed(uint32_t n, const struct sym_typed *t)
{
	struct fn *f = fn_get(n);

	if (f == NULL || f->state == FN_TYPED || f->raw)
		return;
	f->state = FN_UNTYPED;
	if (t == NULL || t->desc_len == 0 ||
	    desc_open(&f->desc, t->desc, t->desc_len) == -1)
		return;
	f->state = FN_TYPED;
	f->enter = steps(t->enter, t->nenter);
	f->leave = steps(t->leave, t->nleave);
	f->nenter = f->enter == NULL ? 0 : t->nenter;
	f->nleave = f->leave == NULL ? 0 : t->nleave;
	f->shape = shape_pack(t, &f->shape_len);
	f->entry_only = (f->desc.head->flags & DESC_ENTRY_ONLY) != 0;
}

void
fn_store(struct store *st, uint32_t n)
{
	struct fn *f = fn_get(n);
	const struct sym_func *sf;
	struct store_function s = { .fn = n, .name = fn_name(f),
		.shape = f->shape, .shape_len = f->shape_len };

	if (f->stored)
		return;
	f->stored = true;
	if (f->i != FN_ADDRESS) {
		sf = &f->binary->ix.funcs[f->i];
		s.raw = symindex_str(&f->binary->ix, sf->raw);
		s.file = sf->file == 0 ? NULL :
		    symindex_str(&f->binary->ix, sf->file);
		s.line = sf->line;
	}
	if (f->state == FN_TYPED)
		s.ret_type = desc_return_type(&f->desc);
	(void)store_function(st, &s);
	free(f->shape);
	f->shape = NULL;
}

/* -- values --------------------------------------------------------------- */

static size_t
take(struct render_out *o, char *buf, size_t size)
{
	size_t n = o->bad || o->len > size ? 0 : o->len;

	memcpy(buf, o->buf == NULL ? "" : o->buf, n);
	free(o->buf);
	return n;
}

static size_t
arguments(void *arg, uint32_t n, const void *p, size_t len, char *buf,
    size_t size)
{
	const struct fn *f = fn_get(n);
	struct render_out o = { 0 };

	(void)arg;
	if (f != NULL && f->binary == NULL && shapes != NULL)
		return shapes_arguments(shapes, n, p, len, buf, size);
	if (f == NULL || f->state != FN_TYPED)
		return 0;
	render_args(&f->desc, f->enter, f->nenter, p, len, &o);
	return take(&o, buf, size);
}

static size_t
result(void *arg, uint32_t n, const void *p, size_t len, char *buf,
    size_t size)
{
	const struct fn *f = fn_get(n);
	struct render_out o = { 0 };

	(void)arg;
	if (f != NULL && f->binary == NULL && shapes != NULL)
		return shapes_result(shapes, n, p, len, buf, size);
	if (f == NULL || f->state != FN_TYPED)
		return 0;
	render_result(&f->desc, f->leave, f->nleave, p, len, &o);
	return take(&o, buf, size);
}

const struct store_render fn_render = { arguments, result, NULL };

void
fn_inverse(void *arg, uint32_t n, const struct store_value *v,
    struct store_inverse *inv)
{
	const struct fn *f = fn_get(n);

	(void)arg;
	if (f != NULL && f->binary == NULL && shapes != NULL)
		shapes_inverse(shapes, n, v, inv);
	else if (f == NULL)
		inverse_of(NULL, NULL, 0, v, inv);
	else
		inverse_of(f->state == FN_TYPED ? &f->desc : NULL, f->leave,
		    f->nleave, v, inv);
}
