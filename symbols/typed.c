/* SPDX-License-Identifier: ISC */
/* One function: its parameters, their places, and what they mean. */
#include <stdlib.h>
#include <string.h>

#include "dw.h"
#include "loc.h"
#include "maker.h"

#define PARAMS_MAX	32
#define ORIGINS_MAX	4

struct param {
	const char	*name;
	size_t		 name_len;
	uint64_t	 type;
	bool		 result;	/* of Go */
	enum loc_kind	 loc;
	unsigned int	 reg;
	struct place	 place;
};

struct func {
	struct unit	*unit;
	uint64_t	 place;
	uint64_t	 type;		/* of its result */
	uint64_t	 low;
	const char	*linkage;
	struct param	 params[PARAMS_MAX];
	size_t		 n;
	bool		 variadic;
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

static void
read_params(struct dwarf *d, struct func *f, uint64_t place)
{
	struct children ch;
	struct die_info i;
	struct die die;
	struct param *p;

	(void)children_of(d, place, &ch);
	while (f->n < PARAMS_MAX && children_next(&ch, &die, &i)) {
		if (die.abbrev->tag == DW_TAG_unspecified_parameters)
			f->variadic = true;
		if (die.abbrev->tag != DW_TAG_formal_parameter)
			continue;
		p = &f->params[f->n++];
		*p = (struct param) { .name = i.name, .name_len = i.name_len,
		    .type = i.type, .result = i.variable };
		follow(d, p, i.origin);
		p->loc = loc_at(d, f->unit, &i.location, f->low, &p->reg);
		/* a constant is not passed at all */
		if (i.has_value)
			p->loc = LOC_NONE;
	}
}

static bool
read_func(struct dwarf *d, uint64_t place, struct func *f)
{
	struct func_info info;
	struct die_info i;
	struct die die;
	uint64_t origin;
	unsigned int n;

	memset(f, 0, sizeof(*f));
	if (!die_at(d, place, &die) || die.abbrev->tag != DW_TAG_subprogram)
		return false;
	f->unit = die.unit;
	f->place = place;
	func_read(d, &die, &info);
	f->linkage = info.linkage;
	origin = place;
	for (n = 0; n < ORIGINS_MAX && origin != 0; n++) {
		if (!die_at(d, origin, &die) || !die_info_read(d, &die, &i))
			break;
		if (n == 0 && i.low_pc.cls == VAL_ADDR)
			f->low = i.low_pc.u;
		if (f->type == 0)
			f->type = i.type;
		if (f->n == 0)
			read_params(d, f, origin);
		origin = i.origin;
	}
	return true;
}

/* Since Rust 1.85 what needs three registers is returned in memory. */
static bool
returns_two_words(const struct unit *u)
{
	const char *v = u->producer == NULL ? NULL :
	    strstr(u->producer, "rustc version 1.");

	return v == NULL || strtoul(v + 16, NULL, 10) >= 85;
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

/* Numbers 17 and up are vector registers. */
static void
set_reg(struct param *p, uint64_t size)
{
	bool vec = p->reg >= 17 && p->reg < 17 + 16;

	memset(&p->place, 0, sizeof(p->place));
	if (p->loc != LOC_REG || size == 0 || size > (vec ? 16 : 8) ||
	    (!vec && p->reg > 15)) {
		p->place.kind = AT_LOST;
		return;
	}
	p->place.kind = AT_REGS;
	p->place.n = 1;
	p->place.pieces[0] = (struct piece) { .vec = vec,
	    .reg = (uint8_t)(vec ? p->reg - 17 : p->reg),
	    .len = (uint16_t)size };
}

/* Whether DWARF names another register than the convention does. */
static bool
differs(const struct param *p)
{
	const struct piece *first = &p->place.pieces[0];

	if (p->loc != LOC_REG)
		return false;
	if (p->place.kind == AT_MEM)
		return p->place.reg != p->reg;
	if (p->place.kind != AT_REGS)
		return p->place.kind == AT_STACK;
	return p->reg != (first->vec ? first->reg + 17U : first->reg);
}

/*
 * What no other unit calls, compilers may call as they like: parameters are
 * left out or come one register earlier.  Then the locations are believed.
 */
static void
believe_locations(struct dwarf *d, struct func *f)
{
	struct type t;
	bool moved = false;
	size_t i;

	for (i = 0; i < f->n; i++)
		moved = moved || differs(&f->params[i]);
	for (i = 0; moved && i < f->n; i++) {
		type_read(d, f->params[i].type, &t);
		set_reg(&f->params[i], t.size);
	}
}

static void
place_all(struct dwarf *d, struct func *f, enum sym_lang lang,
    struct place *result)
{
	enum abi_kind kind = abi_of(f, lang);
	struct abi a;
	size_t i;

	abi_init(&a, d, kind);
	a.two_words = returns_two_words(f->unit);
	abi_result(&a, f->type, result);
	for (i = 0; i < f->n; i++)
		if (!f->params[i].result)
			abi_argument(&a, f->params[i].type,
			    &f->params[i].place);
	if (kind == ABI_SYSV || kind == ABI_RUST)
		believe_locations(d, f);
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
		    &f.params[i].place))
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
