/* SPDX-License-Identifier: ISC */
/*
 * Reads the DIEs of all units in one pass.  Names of namespaces and classes are
 * kept along the way, as definitions stand apart from the declarations whose
 * names they have.
 */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "dw.h"
#include "mem.h"
#include "ranges.h"
#include "scan.h"

#define DEPTH_MAX	512
/* Parts of a name that are put together. */
#define SCOPES_MAX	64

struct scope {
	uint32_t	 parent;	/* 0 = none */
	const char	*name;
	size_t		 len;
};

/* In which scope a function's DIE stands. */
struct where {
	uint32_t	 place, scope;
};

/* A function whose name waits until all scopes are known. */
struct pending {
	uint32_t	 func, place;
	const char	*name;
	size_t		 len;
};

struct level {
	uint32_t	 scope;
	int64_t		 func;		/* whose children these are; -1 = none */
};

struct scan {
	struct dwarf	*d;
	struct found	*out;
	struct lines	 lines;
	struct scope	*scopes;
	size_t		 nscopes, scap;
	struct where	*wheres;
	size_t		 nwheres, wcap;
	struct pending	*pending;
	size_t		 npending, pcap;
	uint32_t	*abstracts;	/* places of what was inlined */
	size_t		 nabstracts, acap;
	uint32_t	*origins;	/* places that have code of their own */
	size_t		 norigins, ocap;
	/* of the unit at hand */
	struct unit	*unit;
	struct abbrev_table table;
	enum sym_lang	 lang;
	struct level	 levels[DEPTH_MAX];
	size_t		 depth;
};

/* -- names ---------------------------------------------------------------- */

static uint32_t
scope_new(struct scan *s, uint32_t parent, const char *name, size_t len)
{
	mem_room(&s->scopes, &s->scap, s->nscopes, sizeof(*s->scopes));
	s->scopes[s->nscopes++] = (struct scope) { parent, name, len };
	return (uint32_t)s->nscopes;
}

static uint32_t
scope_of(const struct scan *s, uint64_t place)
{
	size_t lo = 0, hi = s->nwheres, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (s->wheres[mid].place < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nwheres && s->wheres[lo].place == place ?
	    s->wheres[lo].scope : 0;
}

/* "a::b::name"; Go's names and those of C are whole already. */
static uint32_t
add_qualified(struct scan *s, uint32_t scope, const char *name, size_t len)
{
	static char buf[SYM_NAME_MAX + 1];
	const struct scope *parts[SCOPES_MAX];
	size_t n = 0, at = 0;

	for (; scope != 0 && n < SCOPES_MAX; scope = parts[n++]->parent)
		parts[n] = &s->scopes[scope - 1];
	if (n == 0)
		return strs_add(&s->out->strs, name, len);
	while (n-- > 0) {
		if (parts[n]->len + 2 > SYM_NAME_MAX - at)
			return strs_add(&s->out->strs, name, len);
		memcpy(buf + at, parts[n]->name, parts[n]->len);
		at += parts[n]->len;
		memcpy(buf + at, "::", 2);
		at += 2;
	}
	if (len > SYM_NAME_MAX - at)
		len = SYM_NAME_MAX - at;
	memcpy(buf + at, name, len);
	return strs_add(&s->out->strs, buf, at + len);
}

static void
set_names(struct scan *s, size_t func, uint64_t place,
    const struct func_info *f)
{
	static char buf[SYM_NAME_MAX + 1];
	struct sym_func *fn = &s->out->funcs[func];
	struct strs *strs = &s->out->strs;
	size_t n;

	if (f->linkage != NULL) {
		fn->raw = strs_add(strs, f->linkage, f->linkage_len);
		n = demangle(f->linkage, f->linkage_len, buf, sizeof(buf));
		if (n > 0) {
			fn->name = strs_add(strs, buf, n);
			return;
		}
	}
	if (f->name == NULL)
		return;
	if (s->lang != SYM_LANG_CXX && s->lang != SYM_LANG_RUST &&
	    s->lang != SYM_LANG_OTHER) {
		fn->name = strs_add(strs, f->name, f->name_len);
		return;
	}
	mem_room(&s->pending, &s->pcap, s->npending, sizeof(*s->pending));
	s->pending[s->npending++] = (struct pending) { (uint32_t)func,
	    (uint32_t)place, f->name, f->name_len };
}

static int
by_place(const void *a, const void *b)
{
	const struct where *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static void
settle_names(struct scan *s)
{
	const struct pending *p;
	size_t i;

	/* units come in order, so this finds them sorted */
	if (s->nwheres > 1)
		qsort(s->wheres, s->nwheres, sizeof(*s->wheres), by_place);
	for (i = 0; i < s->npending; i++) {
		p = &s->pending[i];
		s->out->funcs[p->func].name = add_qualified(s,
		    scope_of(s, p->place), p->name, p->len);
	}
	s->npending = 0;
	for (i = 0; i < s->out->n; i++)
		if (s->out->funcs[i].raw == 0)
			s->out->funcs[i].raw = s->out->funcs[i].name;
}

/* -- functions ------------------------------------------------------------ */

/* False when it has no code here. */
static bool
find_code(struct scan *s, const struct func_info *f, struct sym_func *fn)
{
	uint64_t lo = 0, hi = 0;
	bool more = false;

	if (f->ranges.cls != VAL_NONE) {
		if (!ranges_first(s->d, s->unit, &f->ranges, &lo, &hi, &more))
			return false;
		fn->flags |= more ? SYM_PARTS : 0;
	} else if (f->has_low) {
		lo = f->low;
		if (f->has_high)
			hi = f->high_is_size ? lo + f->high : f->high;
	} else
		return false;
	/* what a linker has thrown away is at 0, 1 or -1 */
	if (lo == 0 || !elf_is_text(s->d->elf, lo))
		return false;
	fn->addr = lo;
	fn->size = hi > lo ? hi - lo : 0;
	return true;
}

static int64_t
add_func(struct scan *s, const struct die *die, const struct func_info *f,
    struct sym_func *fn)
{
	struct found *o = s->out;

	if (o->n >= SYM_FUNCS_MAX) {
		o->flags |= SYM_FULL;
		return -1;
	}
	fn->die = (uint32_t)die->place;
	fn->line = f->line > UINT32_MAX ? 0 : (uint32_t)f->line;
	if (f->file_unit != NULL)
		fn->file = lines_path(&s->lines, s->d, f->file_unit, f->file,
		    &o->strs);
	fn->flags |= (uint16_t)((unsigned int)s->lang << SYM_LANG_SHIFT);
	if (f->external)
		fn->flags |= SYM_EXTERNAL;
	mem_room(&o->funcs, &o->cap, o->n, sizeof(*fn));
	o->funcs[o->n] = *fn;
	set_names(s, o->n, f->origin != 0 ? f->origin : die->place, f);
	return (int64_t)o->n++;
}

static void
note(uint32_t **list, size_t *cap, size_t *n, uint64_t place)
{
	mem_room(list, cap, *n, sizeof(**list));
	(*list)[(*n)++] = (uint32_t)place;
}

/* Returns its number, or -1 when it is none to be called. */
static int64_t
on_function(struct scan *s, struct die *die, uint32_t scope)
{
	struct sym_func fn = { 0 };
	struct func_info f;

	if (scope != 0) {
		mem_room(&s->wheres, &s->wcap, s->nwheres, sizeof(*s->wheres));
		s->wheres[s->nwheres++] = (struct where) {
		    (uint32_t)die->place, scope };
	}
	func_read(s->d, die, &f);
	if (!f.declaration && find_code(s, &f, &fn)) {
		if (f.origin != 0)
			note(&s->origins, &s->ocap, &s->norigins, f.origin);
		return add_func(s, die, &f, &fn);
	}
	if (f.inl == DW_INL_inlined || f.inl == DW_INL_declared_inlined)
		note(&s->abstracts, &s->acap, &s->nabstracts, die->place);
	return -1;
}

/*
 * Adds a function that is nowhere else, so that a user who asks for it is told
 * so.  The DIE that has code may refer to this DIE or to the declaration
 * behind it.
 */
static void
add_inlined(struct scan *s, uint64_t place, struct strs *seen)
{
	struct sym_func fn = { .flags = SYM_INLINED };
	struct func_info f;
	struct die die;
	bool new;

	if (!die_at(s->d, place, &die))
		return;
	func_read(s->d, &die, &f);
	if (f.linkage != NULL)
		(void)strs_once(seen, f.linkage, f.linkage_len, &new);
	else if (f.name != NULL)
		(void)strs_once(seen, f.name, f.name_len, &new);
	else
		return;
	if (!new)
		return;
	s->unit = die.unit;
	s->lang = unit_lang(die.unit);
	(void)add_func(s, &die, &f, &fn);
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
add_all_inlined(struct scan *s)
{
	const char *raw, *strs = s->out->strs.buf;
	struct strs seen;
	size_t i;

	if (s->nabstracts == 0)
		return;
	if (s->norigins > 0)
		qsort(s->origins, s->norigins, sizeof(*s->origins), by_number);
	strs_init(&seen);
	for (i = 0; i < s->out->n; i++) {
		raw = strs + s->out->funcs[i].raw;
		(void)strs_once(&seen, raw, strlen(raw), NULL);
	}
	for (i = 0; i < s->nabstracts; i++)
		if (s->norigins == 0 || bsearch(&s->abstracts[i], s->origins,
		    s->norigins, sizeof(*s->origins), by_number) == NULL)
			add_inlined(s, s->abstracts[i], &seen);
	strs_free(&seen);
}

/* -- the walk ------------------------------------------------------------- */

/*
 * Returns the place of its next sibling, where that is told, or 0; *got is
 * one attribute's value.
 */
static uint64_t
skip_attrs(struct scan *s, struct die *die, unsigned int want, struct val *got)
{
	const struct attr_spec *a = die->abbrev->attrs;
	const struct attr_spec *end = a + die->abbrev->nattrs;
	uint64_t sibling = 0;
	struct val v;

	for (; a < end; a++) {
		if (a->at == DW_AT_sibling) {
			form_read(s->d, die->unit, &die->attrs, a, &v);
			sibling = v.cls == VAL_REF ? v.u : 0;
		} else if (a->at == want)
			form_read(s->d, die->unit, &die->attrs, a, got);
		else
			form_skip(die->unit, &die->attrs, a->form);
	}
	return sibling;
}

/* No function of its own stands within such a DIE. */
static bool
is_barren(const struct scan *s, unsigned int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_lexical_block:
		return s->lang == SYM_LANG_C;
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
		return true;
	default:
		return false;
	}
}

static bool
is_scope(unsigned int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	    tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	    tag == DW_TAG_interface_type || tag == DW_TAG_module ||
	    tag == DW_TAG_enumeration_type;
}

static uint32_t
open_scope(struct scan *s, uint32_t parent, unsigned int tag,
    const struct val *name)
{
	static const char none[] = "(anonymous namespace)";
	static const char class[] = "(anonymous class)";

	if (name->cls == VAL_STR)
		return scope_new(s, parent, (const char *)name->p, name->len);
	if (tag == DW_TAG_namespace)
		return scope_new(s, parent, none, sizeof(none) - 1);
	return scope_new(s, parent, class, sizeof(class) - 1);
}

/* Go lists results among the parameters. */
static void
on_parameter(struct scan *s, unsigned int tag, int64_t func,
    const struct val *result)
{
	struct sym_func *fn;

	if (func < 0 || (result->cls != VAL_NONE && result->u != 0))
		return;
	fn = &s->out->funcs[func];
	if (tag == DW_TAG_unspecified_parameters)
		fn->flags |= SYM_VARIADIC;
	else if (fn->nparams < UINT16_MAX)
		fn->nparams++;
}

/* False when the rest of the unit cannot be read. */
static bool
visit(struct scan *s, struct die *die, struct cursor *c)
{
	struct level *l = &s->levels[s->depth], below = { l->scope, -1 };
	struct val got = { .cls = VAL_NONE };
	unsigned int tag = die->abbrev->tag;
	uint64_t sibling = 0;
	bool scope = is_scope(tag) && die->abbrev->children;

	if (tag == DW_TAG_subprogram)
		below.func = on_function(s, die, l->scope);
	else {
		sibling = skip_attrs(s, die, scope ? DW_AT_name :
		    DW_AT_variable_parameter, &got);
		if (tag == DW_TAG_formal_parameter ||
		    tag == DW_TAG_unspecified_parameters)
			on_parameter(s, tag, l->func, &got);
	}
	*c = die->attrs;
	if (c->bad || !die->abbrev->children)
		return !c->bad;
	/* forward only: a sibling that lies behind would never end */
	if (is_barren(s, tag) && sibling > unit_place(s->d, s->unit, c) &&
	    sibling < s->unit->end) {
		*c = unit_cursor(s->d, s->unit, sibling);
		return !c->bad;
	}
	if (scope)
		below.scope = open_scope(s, l->scope, tag, &got);
	if (s->depth + 1 == DEPTH_MAX)
		return false;
	s->levels[++s->depth] = below;
	return true;
}

static bool
scan_unit(struct scan *s)
{
	struct cursor c = unit_cursor(s->d, s->unit, s->unit->die);
	struct die die;

	s->depth = 0;
	s->levels[0] = (struct level) { 0, -1 };
	while (c.p < c.end) {
		if (!die_next(s->d, s->unit, &s->table, &c, &die))
			return false;
		if (die.abbrev == NULL) {
			if (s->depth > 0)
				s->depth--;
			continue;
		}
		if (!visit(s, &die, &c))
			return false;
	}
	return !c.bad;
}

static void
free_scan(struct scan *s)
{
	lines_free(&s->lines, s->d);
	free(s->scopes);
	free(s->wheres);
	free(s->pending);
	free(s->abstracts);
	free(s->origins);
	free(s);
}

void
scan_functions(struct dwarf *d, struct found *out)
{
	struct scan *s = mem_zero(1, sizeof(*s));
	const struct abbrev_table *t;
	size_t i;

	s->d = d;
	s->out = out;
	for (i = 0; i < d->nunits; i++) {
		s->unit = &d->units[i];
		if (s->unit->kind == DW_UT_type ||
		    s->unit->kind == DW_UT_split_type ||
		    !unit_prepare(d, s->unit))
			continue;
		t = unit_abbrevs(d, s->unit);
		if (t == NULL)
			continue;
		s->table = *t;
		s->lang = unit_lang(s->unit);
		if (!scan_unit(s))
			d->damaged = true;
	}
	settle_names(s);
	add_all_inlined(s);
	settle_names(s);
	free_scan(s);
}
