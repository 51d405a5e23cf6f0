/* SPDX-License-Identifier: ISC */
/* Types of one function: its parameters, their places, and their meaning. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dw.h"
#include "loc.h"
#include "maker.h"
#include "ranges.h"

#define PARAMS_MAX	32
#define ORIGINS_MAX	4
#define CAPTURED_MAX	8

struct param {
	const char	*name;
	size_t		 name_len;
	uint64_t	 place;		/* of its first DIE */
	uint64_t	 type;
	bool		 result;	/* of Go */
	bool		 artificial;
	bool		 told;		/* where it is, or that it is nowhere */
	struct loc	 loc;
	struct place	 at;
};

/* A variable that a closure of Rust has from around it. */
struct upvar {
	uint64_t	 type;
	bool		 held;		/* else there is a pointer to them */
	bool		 word;		/* by reference */
};

enum go_told {
	GO_NOTHING,		/* it has no bytes, or is a result */
	GO_UNKNOWN,
	GO_PARTLY,		/* it has a place, but for a part alone */
	GO_AGREES,
	GO_MOVED
};

struct func {
	struct unit	*unit;
	uint64_t	 type;		/* of its result */
	uint64_t	 low;
	const char	*linkage;
	struct param	 params[PARAMS_MAX];
	size_t		 n, next;
	bool		 external;
	bool		 cfa_base;	/* LOC_CFA is the CFA */
	bool		 copy;		/* with other parameters than it had */
	bool		 variadic;
	bool		 closure;
	struct upvar	 captured[CAPTURED_MAX];
	size_t		 ncaptured;
};

/* A parameter of a copy is told by that of the function it is a copy of. */
static void
follow(struct dwarf *d, struct param *p, uint64_t origin)
{
	struct die_info i;
	struct die die;
	unsigned int n;

	for (n = 0; n < ORIGINS_MAX && origin != 0; n++) {
		if (!die_at(d, origin, &die) || !die_info_read(d, &die, &i))
			return;
		if (p->name == NULL) {
			p->name = i.name;
			p->name_len = i.name_len;
		}
		if (p->type == 0)
			p->type = i.type;
		origin = i.origin;
	}
}

/* Copies have what is left of the parameters first, and the rest after it. */
static struct param *
param_of(struct func *f, uint64_t origin)
{
	size_t i;

	for (i = 0; origin != 0 && i < f->n; i++) {
		if (f->params[i].place != origin)
			continue;
		if (i < f->next)
			f->copy = true;
		f->next = i + 1;
		return &f->params[i];
	}
	return f->n == PARAMS_MAX ? NULL : &f->params[f->n++];
}

static void
set_param(struct dwarf *d, const struct func *f, struct param *p,
    const struct die *die, const struct die_info *i, bool code)
{
	size_t n;

	if (p->place == 0) {
		*p = (struct param) { .name = i->name,
		    .name_len = i->name_len, .place = die->place,
		    .type = i->type, .result = i->variable,
		    .artificial = i->artificial };
		follow(d, p, i->origin);
	}
	if (!code)
		return;
	p->told = true;
	p->loc.kind = LOC_CONSTANT;
	p->loc.constant = i->constant;
	if (!i->has_value)
		loc_at(d, f->unit, &i->location, f->low, &p->loc);
	/* where parameters are assigned to, not all of them were passed */
	for (n = 0; n < p->loc.n && p->loc.kind == LOC_REGS; n++)
		if (p->loc.pieces[n].constant &&
		    unit_lang(f->unit) != SYM_LANG_RUST)
			p->loc.kind = LOC_VALUE;
}

static unsigned int
next_op(struct cursor *c)
{
	return cur_left(c) > 0 ? cur_u8(c) : 0;
}

/* Where it is within what was passed, or behind it. */
static void
note_captured(struct func *f, const struct die_info *i)
{
	const struct span expr = { .p = i->location.p,
	    .len = i->location.len };
	struct cursor c = cur_at(&expr, 0);
	struct upvar *v;
	unsigned int op;

	if (f->ncaptured == CAPTURED_MAX)
		return;
	v = &f->captured[f->ncaptured++];
	*v = (struct upvar) { .type = i->type };
	if (i->location.cls != VAL_BLOCK || next_op(&c) != DW_OP_fbreg)
		return;
	(void)cur_sleb(&c);
	op = next_op(&c);
	v->held = op != DW_OP_deref;
	if (op == DW_OP_plus_uconst) {
		(void)cur_uleb(&c);
		op = next_op(&c);
	}
	v->word = op == DW_OP_deref;
}

/* code: of the DIE that has the function's code. */
static void
read_params(struct dwarf *d, struct func *f, uint64_t place, bool code)
{
	struct children ch;
	struct die_info i;
	struct die die;
	struct param *p;

	f->next = 0;
	(void)children_of(d, place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (die.abbrev->tag == DW_TAG_unspecified_parameters)
			f->variadic = true;
		if (code && f->closure && die.abbrev->tag == DW_TAG_variable)
			note_captured(f, &i);
		if (die.abbrev->tag != DW_TAG_formal_parameter)
			continue;
		p = param_of(f, i.origin);
		if (p != NULL)
			set_param(d, f, p, &die, &i, code);
	}
}

/* In the order of what was written, then where the code has them. */
static void
read_all_params(struct dwarf *d, struct func *f, uint64_t place,
    uint64_t origin)
{
	size_t i, n = 0;

	if (origin != 0)
		read_params(d, f, origin, false);
	read_params(d, f, place, true);
	for (i = 0; i < f->n; i++) {
		/* a constructor's, for those of derived classes alone */
		if (!f->params[i].told && f->params[i].artificial)
			continue;
		if (!f->params[i].told)
			f->copy = true;
		f->params[n++] = f->params[i];
	}
	f->n = n;
}

static bool
read_func(struct dwarf *d, uint64_t place, struct func *f)
{
	struct func_info info;
	struct die_info i;
	struct die die;
	uint64_t origin, high, abstract = 0;
	unsigned int n;
	bool more;

	memset(f, 0, sizeof(*f));
	if (!die_at(d, place, &die) || die.abbrev->tag != DW_TAG_subprogram)
		return false;
	f->unit = die.unit;
	func_read(d, &die, &info);
	f->linkage = info.linkage;
	f->external = info.external;
	f->cfa_base = info.cfa_base;
	f->low = info.low;
	/* in two parts, of which the first is called */
	if (!info.has_low)
		(void)ranges_first(d, f->unit, &info.ranges, &f->low, &high,
		    &more);
	origin = place;
	for (n = 0; n < ORIGINS_MAX && origin != 0; n++) {
		if (!die_at(d, origin, &die) || !die_info_read(d, &die, &i))
			break;
		if (i.name != NULL && strncmp(i.name, "{closure", 8) == 0)
			f->closure = unit_lang(f->unit) == SYM_LANG_RUST;
		if (n == 0 && i.abstract)
			abstract = i.origin;
		if (f->type == 0)
			f->type = i.type;
		origin = i.origin;
	}
	read_all_params(d, f, place, abstract);
	return true;
}

/* The second number of rustc's version; what is not known is new. */
static unsigned long
rust_version(const struct unit *u)
{
	const char *v = u->producer == NULL ? NULL :
	    strstr(u->producer, "rustc version 1.");

	return v == NULL ? ULONG_MAX : strtoul(v + 16, NULL, 10);
}

static enum abi_kind
abi_of(const struct func *f, enum sym_lang lang)
{
	const char *l = f->linkage;

	if (lang == SYM_LANG_GO)
		return l != NULL && strstr(l, ".abi0") != NULL ?
		    ABI_GO_STACK : ABI_GO;
	/* what has a plain name is extern "C" */
	if (lang == SYM_LANG_RUST && l != NULL && (strncmp(l, "_ZN", 3) == 0 ||
	    strncmp(l, "_R", 2) == 0))
		return ABI_RUST;
	return ABI_SYSV;
}

/* Whether those bits are all of so many bytes; of a bool one is enough. */
static bool
is_whole(uint64_t bits, uint64_t len, bool truth)
{
	uint64_t all = len < 8 ? (UINT64_C(1) << (len * 8)) - 1 : UINT64_MAX;

	return (bits & all) == all || (truth && (bits & all) == 1);
}

/* Numbers 17 and up are vector registers. */
static bool
set_piece(struct piece *to, const struct loc_piece *p, const struct type *t)
{
	bool vec = !p->constant && p->reg >= 17 && p->reg < 17 + 16;
	uint64_t len = p->len != 0 ? p->len : t->size;

	if (len == 0 || len > (vec ? 16 : 8) || (!p->constant &&
	    ((!vec && p->reg > 15) ||
	    !is_whole(p->value, len, t->kind == TYPE_BOOL))))
		return false;
	*to = (struct piece) { .vec = vec, .constant = p->constant,
	    .reg = (uint8_t)(vec ? p->reg - 17 : p->reg),
	    .value = p->constant ? p->value : 0,
	    .off = p->off, .len = (uint16_t)len };
	return true;
}

/*
 * Nothing is passed in other registers: gcc names some for wide integers that
 * it has divided later.
 */
static bool
is_passed(const struct loc *l)
{
	static const uint32_t passing = 1U << 1 | 1U << 2 | 1U << 4 | 1U << 5 |
	    1U << 8 | 1U << 9 | 0xffU << 17;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!l->pieces[i].constant && (l->pieces[i].reg > 31 ||
		    (passing >> l->pieces[i].reg & 1) == 0))
			return false;
	if (l->kind == LOC_MEMORY)
		return l->base == LOC_BREG && l->reg <= 31 &&
		    (passing >> l->reg & 1) != 0;
	return l->kind == LOC_REGS;
}

static void
set_regs(struct param *p, const struct type *t)
{
	size_t i;

	memset(&p->at, 0, sizeof(p->at));
	p->at.kind = AT_LOST;
	for (i = 0; i < p->loc.n; i++)
		if (!set_piece(&p->at.pieces[i], &p->loc.pieces[i], t))
			return;
	p->at.n = p->loc.n;
	p->at.kind = AT_REGS;
}

static void
set_memory(struct param *p, enum place_kind kind, unsigned int reg, int64_t off)
{
	memset(&p->at, 0, sizeof(p->at));
	p->at.kind = AT_LOST;
	if (off > INT32_MAX / 4 || off < INT32_MIN / 4)
		return;
	p->at.kind = kind;
	p->at.reg = (uint8_t)reg;
	p->at.off = (int32_t)off;
}

/* The place that DWARF tells.  Arguments on the stack begin at the CFA. */
static void
set_place(const struct func *f, struct param *p, const struct type *t)
{
	if (p->loc.kind == LOC_MEMORY && p->loc.base == LOC_CFA &&
	    p->loc.off >= 0 && f->cfa_base)
		set_memory(p, AT_STACK, REG_RSP, p->loc.off + 8);
	else if (!is_passed(&p->loc))
		set_memory(p, AT_LOST, 0, 0);
	else if (p->loc.kind == LOC_MEMORY)
		set_memory(p, AT_MEM, p->loc.reg, p->loc.off);
	else
		set_regs(p, t);
}

static bool
same_piece(const struct piece *a, const struct loc_piece *b)
{
	return !a->stack && a->off == b->off && !b->constant &&
	    (a->vec ? a->reg + 17U : a->reg) == b->reg;
}

static bool
differs_from(const struct param *p)
{
	size_t i, j;

	for (i = 0; i < p->loc.n; i++) {
		for (j = 0; j < p->at.n; j++)
			if (same_piece(&p->at.pieces[j], &p->loc.pieces[i]))
				break;
		if (j == p->at.n)
			return true;
	}
	return false;
}

/* Whether DWARF names other registers than the convention does. */
static bool
differs(const struct param *p)
{
	if (!is_passed(&p->loc))
		return false;
	if (p->loc.kind == LOC_MEMORY)
		return p->at.kind != AT_MEM || p->at.reg != p->loc.reg;
	if (p->at.kind == AT_MEM)
		return p->at.reg != p->loc.pieces[0].reg;
	if (p->at.kind != AT_REGS)
		return p->at.kind == AT_STACK;
	return differs_from(p);
}

/* A constant of the whole function is not passed at all. */
static bool
set_constant(struct param *p, uint64_t size)
{
	const struct val *v = &p->loc.constant;

	memset(&p->at, 0, sizeof(p->at));
	p->at.kind = AT_LOST;
	if (v->cls == VAL_BLOCK && v->len == size &&
	    size <= sizeof(p->at.bytes))
		memcpy(p->at.bytes, v->p, size);
	else if ((v->cls == VAL_UINT || v->cls == VAL_SINT) &&
	    size <= sizeof(v->u))
		memcpy(p->at.bytes, &v->u, sizeof(v->u));
	else
		return false;
	p->at.kind = AT_CONSTANT;
	return true;
}

/* Structures that come by address get their place after a few instructions. */
static bool
is_there(const struct param *p)
{
	return p->loc.kind == LOC_REGS || p->loc.kind == LOC_MEMORY ||
	    (p->loc.kind == LOC_LATER && p->at.kind == AT_MEM);
}

/*
 * Compilers may change how a function is called that no other unit calls: leave
 * out parameters, or pass them in other registers.  For such functions, trust
 * the locations; a parameter that has none at function entry is not passed.
 */
static void
believe_locations(struct dwarf *d, struct func *f)
{
	struct param *p;
	struct type t;
	bool moved = f->copy;
	size_t i;

	for (i = 0; i < f->n; i++)
		moved = moved || differs(&f->params[i]);
	for (p = f->params; p < f->params + f->n; p++) {
		type_read(d, p->type, &t);
		if (p->loc.kind == LOC_CONSTANT && t.size != 0 &&
		    set_constant(p, t.size))
			continue;
		if (t.size == 0 && p->at.kind == AT_NOWHERE)
			continue;
		if (moved || (!f->external && p->at.kind == AT_REGS &&
		    p->loc.kind == LOC_REGS))
			set_place(f, p, &t);
		else if (!f->external && !is_there(p) && t.size != 0)
			p->at.kind = AT_LOST;
	}
}

static unsigned int
dwarf_reg(const struct piece *p)
{
	return p->vec ? p->reg + 17U : p->reg;
}

/*
 * How what DWARF tells of one of Go's parameters goes with the convention.
 * Go gives no pieces for what is not used, and wrong offsets where there is
 * padding: only the registers in their order count, and only all of them.
 */
static enum go_told
go_told(const struct param *p, const struct type *t)
{
	const struct loc *l = &p->loc;
	size_t i;

	if (l->kind == LOC_MEMORY && l->base == LOC_CFA && l->off >= 0) {
		if (p->at.kind == AT_STACK && p->at.off == l->off + 8)
			return GO_AGREES;
		return t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY ?
		    GO_PARTLY : GO_MOVED;
	}
	if (l->kind != LOC_REGS)
		return GO_UNKNOWN;
	if (p->at.kind != AT_REGS || p->at.n != l->n)
		return p->at.kind == AT_REGS ? GO_PARTLY : GO_MOVED;
	for (i = 0; i < l->n; i++)
		if (dwarf_reg(&p->at.pieces[i]) != l->pieces[i].reg)
			return GO_MOVED;
	return GO_AGREES;
}

/* The convention says how it is divided, DWARF where the parts are. */
static void
go_move(struct dwarf *d, struct param *p)
{
	const struct loc *l = &p->loc;
	struct place at;
	struct abi a;
	size_t i;
	bool vec;

	if (l->kind == LOC_MEMORY) {
		set_memory(p, AT_STACK, REG_RSP, l->off + 8);
		return;
	}
	abi_init(&a, d, ABI_GO);
	abi_argument(&a, p->type, &at);
	set_memory(p, AT_LOST, 0, 0);
	if (at.kind != AT_REGS || at.n != l->n)
		return;
	for (i = 0; i < l->n; i++) {
		vec = l->pieces[i].reg >= 17;
		if (vec != at.pieces[i].vec || l->pieces[i].reg > 31)
			return;
		at.pieces[i].reg = (uint8_t)(l->pieces[i].reg - (vec ? 17 : 0));
	}
	p->at = at;
}

static bool
has_class(const struct place *at, bool vec)
{
	size_t i;

	for (i = 0; i < at->n; i++)
		if (at->pieces[i].vec == vec)
			return true;
	return false;
}

/* The next one is where the convention has it, so this one is too. */
static bool
is_followed(const struct func *f, const enum go_told *told, size_t at)
{
	const struct place *p = &f->params[at].at;
	bool ints = has_class(p, false), vecs = has_class(p, true);
	bool stack = p->kind == AT_STACK;
	size_t i;

	for (i = at + 1; i < f->n; i++) {
		if (told[i] != GO_AGREES)
			continue;
		ints = ints && !has_class(&f->params[i].at, false);
		vecs = vecs && !has_class(&f->params[i].at, true);
		stack = stack && f->params[i].at.kind != AT_STACK;
	}
	return !ints && !vecs && !stack;
}

/*
 * Go's debug information leaves out parameters without a name, and those that
 * it makes itself, which are passed all the same.  So the places that it tells
 * are believed, and where they are not whole the convention, if none is missing.
 */
static void
believe_go(struct dwarf *d, struct func *f)
{
	enum go_told told[PARAMS_MAX];
	struct param *p;
	struct type t;
	bool moved = false;
	size_t i;

	for (i = 0; i < f->n; i++) {
		p = &f->params[i];
		type_read(d, p->type, &t);
		told[i] = p->result || p->at.kind == AT_NOWHERE ? GO_NOTHING :
		    go_told(p, &t);
		moved = moved || told[i] == GO_MOVED;
	}
	for (i = 0; i < f->n; i++) {
		p = &f->params[i];
		if (told[i] == GO_UNKNOWN || (told[i] == GO_PARTLY &&
		    (moved || !is_followed(f, told, i))))
			set_memory(p, AT_LOST, 0, 0);
		else if (told[i] == GO_MOVED)
			go_move(d, p);
	}
}

/*
 * The first argument of a closure is what it has captured.  DWARF lists the
 * captured variables instead: one or two in registers, or a pointer to all.
 */
static void
place_captured(struct abi *a, const struct func *f)
{
	struct place p;
	bool held = false;
	size_t i;

	for (i = 0; i < f->ncaptured; i++)
		held = held || f->captured[i].held;
	if (!held && f->ncaptured > 0)
		abi_word(a);
	for (i = 0; held && i < f->ncaptured; i++)
		if (f->captured[i].word)
			abi_word(a);
		else
			abi_argument(a, f->captured[i].type, &p);
}

/* Implements Fn, FnMut or FnOnce, by its name in both forms of mangling. */
static bool
is_rust_call(const struct func *f)
{
	const char *l = f->linkage;

	return l != NULL && (strstr(l, "ops..function..Fn") != NULL ||
	    strstr(l, "3ops8function") != NULL) &&
	    (strstr(l, "4call") != NULL || strstr(l, "8call_mut") != NULL ||
	    strstr(l, "9call_once") != NULL);
}

static void
place_all(struct dwarf *d, struct func *f, enum sym_lang lang,
    struct place *result)
{
	enum abi_kind kind = abi_of(f, lang);
	const bool tuple = kind == ABI_RUST && f->n == 2 && is_rust_call(f);
	struct abi a;
	size_t i;

	abi_init(&a, d, kind);
	/* since then what needs three registers is returned in memory */
	a.two_words = rust_version(f->unit) >= 85;
	/* since LLVM 18 */
	a.unsplit = rust_version(f->unit) >= 78;
	abi_result(&a, f->type, result);
	place_captured(&a, f);
	for (i = 0; i < f->n; i++)
		if (tuple && i == 1)
			abi_tuple(&a, f->params[i].type, &f->params[i].at);
		else if (!f->params[i].result)
			abi_argument(&a, f->params[i].type,
			    &f->params[i].at);
	/* whatever is not for others' use, the linker makes internal */
	if (kind == ABI_RUST)
		f->external = false;
	if (kind == ABI_SYSV || kind == ABI_RUST)
		believe_locations(d, f);
	else
		believe_go(d, f);
}

void
typed_make(struct dwarf *d, uint64_t die, struct typed *t)
{
	static struct maker m;
	static struct func f;
	enum sym_lang lang;
	struct place result;
	char name[160];
	size_t i;

	memset(t, 0, sizeof(*t));
	d->work = 0;
	if (!read_func(d, die, &f))
		return;
	lang = unit_lang(f.unit);
	place_all(d, &f, lang, &result);
	maker_init(&m, d, lang);
	maker_steps(&m, t->enter);
	for (i = 0; i < f.n; i++)
		if (!f.params[i].result && maker_value(&m, f.params[i].name,
		    f.params[i].name_len, f.params[i].type,
		    &f.params[i].at))
			m.head.nargs++;
	t->nenter = m.nsteps;
	maker_steps(&m, t->leave);
	if (lang == SYM_LANG_GO)
		m.head.flags |= DESC_ENTRY_ONLY;
	else if (maker_value(&m, NULL, 0, f.type, &result))
		m.head.nresults = 1;
	t->nleave = m.nsteps;
	m.head.flags |= f.variadic ? DESC_VARIADIC : 0;
	i = type_name(d, f.type, lang, name, sizeof(name));
	m.head.return_type = f.type == 0 ? maker_str(&m, "null", 4) :
	    maker_str(&m, name, i);
	t->desc_len = maker_finish(&m, t->desc, sizeof(t->desc));
	if (t->desc_len == 0)
		t->nenter = t->nleave = 0;
}
