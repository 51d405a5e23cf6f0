/* SPDX-License-Identifier: ISC */
/* Which functions of a process the patterns choose. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "rows.h"
#include "tracer/binary/address.h"
#include "tracer/binary/fn.h"
#include "tracer/record/timeline.h"

#define LOOK_EACH	16384	/* functions between two looks at rings */

bool
plan_is_usual(const struct binary *b)
{
	return b->exe || b->dwarf;
}

static bool
matters(const struct module *m)
{
	return plan_is_usual(m->binary) || rows_any_raw();
}

bool
plan_read(const struct process *p)
{
	bool all = true;
	size_t i;

	for (i = 0; i < p->nmodules; i++) {
		if (!matters(&p->modules[i]))
			continue;
		binary_read(p->modules[i].binary);
		if (p->modules[i].binary->state == BINARY_READING)
			all = false;
	}
	return all;
}

/* -- choosing ------------------------------------------------------------- */

static struct choice *
put(struct plan *pl, uint32_t fn, uint64_t addr)
{
	size_t more = pl->cap == 0 ? 256 : 2 * pl->cap;
	struct choice *all;

	if (fn == FN_NONE) {
		pl->full = true;
		return NULL;
	}
	if (pl->n == pl->cap) {
		all = reallocarray(pl->v, more, sizeof(*all));
		if (all == NULL) {
			pl->full = true;
			return NULL;
		}
		pl->v = all;
		pl->cap = more;
	}
	pl->v[pl->n] = (struct choice){ .fn = fn, .addr = addr,
	    .same = FN_NONE };
	return &pl->v[pl->n++];
}

static void
note_inlined(struct row *r, const char *name)
{
	if (r->now.inlined < ROW_NAMES)
		r->inlined[r->now.inlined] = name;
	r->now.inlined++;
}

/* Whether a row takes a function; counts the function in the row. */
static bool
row_takes(struct row *r, const struct binary *b, const struct sym_func *f)
{
	const struct symindex *ix = &b->ix;
	const char *name = symindex_str(ix, f->name);

	if (r->pattern == NULL || (!r->raw && !plan_is_usual(b)) ||
	    !pattern_matches(r->pattern, name, symindex_str(ix, f->raw),
	    symindex_str(ix, f->file)))
		return false;
	if (f->addr == 0) {
		if (f->flags & SYM_INLINED)
			note_inlined(r, name);
		return false;
	}
	if ((f->flags & SYM_NO_DWARF) != 0 && !r->raw) {
		/* of a part DWARF tells with the whole */
		if ((f->flags & SYM_COLD) == 0)
			r->now.untyped++;
		return false;
	}
	r->now.matched++;
	return true;
}

static void
take_function(const struct module *m, uint32_t i, uint32_t budget,
    struct plan *pl)
{
	const struct sym_func *f = &m->binary->ix.funcs[i];
	struct choice *c = NULL;
	bool own = false;
	struct row *r;

	TAILQ_FOREACH(r, &rows, entry) {
		if (!row_takes(r, m->binary, f))
			continue;
		if (c == NULL && (c = put(pl, fn_of(m->binary, i),
		    f->addr + module_bias(m))) == NULL)
			return;
		c->raw = c->raw || r->raw;
		/* of several requests the last counts */
		if (r->has_budget || !own)
			c->budget = r->has_budget ? r->budget : budget;
		own = own || r->has_budget;
	}
}

/*
 * Several functions may have the same code.  The one that is watched already
 * stays; else that of which most is known.
 */
static void
mark_same(struct process *p, struct choice *v, size_t n)
{
	size_t best = 0, i;
	const struct fn *f;

	for (i = 0; i < n; i++) {
		f = fn_get(v[i].fn);
		if (v[i].fn < p->nhooks && p->hooks[v[i].fn].state ==
		    HOOK_ON) {
			best = i;
			break;
		}
		if (f->i != FN_ADDRESS && f->binary->ix.funcs[f->i].die != 0 &&
		    fn_get(v[best].fn)->i != FN_ADDRESS &&
		    f->binary->ix.funcs[fn_get(v[best].fn)->i].die == 0)
			best = i;
	}
	for (i = 0; i < n; i++)
		if (i != best)
			v[i].same = v[best].fn;
}

static int
by_addr(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

static void
find_same(struct process *p, struct plan *pl)
{
	size_t i, j;

	if (pl->n > 1)
		qsort(pl->v, pl->n, sizeof(*pl->v), by_addr);
	for (i = 0; i < pl->n; i = j) {
		for (j = i + 1; j < pl->n && pl->v[j].addr == pl->v[i].addr;
		    j++)
			;
		if (j - i > 1)
			mark_same(p, &pl->v[i], j - i);
	}
}

/* -- addresses ------------------------------------------------------------ */

static uint32_t
known_at(const struct module *m, uint64_t addr)
{
	const struct sym_func *f = symindex_at(&m->binary->ix, addr);

	return f == NULL || f->addr != addr ? FN_ADDRESS :
	    (uint32_t)(f - m->binary->ix.funcs);
}

static void
take_address(struct process *p, struct row *r, uint32_t budget,
    struct plan *pl)
{
	const struct module *m;
	struct choice *c;
	uint64_t addr;
	uint32_t i;

	m = address_find(p, r->text, &addr);
	if (m == NULL)
		return;
	r->now.matched++;
	i = known_at(m, addr);
	c = put(pl, i == FN_ADDRESS ? fn_at(m->binary, addr, r->text) :
	    fn_of(m->binary, i), addr + module_bias(m));
	if (c == NULL)
		return;
	c->raw = true;
	c->budget = r->has_budget ? r->budget : budget;
}

/* -- both ----------------------------------------------------------------- */

void
plan_make(struct process *p, uint32_t budget, struct plan *pl)
{
	struct row *r;
	uint32_t f;
	size_t i;

	rows_count();
	for (i = 0; i < p->nmodules; i++)
		if (p->modules[i].binary->state == BINARY_READY &&
		    matters(&p->modules[i]))
			for (f = 0; f < p->modules[i].binary->ix.header->nfuncs;
			    f++) {
				take_function(&p->modules[i], f, budget, pl);
				/* rings fill meanwhile */
				if (f % LOOK_EACH == LOOK_EACH - 1)
					timeline_read();
			}
	TAILQ_FOREACH(r, &rows, entry)
		if (r->pattern == NULL)
			take_address(p, r, budget, pl);
	rows_counted();
	find_same(p, pl);
}

bool
plan_typed(const struct plan *pl)
{
	const struct choice *c;
	bool all = true;
	struct fn *f;
	size_t i;

	for (i = 0; i < pl->n; i++) {
		c = &pl->v[i];
		f = fn_get(c->fn);
		if (c->same != FN_NONE)
			continue;
		if (f->state == FN_BARE && f->i != FN_ADDRESS)
			binary_type(f->binary, f->i, c->fn);
		if (f->state == FN_UNTYPED && c->raw)
			fn_make_raw(f);
		if (f->state == FN_BARE || f->state == FN_ASKED)
			all = false;
	}
	if (!all)
		binary_type_all();
	return all;
}

void
plan_free(struct plan *pl)
{
	free(pl->v);
	memset(pl, 0, sizeof(*pl));
}
