/* SPDX-License-Identifier: ISC */
/* Reading types.  Chains may be circles: everything here has a bound. */
#include <stdio.h>
#include <string.h>

#include "dw.h"
#include "type.h"

#define CHAIN_MAX	32
#define NESTED_MAX	8
#define CHILDREN_MAX	20000
#define DW_AT_GNU_vector	0x2107

/* -- DIEs ----------------------------------------------------------------- */

static void
take_number(struct die_info *i, unsigned int at, const struct val *v)
{
	switch (at) {
	case DW_AT_byte_size:
		i->size = v->u;
		i->has_size = true;
		break;
	case DW_AT_encoding:
		i->encoding = (unsigned int)v->u;
		break;
	case DW_AT_calling_convention:
		i->convention = (unsigned int)v->u;
		break;
	case DW_AT_const_value:
		i->value = v->u;
		i->has_value = true;
		i->constant = *v;
		break;
	case DW_AT_bit_size:
		i->bit_size = v->u;
		break;
	case DW_AT_data_bit_offset:
		i->bit_off = v->u;
		i->has_bit_off = true;
		break;
	case DW_AT_bit_offset:
		i->old_bit_off = v->u;
		i->has_old_bit_off = true;
		break;
	case DW_AT_upper_bound:
		i->upper = v->u;
		i->has_upper = v->cls == VAL_UINT || v->cls == VAL_SINT;
		break;
	case DW_AT_count:
		i->count = v->u;
		i->has_count = v->cls == VAL_UINT || v->cls == VAL_SINT;
		break;
	case DW_AT_discr_value:
		i->discr_value = v->u;
		i->has_discr_value = true;
		break;
	case DW_AT_declaration:
		i->declaration = v->u != 0;
		break;
	case DW_AT_artificial:
		i->artificial = v->u != 0;
		break;
	case DW_AT_variable_parameter:
		i->variable = v->u != 0;
		break;
	case DW_AT_GNU_vector:
		i->vector = v->u != 0;
		break;
	case DW_AT_defaulted:
		i->defaulted = v->u == 1;
		break;
	case DW_AT_deleted:
		i->deleted = v->u != 0;
		break;
	case DW_AT_external:
		i->static_member = v->u != 0;
		break;
	case DW_AT_go_kind:
		i->go_kind = (unsigned int)v->u;
		break;
	default:
		break;
	}
}

/* DWARF 2 had an expression for it: a number to be added. */
static void
take_member_off(struct die_info *i, const struct val *v)
{
	struct span s = { v->p, v->len };
	struct cursor c;

	i->has_member_off = true;
	if (v->cls == VAL_UINT || v->cls == VAL_SINT) {
		i->member_off = v->u;
		return;
	}
	i->has_member_off = false;
	if (v->cls != VAL_BLOCK)
		return;
	c = cur_at(&s, 0);
	if (cur_u8(&c) == DW_OP_plus_uconst) {
		i->member_off = cur_uleb(&c);
		i->has_member_off = !c.bad;
	}
}

static void
take_attr(struct die_info *i, unsigned int at, const struct val *v)
{
	switch (at) {
	case DW_AT_name:
		if (v->cls == VAL_STR) {
			i->name = (const char *)v->p;
			i->name_len = v->len;
		}
		break;
	case DW_AT_type:
		i->type = v->cls == VAL_REF ? v->u : 0;
		if (v->cls == VAL_SIG)
			i->signature = v->u;
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		i->origin = v->cls == VAL_REF ? v->u : 0;
		i->abstract = at == DW_AT_abstract_origin;
		break;
	case DW_AT_signature:
		i->signature = v->u;
		break;
	case DW_AT_discr:
		i->discr = v->cls == VAL_REF ? v->u : 0;
		break;
	case DW_AT_data_member_location:
		take_member_off(i, v);
		break;
	case DW_AT_location:
		i->location = *v;
		break;
	case DW_AT_low_pc:
		i->low_pc = *v;
		break;
	default:
		take_number(i, at, v);
		break;
	}
}

bool
die_info_read(struct dwarf *d, struct die *die, struct die_info *i)
{
	const struct attr_spec *a = die->abbrev->attrs;
	const struct attr_spec *end = a + die->abbrev->nattrs;
	struct unit *u;
	struct val v;

	memset(i, 0, sizeof(*i));
	for (; a < end; a++) {
		form_read(d, die->unit, &die->attrs, a, &v);
		take_attr(i, a->at, &v);
	}
	/* a type in a unit of its own */
	if (i->signature != 0 && i->type == 0) {
		u = dwarf_type_unit(d, i->signature);
		if (u != NULL && u->type_off < u->end - u->off)
			i->type = u->off + u->type_off;
	}
	return !die->attrs.bad;
}

static bool
info_at(struct dwarf *d, uint64_t place, struct die *die, struct die_info *i)
{
	return place != 0 && d->work++ <= DWARF_WORK_MAX &&
	    die_at(d, place, die) && die_info_read(d, die, i);
}

bool
children_of(struct dwarf *d, uint64_t place, struct children *ch)
{
	const struct abbrev_table *t;
	struct die_info i;
	struct die die;

	memset(ch, 0, sizeof(*ch));
	ch->d = d;
	ch->done = true;
	if (!info_at(d, place, &die, &i) || !die.abbrev->children)
		return false;
	t = unit_abbrevs(d, die.unit);
	if (t == NULL)
		return false;
	ch->unit = die.unit;
	ch->table = *t;
	ch->c = die.attrs;
	ch->left = CHILDREN_MAX;
	ch->done = false;
	return true;
}

static bool
step(struct children *ch, struct die *die)
{
	if (ch->left == 0 || ch->d->work++ > DWARF_WORK_MAX ||
	    !die_next(ch->d, ch->unit, &ch->table, &ch->c, die)) {
		ch->done = true;
		return false;
	}
	ch->left--;
	return true;
}

/* Passes what is below the child just read. */
static void
pass(struct children *ch)
{
	struct die die;
	unsigned int depth = 1;
	size_t i;

	while (depth > 0 && step(ch, &die)) {
		if (die.abbrev == NULL) {
			depth--;
			continue;
		}
		for (i = 0; i < die.abbrev->nattrs; i++)
			form_skip(ch->unit, &ch->c, die.abbrev->attrs[i].form);
		depth += die.abbrev->children;
	}
}

bool
children_next(struct children *ch, struct die *die, struct die_info *i)
{
	if (ch->done || !step(ch, die) || die->abbrev == NULL ||
	    !die_info_read(ch->d, die, i)) {
		ch->done = true;
		return false;
	}
	ch->c = die->attrs;
	if (die->abbrev->children)
		pass(ch);
	return true;
}

/* -- types ---------------------------------------------------------------- */

static bool
is_qualifier(unsigned int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
	    tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
	    tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type;
}

/* True for types as large as long double, but passed in a vector register. */
static bool
is_quad(const struct type *t)
{
	return t->name != NULL && (strcmp(t->name, "__float128") == 0 ||
	    strcmp(t->name, "_Float128") == 0);
}

static void
base_kind(struct type *t, const struct die_info *i)
{
	switch (i->encoding) {
	case DW_ATE_boolean:
		t->kind = TYPE_BOOL;
		break;
	case DW_ATE_float:
		t->kind = is_quad(t) ? TYPE_VECTOR : TYPE_FLOAT;
		break;
	case DW_ATE_complex_float:
		t->kind = TYPE_COMPLEX;
		break;
	case DW_ATE_signed:
		t->kind = TYPE_SINT;
		t->is_signed = true;
		break;
	case DW_ATE_signed_char:
		t->kind = TYPE_CCHAR;
		t->is_signed = true;
		break;
	case DW_ATE_unsigned_char:
		t->kind = TYPE_CCHAR;
		break;
	case DW_ATE_UTF:
		t->kind = i->size == 4 ? TYPE_CHAR : TYPE_UINT;
		break;
	case DW_ATE_address:
		t->kind = TYPE_POINTER;
		break;
	case DW_ATE_unsigned:
		t->kind = TYPE_UINT;
		break;
	default:
		t->kind = TYPE_OTHER;
		break;
	}
	/* Rust's unit type is a base type without bytes */
	if (t->size == 0)
		t->kind = TYPE_VOID;
	if (t->size > 16)
		t->kind = TYPE_OTHER;
}

static void
array_count(struct dwarf *d, struct type *t)
{
	struct children ch;
	struct die_info i;
	struct die die;
	unsigned int dims = 0;
	uint64_t n = 1, one;

	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (die.abbrev->tag != DW_TAG_subrange_type)
			continue;
		dims++;
		one = i.has_count ? i.count : i.has_upper ? i.upper + 1 : 0;
		n = one != 0 && n > UINT32_MAX / one ? 0 : n * one;
	}
	t->count = dims == 0 ? 0 : n;
	t->many = dims > 1;
}

static void
set_array(struct dwarf *d, struct type *t, const struct die_info *i)
{
	struct type elem;

	t->kind = i->vector ? TYPE_VECTOR : TYPE_ARRAY;
	array_count(d, t);
	if (i->has_size || t->count == 0)
		return;
	type_read(d, t->target, &elem);
	if (elem.kind != TYPE_ARRAY && elem.size <= UINT32_MAX)
		t->size = t->count * elem.size;
}

static void
set_enum(struct dwarf *d, struct type *t)
{
	struct type under;

	t->kind = TYPE_ENUM;
	if (t->target == 0)
		return;
	type_read(d, t->target, &under);
	if (under.kind != TYPE_ENUM && under.kind != TYPE_ARRAY) {
		t->is_signed = under.is_signed;
		if (t->size == 0)
			t->size = under.size;
	}
}

static bool
is_function(struct dwarf *d, uint64_t place)
{
	struct die_info i;
	struct die die;
	unsigned int n;

	for (n = 0; n < CHAIN_MAX && info_at(d, place, &die, &i); n++) {
		if (!is_qualifier(die.abbrev->tag))
			return die.abbrev->tag == DW_TAG_subroutine_type;
		place = i.type;
	}
	return false;
}

/* To data it is an offset, to functions one word more; neither an address. */
static void
set_member_pointer(struct dwarf *d, struct type *t)
{
	t->kind = TYPE_POINTER;
	t->size = is_function(d, t->target) ? 16 : 8;
	t->target = 0;
}

static void
set_kind(struct dwarf *d, struct type *t, unsigned int tag,
    const struct die_info *i)
{
	switch (tag) {
	case DW_TAG_base_type:
		base_kind(t, i);
		break;
	case DW_TAG_ptr_to_member_type:
		set_member_pointer(d, t);
		break;
	case DW_TAG_pointer_type:
		t->kind = TYPE_POINTER;
		t->size = i->has_size && i->size != 0 ? i->size : 8;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t->kind = TYPE_REFERENCE;
		t->size = 8;
		break;
	case DW_TAG_enumeration_type:
		set_enum(d, t);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		t->kind = TYPE_STRUCT;
		break;
	case DW_TAG_union_type:
		t->kind = TYPE_UNION;
		break;
	case DW_TAG_array_type:
		set_array(d, t, i);
		break;
	case DW_TAG_subroutine_type:
		/* Go's values of it are pointers */
		if (t->lang != SYM_LANG_GO)
			break;
		t->kind = TYPE_POINTER;
		t->size = 8;
		t->target = 0;
		break;
	case DW_TAG_unspecified_type:
		/* nullptr_t */
		t->kind = TYPE_POINTER;
		t->size = 8;
		break;
	case DW_TAG_variant_part:
	case DW_TAG_variant:
	default:
		t->kind = TYPE_OTHER;
		break;
	}
}

void
type_read(struct dwarf *d, uint64_t place, struct type *t)
{
	struct die_info i;
	struct die die;
	unsigned int n;

	memset(t, 0, sizeof(*t));
	for (n = 0; n < CHAIN_MAX; n++) {
		if (place == 0)
			return;
		if (!info_at(d, place, &die, &i)) {
			t->kind = TYPE_OTHER;
			return;
		}
		/* a declaration that stands for a type unit's type */
		if (!is_qualifier(die.abbrev->tag) &&
		    !(i.declaration && i.signature != 0))
			break;
		place = i.type;
	}
	t->place = place;
	t->size = i.size;
	t->target = i.type;
	t->go_kind = i.go_kind;
	t->name = i.name;
	t->name_len = i.name_len;
	t->by_reference = i.convention == DW_CC_pass_by_reference;
	t->by_value = i.convention == DW_CC_pass_by_value;
	t->declared = i.declaration;
	t->lang = unit_lang(die.unit);
	t->kind = TYPE_OTHER;
	/* an enumeration may say that it is one of itself */
	if (n == CHAIN_MAX || d->nested == NESTED_MAX)
		return;
	d->nested++;
	set_kind(d, t, die.abbrev->tag, &i);
	d->nested--;
}

/* -- names ---------------------------------------------------------------- */

struct text {
	char	*out;
	size_t	 len, size;
};

static void
put(struct text *s, const char *p, size_t n)
{
	if (n >= s->size - s->len)
		n = s->size - s->len - 1;
	memcpy(s->out + s->len, p, n);
	s->len += n;
	s->out[s->len] = '\0';
}

static void
put_word(struct text *s, const char *w)
{
	put(s, w, strlen(w));
}

static void	put_type(struct dwarf *, uint64_t, enum sym_lang,
		    struct text *, int);

/* "int[3]", "[u8; 4]" */
static void
put_array(struct dwarf *d, uint64_t place, uint64_t elem, enum sym_lang lang,
    struct text *s, int depth)
{
	bool rust = lang == SYM_LANG_RUST;
	struct type t = { .place = place };
	char n[32];

	put_word(s, rust ? "[" : "");
	put_type(d, elem, lang, s, depth + 1);
	array_count(d, &t);
	(void)snprintf(n, sizeof(n), rust ? "; %llu]" : "[%llu]",
	    (unsigned long long)t.count);
	put_word(s, n);
}

static void
put_type(struct dwarf *d, uint64_t place, enum sym_lang lang, struct text *s,
    int depth)
{
	const char *after = NULL;
	struct die_info i;
	struct die die;

	if (place == 0 || depth > 8 || !info_at(d, place, &die, &i)) {
		put_word(s, place == 0 ? lang == SYM_LANG_RUST ? "()" :
		    "void" : "?");
		return;
	}
	switch (die.abbrev->tag) {
	case DW_TAG_const_type:
		/* of a parameter itself it says nothing to a caller */
		put_word(s, depth == 0 ? "" : "const ");
		after = "";
		break;
	case DW_TAG_volatile_type:
		after = "";
		break;
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		after = "";
		break;
	case DW_TAG_pointer_type:
		after = i.name == NULL ? " *" : NULL;
		break;
	case DW_TAG_reference_type:
		after = " &";
		break;
	case DW_TAG_rvalue_reference_type:
		after = " &&";
		break;
	case DW_TAG_array_type:
		put_array(d, die.place, i.type, lang, s, depth);
		return;
	case DW_TAG_subroutine_type:
		put_word(s, "function");
		return;
	default:
		break;
	}
	if (after != NULL) {
		put_type(d, i.type, lang, s, depth + 1);
		put_word(s, after);
	} else if (i.name != NULL)
		put(s, i.name, i.name_len);
	else
		put_word(s, die.abbrev->tag == DW_TAG_union_type ?
		    "union" : die.abbrev->tag == DW_TAG_enumeration_type ?
		    "enum" : "struct");
}

size_t
type_name(struct dwarf *d, uint64_t place, enum sym_lang lang, char *out,
    size_t size)
{
	struct text s = { .out = out, .size = size };

	out[0] = '\0';
	put_type(d, place, lang, &s, 0);
	return s.len;
}

/* -- structures ----------------------------------------------------------- */

static bool
is_member(unsigned int tag)
{
	return tag == DW_TAG_member || tag == DW_TAG_inheritance;
}

static void
set_member(struct member *m, const struct die *die, const struct die_info *i)
{
	uint64_t bits = i->bit_off;

	*m = (struct member) {
		.name = i->name, .name_len = i->name_len,
		.type = i->type, .off = i->member_off,
		.bit_size = (uint32_t)i->bit_size,
		.base = die->abbrev->tag == DW_TAG_inheritance,
		.artificial = i->artificial,
	};
	/* until DWARF 4 they were counted from the end of their unit */
	if (i->has_old_bit_off && !i->has_bit_off && i->size <= 8 &&
	    i->old_bit_off + i->bit_size <= i->size * 8)
		bits = i->size * 8 - i->old_bit_off - i->bit_size;
	/* whole bytes go to the offset, whichever way it is told */
	if (i->bit_size != 0) {
		m->off += bits / 8;
		m->bit_off = (uint32_t)(bits % 8);
	}
}

size_t
type_members(struct dwarf *d, const struct type *t, struct member *m,
    size_t most)
{
	struct children ch;
	struct die_info i;
	struct die die;
	size_t n = 0;

	(void)children_of(d, t->place, &ch);
	while (n < most && children_next(&ch, &die, &i)) {
		/* static members have no place in the structure */
		if (!is_member(die.abbrev->tag) || i.static_member ||
		    i.declaration || i.has_value)
			continue;
		set_member(&m[n++], &die, &i);
	}
	return n;
}

bool
type_member(struct dwarf *d, const struct type *t, const char *name,
    struct member *m)
{
	struct children ch;
	struct die_info i;
	struct die die;

	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (!is_member(die.abbrev->tag) || i.name == NULL ||
		    strcmp(i.name, name) != 0)
			continue;
		set_member(m, &die, &i);
		return true;
	}
	return false;
}

static uint64_t
variant_part(struct dwarf *d, const struct type *t, struct die_info *i)
{
	struct children ch;
	struct die die;

	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, i))
		if (die.abbrev->tag == DW_TAG_variant_part)
			return die.place;
	return 0;
}

size_t
type_variants(struct dwarf *d, const struct type *t, struct member *tag,
    struct variant *v, size_t most)
{
	struct die_info i, part;
	struct children ch;
	struct die die;
	uint64_t place = variant_part(d, t, &part);
	size_t n = 0;

	memset(tag, 0, sizeof(*tag));
	if (place == 0)
		return 0;
	if (part.discr != 0 && info_at(d, part.discr, &die, &i))
		set_member(tag, &die, &i);
	(void)children_of(d, place, &ch);
	while (n < most && children_next(&ch, &die, &i))
		if (die.abbrev->tag == DW_TAG_variant)
			v[n++] = (struct variant) { die.place, i.discr_value,
			    i.has_discr_value };
	return n;
}

uint64_t
type_argument(struct dwarf *d, const struct type *t)
{
	struct children ch;
	struct die_info i;
	struct die die;

	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, &i))
		if (die.abbrev->tag == DW_TAG_template_type_parameter)
			return i.type;
	return 0;
}

/* The copy that a template makes of one has its arguments in its name. */
static bool
is_constructor(const struct type *t, const struct die_info *i)
{
	size_t n;

	if (t->name == NULL || i->name == NULL || strchr(i->name, '<') != NULL)
		return false;
	n = strlen(i->name);
	return strncmp(t->name, i->name, n) == 0 &&
	    (t->name[n] == '\0' || t->name[n] == '<');
}

/* Whether what it is given is one reference to another of the same type. */
static bool
takes_another(struct dwarf *d, const struct type *t, uint64_t place)
{
	struct type ref = { .kind = TYPE_VOID }, other;
	struct children ch;
	struct die_info i;
	struct die die;
	unsigned int n = 0;

	(void)children_of(d, place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (die.abbrev->tag != DW_TAG_formal_parameter || i.artificial)
			continue;
		if (n++ == 0)
			type_read(d, i.type, &ref);
	}
	if (n != 1 || ref.kind != TYPE_REFERENCE)
		return false;
	type_read(d, ref.target, &other);
	return other.place == t->place;
}

static bool
is_method(const struct die *die, const struct die_info *i)
{
	return die->abbrev->tag == DW_TAG_subprogram && i->name != NULL &&
	    !i->artificial;
}

/* How objects are copied and ended is written, or all copying is deleted. */
static bool
has_own_methods(struct dwarf *d, const struct type *t)
{
	struct children ch;
	struct die_info i;
	struct die die;
	bool kept = false, deleted = false;

	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (!is_method(&die, &i))
			continue;
		if (i.name[0] == '~' && !i.defaulted)
			return true;
		if (!is_constructor(t, &i) || !takes_another(d, t, die.place))
			continue;
		if (!i.defaulted && !i.deleted)
			return true;
		kept = kept || !i.deleted;
		deleted = deleted || i.deleted;
	}
	return deleted && !kept;
}

static void
element(struct dwarf *d, uint64_t place, struct type *t)
{
	unsigned int n = 0;

	type_read(d, place, t);
	while (t->kind == TYPE_ARRAY && n++ < CHAIN_MAX)
		type_read(d, t->target, t);
}

/*
 * Clang says so, g++ does not: a destructor or a copy or move constructor
 * that was written, or virtual functions, here or in what it consists of.
 */
bool
type_is_nontrivial(struct dwarf *d, const struct type *t, int depth)
{
	struct children ch;
	struct die_info i;
	struct type sub;
	struct die die;

	if (t->by_reference || t->by_value || t->lang != SYM_LANG_CXX ||
	    depth > 6)
		return t->by_reference;
	/* classes are left to the unit that has their virtual functions */
	if (t->declared || has_own_methods(d, t))
		return true;
	(void)children_of(d, t->place, &ch);
	while (children_next(&ch, &die, &i)) {
		if (!is_member(die.abbrev->tag) || i.static_member)
			continue;
		if (i.name != NULL && strncmp(i.name, "_vptr", 5) == 0)
			return true;
		element(d, i.type, &sub);
		if ((sub.kind == TYPE_STRUCT || sub.kind == TYPE_UNION) &&
		    type_is_nontrivial(d, &sub, depth + 1))
			return true;
	}
	return false;
}
