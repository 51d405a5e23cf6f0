/* SPDX-License-Identifier: ISC */
/*
 * From types and places to steps and nodes.  A structure is taken one level
 * deep; strings and counted elements are taken wherever they are reached by
 * one pointer that is known when the function is called.
 */
#include <string.h>

#include "dw.h"
#include "maker.h"

#define FIELDS_MAX	48
#define VARIANTS_MAX	64
#define NAME_LEN	128
/* as Go's package reflect numbers its kinds */
#define GO_SLICE	23
#define GO_STRING	24

_Static_assert(sizeof(struct desc_header) + MAKER_VALUES *
    sizeof(struct desc_value) + MAKER_STRS < DESC_MAX, "room for the rest");

void
maker_init(struct maker *m, struct dwarf *d, enum sym_lang lang)
{
	memset(m, 0, sizeof(*m));
	m->d = d;
	m->lang = lang;
	m->head.magic = DESC_MAGIC;
	m->head.strs_len = 1;
}

void
maker_steps(struct maker *m, struct capture *steps)
{
	m->steps = steps;
	m->nsteps = 0;
}

uint32_t
maker_str(struct maker *m, const char *p, size_t len)
{
	uint32_t at = m->head.strs_len, i;

	if (p == NULL || len == 0)
		return 0;
	len = strnlen(p, len < NAME_LEN ? len : NAME_LEN);
	/* the names of types and fields come again and again */
	for (i = 1; i + len < at; i += (uint32_t)strlen(m->strs + i) + 1)
		if (memcmp(m->strs + i, p, len) == 0 && m->strs[i + len] == '\0')
			return i;
	if (len + 1 > MAKER_STRS - at)
		return 0;
	memcpy(m->strs + at, p, len);
	m->head.strs_len += (uint32_t)len + 1;
	return at;
}

static uint32_t
type_str(struct maker *m, uint64_t type)
{
	char name[NAME_LEN + 1];
	size_t n = type_name(m->d, type, m->lang, name, sizeof(name));

	return maker_str(m, name, n);
}

/* -- steps ---------------------------------------------------------------- */

static uint16_t
add_step(struct maker *m, const struct capture *c)
{
	size_t i;

	for (i = 0; i < m->nsteps; i++)
		if (memcmp(&m->steps[i], c, sizeof(*c)) == 0)
			return (uint16_t)i;
	if (m->nsteps == CAPTURE_MAX) {
		m->head.flags |= DESC_CUT;
		return DESC_NONE;
	}
	m->steps[m->nsteps] = *c;
	return (uint16_t)m->nsteps++;
}

static uint16_t
reg_step(struct maker *m, uint8_t reg)
{
	struct capture c = { .op = CAP_REG, .reg = reg, .len = 8 };

	return add_step(m, &c);
}

static bool
add_part(struct maker *m, uint16_t step, uint64_t off, uint64_t len)
{
	struct desc_part *p = &m->parts[m->head.nparts];

	if (step == DESC_NONE || m->head.nparts == MAKER_PARTS ||
	    off + len > DESC_IMAGE_MAX)
		return false;
	*p = (struct desc_part) { step, 0, (uint16_t)off, (uint16_t)len };
	m->head.nparts++;
	return true;
}

static uint16_t
piece_step(struct maker *m, const struct piece *p)
{
	struct capture c = { .op = CAP_VEC, .reg = p->reg, .len = p->len };

	if (p->stack)
		c = (struct capture) { .op = CAP_STACK, .off = p->at,
		    .len = p->len };
	else if (p->x87)
		c = (struct capture) { .op = CAP_X87, .len = p->len };
	else if (!p->vec)
		return reg_step(m, p->reg);
	return add_step(m, &c);
}

/* Bytes that the compiler knows; among the strings, which end with a NUL. */
static bool
add_constant(struct maker *m, const void *bytes, uint64_t off, uint64_t size)
{
	uint32_t at = m->head.strs_len;

	if (size + 1 > MAKER_STRS - at ||
	    !add_part(m, DESC_CONSTANT, off, size))
		return false;
	m->parts[m->head.nparts - 1].step_off = (uint16_t)at;
	memcpy(m->strs + at, bytes, size);
	m->strs[at + size] = '\0';
	m->head.strs_len += (uint32_t)size + 1;
	return true;
}

static bool
add_piece(struct maker *m, struct piece p)
{
	uint16_t most = p.vec || p.stack || p.x87 ? 16 : 8;

	p.len = p.len < most ? p.len : most;
	if (p.constant)
		return add_constant(m, &p.value, p.off, p.len);
	return add_part(m, piece_step(m, &p), p.off, p.len);
}

static bool
add_pieces(struct maker *m, const struct place *pl)
{
	size_t i;

	for (i = 0; i < pl->n; i++)
		if (!add_piece(m, pl->pieces[i]))
			return false;
	return true;
}

/* How the bytes of a value get into its image. */
static bool
add_parts(struct maker *m, const struct place *pl, uint64_t size)
{
	struct capture c = { .op = CAP_MEM, .reg = pl->reg, .off = pl->off };

	if (size > DESC_IMAGE_MAX)
		size = DESC_IMAGE_MAX;
	c.len = (uint16_t)size;
	switch (pl->kind) {
	case AT_NOWHERE:
		return true;
	case AT_REGS:
		return add_pieces(m, pl);
	case AT_CONSTANT:
		return size <= sizeof(pl->bytes) &&
		    add_constant(m, pl->bytes, 0, size);
	case AT_STACK:
		c.op = CAP_STACK;
		c.reg = 0;
		/* FALLTHROUGH */
	case AT_MEM:
		return size != 0 && add_part(m, add_step(m, &c), 0, size);
	default:
		return false;
	}
}

static const struct piece *
piece_at(const struct place *pl, uint64_t off)
{
	size_t i;

	for (i = 0; i < pl->n; i++)
		if (!pl->pieces[i].vec && !pl->pieces[i].stack &&
		    !pl->pieces[i].x87 && !pl->pieces[i].constant && pl->pieces[i].off == off && pl->pieces[i].len == 8)
			return &pl->pieces[i];
	return NULL;
}

/* Where a word is that has found no register. */
static bool
on_stack_at(const struct place *pl, uint64_t off, int32_t *at)
{
	size_t i;

	for (i = 0; i < pl->n; i++) {
		if (!pl->pieces[i].stack || pl->pieces[i].off != off ||
		    pl->pieces[i].len != 8)
			continue;
		*at = pl->pieces[i].at;
		return true;
	}
	return false;
}

static bool
near_enough(const struct place *pl, uint64_t off)
{
	return off < INT32_MAX / 4 && pl->off < INT32_MAX / 4 &&
	    pl->off > INT32_MIN / 4;
}

/* The string at the char * that is at off of the value. */
static uint16_t
string_step(struct maker *m, const struct place *pl, uint64_t off)
{
	struct capture c = { .len = CAPTURE_STRING };
	const struct piece *p;

	if (!near_enough(pl, off))
		return DESC_NONE;
	if (pl->kind == AT_REGS) {
		p = piece_at(pl, off);
		if (p == NULL)
			return DESC_NONE;
		c.op = CAP_STRING;
		c.reg = p->reg;
		return add_step(m, &c);
	}
	if (pl->kind != AT_MEM && pl->kind != AT_STACK)
		return DESC_NONE;
	c.op = pl->kind == AT_MEM ? CAP_STRPTR : CAP_STKSTR;
	c.reg = pl->kind == AT_MEM ? pl->reg : 0;
	c.off = pl->off + (int32_t)off;
	return add_step(m, &c);
}

/* Elements of so many bytes; their address and number are in the value. */
static uint16_t
slice_step(struct maker *m, const struct place *pl, uint64_t ptr, uint64_t len,
    uint64_t size, bool text)
{
	struct capture c = { .scale = (uint32_t)size };
	const struct piece *p, *n;
	uint64_t most = CAPTURE_LEN_MAX / size;

	if (most > CAPTURE_ELEMENTS && !text)
		most = CAPTURE_ELEMENTS;
	c.len = text ? CAPTURE_STRING : (uint16_t)(most * size);
	if (!near_enough(pl, ptr) || !near_enough(pl, len))
		return DESC_NONE;
	if (pl->kind == AT_REGS) {
		p = piece_at(pl, ptr);
		n = piece_at(pl, len);
		if (p == NULL)
			return DESC_NONE;
		c.op = CAP_MIXSLICE;
		c.reg = p->reg;
		if (n == NULL)
			return on_stack_at(pl, len, &c.off2) ?
			    add_step(m, &c) : DESC_NONE;
		c.op = CAP_REGSLICE;
		c.reg = p->reg;
		c.off = n->reg;
		return add_step(m, &c);
	}
	if (pl->kind != AT_MEM && pl->kind != AT_STACK)
		return DESC_NONE;
	c.op = pl->kind == AT_MEM ? CAP_SLICE : CAP_STKSLICE;
	c.reg = pl->kind == AT_MEM ? pl->reg : 0;
	c.off = pl->off + (int32_t)ptr;
	c.off2 = pl->off + (int32_t)len;
	return add_step(m, &c);
}

/* -- what is a string, or a slice ----------------------------------------- */

struct counted {
	uint64_t	 ptr, len;	/* where its address and number are */
	uint64_t	 elem;		/* the type of its elements; 0 = text */
};

static bool
name_is(const struct type *t, const char *s)
{
	return t->name != NULL && strcmp(t->name, s) == 0;
}

static bool
name_begins(const struct type *t, const char *s)
{
	return t->name != NULL && strncmp(t->name, s, strlen(s)) == 0;
}

static bool
name_ends(const struct type *t, const char *s)
{
	size_t n = strlen(s);

	return t->name != NULL && t->name_len >= n &&
	    strcmp(t->name + t->name_len - n, s) == 0;
}

static bool
two_members(struct maker *m, const struct type *t, const char *ptr,
    const char *len, struct counted *c, struct member *p)
{
	struct member n;

	if (!type_member(m->d, t, ptr, p) || !type_member(m->d, t, len, &n))
		return false;
	*c = (struct counted) { .ptr = p->off, .len = n.off };
	return true;
}

static bool
is_cxx_text(struct maker *m, const struct type *t, struct counted *c)
{
	struct member p;

	if (name_begins(t, "basic_string<char,") ||
	    name_begins(t, "basic_string<char>"))
		return two_members(m, t, "_M_dataplus", "_M_string_length", c,
		    &p);
	if (name_begins(t, "basic_string_view<char"))
		return two_members(m, t, "_M_str", "_M_len", c, &p);
	return false;
}

/* Rust's vectors wrap their pointer in several structures. */
static bool
find_pointer(struct maker *m, uint64_t type, uint64_t off, int depth,
    uint64_t *at)
{
	struct member f[8];
	struct type t;
	size_t i, n;

	type_read(m->d, type, &t);
	if (t.kind == TYPE_POINTER && t.size == 8) {
		*at = off;
		return true;
	}
	if (t.kind != TYPE_STRUCT || depth > 8)
		return false;
	n = type_members(m->d, &t, f, 8);
	for (i = 0; i < n; i++)
		if (find_pointer(m, f[i].type, off + f[i].off, depth + 1, at))
			return true;
	return false;
}

static bool
is_vec(struct maker *m, const struct type *t, struct counted *c)
{
	struct member buf, len;

	if (!type_member(m->d, t, "buf", &buf) ||
	    !type_member(m->d, t, "len", &len) ||
	    !find_pointer(m, buf.type, buf.off, 0, &c->ptr))
		return false;
	c->len = len.off;
	c->elem = type_argument(m->d, t);
	return true;
}

static bool
is_rust_counted(struct maker *m, const struct type *t, struct counted *c)
{
	struct member p;
	struct type sub;

	if (name_is(t, "String") && type_member(m->d, t, "vec", &p)) {
		type_read(m->d, p.type, &sub);
		if (!is_vec(m, &sub, c))
			return false;
		c->ptr += p.off;
		c->len += p.off;
		c->elem = 0;
		return true;
	}
	if (name_begins(t, "Vec<"))
		return is_vec(m, t, c) && c->elem != 0;
	if (!two_members(m, t, "data_ptr", "length", c, &p))
		return false;
	if (name_ends(t, "str") || name_begins(t, "Box<str") ||
	    name_begins(t, "alloc::boxed::Box<str"))
		return true;
	type_read(m->d, p.type, &sub);
	c->elem = sub.target;
	return c->elem != 0;
}

static bool
is_go_counted(struct maker *m, const struct type *t, struct counted *c)
{
	struct member p;
	struct type sub;

	/* whatever their names: those of named types are their own */
	if (t->go_kind == GO_STRING)
		return two_members(m, t, "str", "len", c, &p);
	if (t->go_kind != GO_SLICE || !two_members(m, t, "array", "len", c, &p))
		return false;
	type_read(m->d, p.type, &sub);
	c->elem = sub.target;
	return c->elem != 0;
}

static bool
is_counted(struct maker *m, const struct type *t, struct counted *c)
{
	memset(c, 0, sizeof(*c));
	if (t->kind != TYPE_STRUCT)
		return false;
	switch (t->lang) {
	case SYM_LANG_CXX:
		return is_cxx_text(m, t, c);
	case SYM_LANG_RUST:
		return is_rust_counted(m, t, c);
	case SYM_LANG_GO:
		return is_go_counted(m, t, c);
	default:
		return false;
	}
}

/* -- nodes ---------------------------------------------------------------- */

/* A value in the making: where it is, and where in its image we are. */
struct spot {
	const struct place *pl;
	uint64_t	 off;
	int		 level;		/* 1 = in a structure or array */
};

static bool
reserve(struct maker *m, size_t n, uint16_t *first)
{
	if (n > MAKER_NODES - (size_t)m->head.nnodes)
		return false;
	*first = m->head.nnodes;
	m->head.nnodes = (uint16_t)(m->head.nnodes + n);
	return true;
}

static void	make_node(struct maker *, uint16_t, uint64_t,
		    const struct spot *);

static void
make_counted(struct maker *m, struct desc_node *n, const struct counted *c,
    const struct spot *s)
{
	struct spot inside = { .pl = s->pl, .level = 2 };
	struct type elem = { .size = 1 };
	uint16_t first;

	if (c->elem != 0)
		type_read(m->d, c->elem, &elem);
	if (elem.size == 0 || elem.size > CAPTURE_LEN_MAX)
		return;
	n->step = slice_step(m, s->pl, s->off + c->ptr, s->off + c->len,
	    elem.size, c->elem == 0);
	if (n->step == DESC_NONE) {
		/* a part of it is in no register */
		if (s->pl->kind == AT_REGS)
			n->kind = DESC_LOST;
		return;
	}
	n->kind = DESC_TEXT;
	if (c->elem == 0)
		return;
	n->kind = DESC_NULL;
	if (!reserve(m, 1, &first))
		return;
	n->kind = DESC_SLICE;
	n->first = first;
	n->count = 1;
	n->size = (uint32_t)elem.size;
	inside.off = 0;
	make_node(m, first, c->elem, &inside);
}

static void
make_enum(struct maker *m, struct desc_node *n, const struct type *t)
{
	struct children ch;
	struct die_info i;
	struct die die;

	n->kind = DESC_ENUM;
	n->flags |= t->is_signed ? DESC_SIGNED : 0;
	n->enum_first = m->head.nenums;
	(void)children_of(m->d, t->place, &ch);
	while (m->head.nenums < MAKER_ENUMS && children_next(&ch, &die, &i)) {
		if (die.abbrev->tag != DW_TAG_enumerator || !i.has_value)
			continue;
		m->enums[m->head.nenums++] = (struct desc_enum) {
		    .low = (uint32_t)i.value,
		    .high = (uint32_t)(i.value >> 32),
		    .name = maker_str(m, i.name, i.name_len) };
		n->enum_count++;
	}
}

/* A pointer to it is shown as it is. */
static bool
is_c_string(struct maker *m, const struct type *t)
{
	struct type target;

	if (t->lang == SYM_LANG_RUST || t->lang == SYM_LANG_GO)
		return false;
	type_read(m->d, t->target, &target);
	return target.kind == TYPE_CCHAR && name_is(&target, "char");
}

static bool
refers(const struct type *t)
{
	return t->kind == TYPE_REFERENCE ||
	    (t->lang == SYM_LANG_RUST && name_begins(t, "&"));
}

static void
make_pointer(struct maker *m, struct desc_node *n, const struct type *t,
    const struct spot *s)
{
	const struct piece *p;
	struct place there = { .kind = AT_MEM };
	struct spot inside = { .pl = &there, .level = 1 };
	struct counted c;
	struct type target;

	n->kind = DESC_POINTER;
	if (s->level > 1)
		return;
	if (t->kind == TYPE_POINTER && is_c_string(m, t)) {
		n->step = string_step(m, s->pl, s->off);
		if (n->step != DESC_NONE)
			n->kind = DESC_STRING;
		return;
	}
	if (!refers(t) || s->pl->kind != AT_REGS)
		return;
	p = piece_at(s->pl, s->off);
	type_read(m->d, t->target, &target);
	if (p == NULL || !is_counted(m, &target, &c))
		return;
	there.reg = p->reg;
	make_counted(m, n, &c, &inside);
}

static bool
is_plain(const struct type *t)
{
	return t->kind != TYPE_STRUCT && t->kind != TYPE_UNION &&
	    t->kind != TYPE_ARRAY && t->kind != TYPE_OTHER &&
	    t->kind != TYPE_VECTOR && t->kind != TYPE_COMPLEX;
}

static void
make_array(struct maker *m, struct desc_node *n, const struct type *t,
    const struct spot *s)
{
	struct spot inside = { .pl = s->pl, .level = 2 };
	struct type elem;
	uint16_t first;

	type_read(m->d, t->target, &elem);
	if (elem.kind == TYPE_CCHAR && t->kind == TYPE_ARRAY &&
	    name_is(&elem, "char") && !t->many) {
		n->kind = DESC_CHARS;
		return;
	}
	if (s->level > 1 || (s->level > 0 && !is_plain(&elem)) ||
	    elem.size == 0 || t->many || !reserve(m, 1, &first))
		return;
	n->kind = DESC_ARRAY;
	n->first = first;
	n->count = t->count < CAPTURE_ELEMENTS ? (uint16_t)t->count :
	    CAPTURE_ELEMENTS;
	make_node(m, first, t->target, &inside);
	m->nodes[first].size = (uint32_t)elem.size;
}

/* Rust counts the fields of tuples. */
static bool
is_numbered(const char *name)
{
	return name != NULL && name[0] == '_' && name[1] == '_' &&
	    name[2] >= '0' && name[2] <= '9';
}

static void
make_fields(struct maker *m, uint16_t at, const struct type *t,
    const struct spot *s)
{
	struct member f[FIELDS_MAX];
	struct spot inside = { .pl = s->pl, .level = s->level + 1 };
	struct desc_node *n;
	size_t count, i;
	uint16_t first;

	count = type_members(m->d, t, f, FIELDS_MAX);
	if (!reserve(m, count, &first))
		return;
	n = &m->nodes[at];
	n->kind = n->kind == DESC_VARIANT ? DESC_VARIANT : DESC_STRUCT;
	n->first = first;
	n->count = (uint16_t)count;
	if (count > 0 && is_numbered(f[0].name)) {
		if (n->kind == DESC_STRUCT)
			n->kind = DESC_TUPLE;
		n->flags |= DESC_UNNAMED;
	}
	for (i = 0; i < count; i++) {
		inside.off = s->off + f[i].off;
		make_node(m, (uint16_t)(first + i), f[i].type, &inside);
		n = &m->nodes[first + i];
		n->name = f[i].base ? n->type : maker_str(m, f[i].name,
		    f[i].name_len);
		if (f[i].bit_size == 0 || f[i].bit_size > 64)
			continue;
		n->flags |= DESC_BITS;
		n->bit_off = (uint16_t)f[i].bit_off;
		n->bit_size = (uint16_t)f[i].bit_size;
	}
}

/* A variant is a structure within the enum, under the variant's name. */
static void
make_variant(struct maker *m, uint16_t at, const struct type *whole,
    const struct variant *v, const struct spot *s)
{
	struct desc_node *n = &m->nodes[at];
	struct type t = *whole;
	struct spot inside = *s;
	struct member f;

	n->kind = DESC_VARIANT;
	n->step = DESC_NONE;
	n->enum_first = m->head.nenums;
	if (!v->has_discr)
		n->flags |= DESC_DEFAULT;
	else if (m->head.nenums < MAKER_ENUMS) {
		m->enums[m->head.nenums++] = (struct desc_enum) {
		    .low = (uint32_t)v->discr,
		    .high = (uint32_t)(v->discr >> 32) };
		n->enum_count = 1;
	}
	t.place = v->place;
	if (type_members(m->d, &t, &f, 1) == 0)
		return;
	n->name = maker_str(m, f.name, f.name_len);
	type_read(m->d, f.type, &t);
	inside.off += f.off;
	make_fields(m, at, &t, &inside);
}

static bool
make_variants(struct maker *m, uint16_t at, const struct type *t,
    const struct spot *s)
{
	struct variant v[VARIANTS_MAX];
	struct desc_node *n = &m->nodes[at];
	struct member tag;
	struct type tt = { .size = 0 };
	size_t count, i;
	uint16_t first;

	if (t->lang != SYM_LANG_RUST)
		return false;
	count = type_variants(m->d, t, &tag, v, VARIANTS_MAX);
	if (count == 0 || !reserve(m, count, &first))
		return false;
	if (tag.type != 0)
		type_read(m->d, tag.type, &tt);
	n->kind = DESC_VARIANTS;
	n->first = first;
	n->count = (uint16_t)count;
	n->off = (uint32_t)(s->off + tag.off);
	n->size = tt.size <= 8 ? (uint32_t)tt.size : 0;
	for (i = 0; i < count; i++)
		make_variant(m, (uint16_t)(first + i), t, &v[i], s);
	return true;
}

static void
make_struct(struct maker *m, uint16_t at, uint64_t type, const struct type *t,
    const struct spot *s)
{
	struct desc_node *n = &m->nodes[at];
	struct counted c;

	n->kind = DESC_NESTED;
	n->type = type_str(m, type);
	if (s->level <= 1 && is_counted(m, t, &c)) {
		make_counted(m, n, &c, s);
		if (n->kind != DESC_NESTED)
			return;
	}
	if (s->level > 0 || t->size > DESC_IMAGE_MAX ||
	    t->kind == TYPE_UNION || make_variants(m, at, t, s))
		return;
	make_fields(m, at, t, s);
}

static enum desc_kind
scalar_kind(enum type_kind k, bool is_signed)
{
	switch (k) {
	case TYPE_BOOL:
		return DESC_BOOL;
	case TYPE_FLOAT:
		return DESC_FLOAT;
	case TYPE_CHAR:
		return DESC_CHAR;
	case TYPE_SINT:
	case TYPE_UINT:
	case TYPE_CCHAR:
		return is_signed ? DESC_SINT : DESC_UINT;
	default:
		return DESC_LOST;
	}
}

static void
make_node(struct maker *m, uint16_t at, uint64_t type, const struct spot *s)
{
	struct desc_node *n = &m->nodes[at];
	struct type t;

	type_read(m->d, type, &t);
	*n = (struct desc_node) { .kind = DESC_LOST, .step = DESC_NONE,
	    .off = (uint32_t)s->off, .size = (uint32_t)t.size };
	switch (t.kind) {
	case TYPE_VOID:
		n->kind = DESC_NULL;
		break;
	case TYPE_POINTER:
	case TYPE_REFERENCE:
		make_pointer(m, n, &t, s);
		break;
	case TYPE_ENUM:
		make_enum(m, n, &t);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		make_struct(m, at, type, &t, s);
		break;
	case TYPE_ARRAY:
		n->kind = DESC_NESTED;
		n->type = type_str(m, type);
		make_array(m, n, &t, s);
		break;
	case TYPE_VECTOR:
	case TYPE_COMPLEX:
	case TYPE_OTHER:
		n->kind = DESC_NESTED;
		n->type = type_str(m, type);
		break;
	default:
		n->kind = (uint8_t)scalar_kind(t.kind, t.is_signed);
		break;
	}
	if (n->kind == DESC_LOST)
		n->type = type_str(m, type);
}

/* -- values --------------------------------------------------------------- */

/* Its address, for what is in it and not shown. */
static void
add_address(struct maker *m, struct desc_value *v, const struct place *pl)
{
	const struct desc_node *n;
	size_t i;

	v->addr_step = DESC_NONE;
	if (pl->kind != AT_MEM && pl->kind != AT_STACK)
		return;
	for (i = v->node; i < m->head.nnodes; i++) {
		n = &m->nodes[i];
		if (n->kind != DESC_NESTED)
			continue;
		v->addr_step = reg_step(m, pl->kind == AT_MEM ? pl->reg :
		    REG_RSP);
		v->addr_off = pl->off;
		return;
	}
}

static void
add_lost(struct maker *m, uint16_t at, uint64_t type)
{
	m->nodes[at] = (struct desc_node) { .kind = DESC_LOST,
	    .step = DESC_NONE, .type = type_str(m, type) };
}

bool
maker_value(struct maker *m, const char *name, size_t name_len, uint64_t type,
    const struct place *pl)
{
	size_t i = (size_t)m->head.nargs + m->head.nresults;
	struct desc_value *v = &m->values[i];
	struct spot s = { .pl = pl };
	struct type t;

	if (i == MAKER_VALUES || !reserve(m, 1, &v->node)) {
		m->head.flags |= DESC_CUT;
		return false;
	}
	v->name = maker_str(m, name, name_len);
	v->type = type_str(m, type);
	v->part = m->head.nparts;
	v->addr_step = DESC_NONE;
	type_read(m->d, type, &t);
	if (pl->kind == AT_LOST || !add_parts(m, pl, t.size)) {
		m->head.nparts = v->part;
		add_lost(m, v->node, type);
		return true;
	}
	v->nparts = (uint16_t)(m->head.nparts - v->part);
	make_node(m, v->node, type, &s);
	add_address(m, v, pl);
	return true;
}

static size_t
append(uint8_t *out, size_t at, size_t size, const void *p, size_t len)
{
	if (at > size || len > size - at)
		return size + 1;
	memcpy(out + at, p, len);
	return at + len;
}

size_t
maker_finish(struct maker *m, uint8_t *out, size_t size)
{
	const struct desc_header *h = &m->head;
	size_t at;

	at = append(out, 0, size, h, sizeof(*h));
	at = append(out, at, size, m->values, sizeof(m->values[0]) *
	    ((size_t)h->nargs + h->nresults));
	at = append(out, at, size, m->parts, sizeof(m->parts[0]) * h->nparts);
	at = append(out, at, size, m->nodes, sizeof(m->nodes[0]) * h->nnodes);
	at = append(out, at, size, m->enums, sizeof(m->enums[0]) * h->nenums);
	at = append(out, at, size, m->strs, h->strs_len);
	return at > size ? 0 : at;
}
