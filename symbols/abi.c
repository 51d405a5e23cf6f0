/* SPDX-License-Identifier: ISC */
/* Calling conventions of x86-64: System V, Rust's and Go's. */
#include <string.h>

#include "abi.h"

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
#define DEPTH_MAX	12
#define LEAVES_MAX	PIECES_MAX
#define MEMBERS_MAX	64
#define VARIANTS_MAX	128
#define NVEC		8
#define GO_NVEC		15

/* rdi rsi rdx rcx r8 r9, in DWARF's numbers */
static const uint8_t sysv_regs[] = { 5, 4, 1, 2, 8, 9 };
/* rax rbx rcx rdi rsi r8 r9 r10 r11 */
static const uint8_t go_regs[] = { 0, 3, 2, 5, 4, 8, 9, 10, 11 };
/* rax rdx */
static const uint8_t result_regs[] = { 0, 1 };

void
abi_init(struct abi *a, struct dwarf *d, enum abi_kind kind)
{
	memset(a, 0, sizeof(*a));
	a->d = d;
	a->kind = kind;
	/* above the return address */
	a->stack = 8;
}

static bool
is_scalar(const struct type *t)
{
	switch (t->kind) {
	case TYPE_SINT:
	case TYPE_UINT:
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_CCHAR:
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_ENUM:
	case TYPE_FLOAT:
		return true;
	default:
		return false;
	}
}

/* -- handing out places --------------------------------------------------- */

struct regs {
	const uint8_t	*ints;
	size_t		 nints, nvecs;
	size_t		*int_used, *vec_used;
};

static struct regs
arg_regs(struct abi *a)
{
	struct regs r = { sysv_regs, NELEM(sysv_regs), NVEC, &a->nint,
	    &a->nvec };

	if (a->kind == ABI_GO) {
		r.ints = go_regs;
		r.nints = NELEM(go_regs);
		r.nvecs = GO_NVEC;
	}
	return r;
}

static bool
add_piece(struct place *p, struct regs *r, bool vec, uint64_t off, uint64_t len)
{
	size_t *used = vec ? r->vec_used : r->int_used;

	if (*used >= (vec ? r->nvecs : r->nints) || p->n == PIECES_MAX ||
	    off > UINT16_MAX)
		return false;
	p->pieces[p->n++] = (struct piece) {
		.vec = vec,
		.reg = vec ? (uint8_t)*used : r->ints[*used],
		.off = (uint16_t)off, .len = (uint16_t)len,
	};
	(*used)++;
	p->kind = AT_REGS;
	return true;
}

static bool
stack_slot(struct abi *a, uint64_t size, uint64_t align, int32_t *off)
{
	if (size > INT32_MAX / 2 || a->stack > INT32_MAX / 2)
		return false;
	/* alignment is the caller's, whose stack begins above the return */
	a->stack = ((a->stack - 8 + align - 1) & ~(align - 1)) + 8;
	*off = (int32_t)a->stack;
	a->stack += a->kind == ABI_GO || a->kind == ABI_GO_STACK ? size :
	    (size + 7) & ~7ULL;
	return true;
}

static void
on_stack(struct abi *a, uint64_t size, uint64_t align, struct place *p)
{
	p->n = 0;
	p->kind = stack_slot(a, size, align, &p->off) ? AT_STACK : AT_LOST;
}

/* The address is what is passed. */
static void
by_address(struct abi *a, struct place *p)
{
	struct regs r = arg_regs(a);

	memset(p, 0, sizeof(*p));
	if (add_piece(p, &r, false, 0, 8)) {
		p->reg = p->pieces[0].reg;
		p->n = 0;
		p->kind = AT_MEM;
		return;
	}
	on_stack(a, 8, 8, p);
	p->kind = AT_LOST;
}

static void
result_in_memory(struct place *p)
{
	memset(p, 0, sizeof(*p));
	p->kind = AT_MEM;
	p->reg = REG_RAX;
}

/* -- System V ------------------------------------------------------------- */

enum class {
	CLASS_NONE,
	CLASS_SSE,
	CLASS_SSEUP,		/* the upper half of the register before */
	CLASS_INTEGER,
	CLASS_X87,
	CLASS_MEMORY		/* wins */
};

struct classes {
	enum class	 c[2];
	bool		 wide;		/* something is aligned to 16 */
};

static void
merge(struct classes *cs, uint64_t off, enum class c)
{
	if (off >= 16)
		c = CLASS_MEMORY;
	else if (c > cs->c[off / 8])
		cs->c[off / 8] = c;
	if (c == CLASS_MEMORY)
		cs->c[0] = c;
}

static void
classify_scalar(struct classes *cs, const struct type *t, uint64_t off)
{
	uint64_t align = t->kind == TYPE_POINTER && t->size > 8 ? 8 : t->size;

	if (t->size == 0 || t->size > 16 || off % align != 0) {
		merge(cs, 0, CLASS_MEMORY);
		return;
	}
	cs->wide = cs->wide || align == 16;
	if (t->kind == TYPE_FLOAT) {
		merge(cs, off, t->size == 16 ? CLASS_X87 : CLASS_SSE);
		return;
	}
	merge(cs, off, CLASS_INTEGER);
	if (t->size == 16)
		merge(cs, off + 8, CLASS_INTEGER);
}

static void	classify(struct abi *, uint64_t, uint64_t, struct classes *, int);

/* It begins anywhere, and may be in two words. */
static void
classify_bits(struct classes *cs, const struct member *m, uint64_t off)
{
	uint64_t last = (m->bit_off + (uint64_t)m->bit_size - 1) / 8;

	merge(cs, off + m->off, CLASS_INTEGER);
	merge(cs, off + m->off + last, CLASS_INTEGER);
}

static void
classify_inside(struct abi *a, const struct type *t, uint64_t off,
    struct classes *cs, int depth)
{
	struct member m[MEMBERS_MAX];
	struct type elem;
	size_t i, n;

	if (t->kind == TYPE_ARRAY) {
		type_read(a->d, t->target, &elem);
		if (t->count > 16 || elem.size > 16)
			merge(cs, 0, CLASS_MEMORY);
		for (i = 0; i < t->count && i < 16; i++)
			classify(a, t->target, off + i * elem.size, cs,
			    depth + 1);
		return;
	}
	n = type_members(a->d, t, m, MEMBERS_MAX);
	for (i = 0; i < n; i++)
		if (m[i].bit_size != 0)
			classify_bits(cs, &m[i], off);
		else
			classify(a, m[i].type, off + m[i].off, cs, depth + 1);
}

static void
classify(struct abi *a, uint64_t type, uint64_t off, struct classes *cs,
    int depth)
{
	struct type t;

	type_read(a->d, type, &t);
	if (depth > DEPTH_MAX || off >= 16 || t.size > 16) {
		/* an empty base or a last member of no bytes */
		if (t.size != 0)
			merge(cs, 0, CLASS_MEMORY);
		return;
	}
	switch (t.kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
	case TYPE_ARRAY:
		classify_inside(a, &t, off, cs, depth);
		break;
	case TYPE_VECTOR:
		merge(cs, off, CLASS_SSE);
		if (t.size == 16)
			merge(cs, off + 8, CLASS_SSEUP);
		cs->wide = cs->wide || t.size == 16;
		break;
	case TYPE_COMPLEX:
		merge(cs, off, t.size <= 16 ? CLASS_SSE : CLASS_MEMORY);
		if (t.size == 16)
			merge(cs, off + 8, CLASS_SSE);
		break;
	case TYPE_VOID:
		break;
	case TYPE_OTHER:
		merge(cs, 0, CLASS_MEMORY);
		break;
	default:
		classify_scalar(cs, &t, off);
		break;
	}
}

static bool
in_memory(const struct classes *cs, bool result)
{
	return cs->c[0] == CLASS_MEMORY ||
	    (!result && (cs->c[0] == CLASS_X87 || cs->c[1] == CLASS_X87));
}

/* All of it or nothing. */
static bool
in_regs(const struct classes *cs, uint64_t size, struct regs *r,
    struct place *p)
{
	size_t ints = *r->int_used, vecs = *r->vec_used, i;
	uint64_t len;

	for (i = 0; i < 2 && i * 8 < size; i++) {
		len = size - i * 8 < 8 ? size - i * 8 : 8;
		if (cs->c[i] == CLASS_SSEUP && p->n > 0) {
			p->pieces[p->n - 1].len = 16;
			continue;
		}
		if (cs->c[i] == CLASS_NONE)
			continue;
		if (add_piece(p, r, cs->c[i] != CLASS_INTEGER, i * 8, len))
			continue;
		*r->int_used = ints;
		*r->vec_used = vecs;
		return false;
	}
	return true;
}

static void
sysv_argument(struct abi *a, uint64_t type, const struct type *t,
    struct place *p)
{
	struct classes cs = { { CLASS_NONE, CLASS_NONE }, false };
	struct regs r = arg_regs(a);

	if ((t->kind == TYPE_STRUCT || t->kind == TYPE_UNION) &&
	    type_is_nontrivial(a->d, t, 0)) {
		by_address(a, p);
		return;
	}
	classify(a, type, 0, &cs, 0);
	if (cs.c[0] == CLASS_NONE && cs.c[1] == CLASS_NONE)
		return;
	if (!in_memory(&cs, false) && in_regs(&cs, t->size, &r, p))
		return;
	on_stack(a, t->size, cs.wide ? 16 : 8, p);
}

static void
sysv_result(struct abi *a, uint64_t type, const struct type *t,
    struct place *p)
{
	struct classes cs = { { CLASS_NONE, CLASS_NONE }, false };
	size_t ints = 0, vecs = 0;
	struct regs r = { result_regs, 2, 2, &ints, &vecs };

	classify(a, type, 0, &cs, 0);
	if (((t->kind == TYPE_STRUCT || t->kind == TYPE_UNION) &&
	    type_is_nontrivial(a->d, t, 0)) || in_memory(&cs, true)) {
		a->nint++;
		result_in_memory(p);
		return;
	}
	if (cs.c[0] == CLASS_X87 || cs.c[1] == CLASS_X87) {
		/* what has more than it is in two registers of that kind */
		p->kind = cs.c[1] == CLASS_NONE && t->size == 16 ? AT_REGS :
		    AT_LOST;
		p->pieces[p->n++] = (struct piece) { .x87 = true, .len = 16 };
		return;
	}
	(void)in_regs(&cs, t->size, &r, p);
}

/* -- Rust and Go: by scalars ---------------------------------------------- */

struct leaf {
	uint64_t	 off, size;
	bool		 flt;
};

struct leaves {
	struct leaf	 l[LEAVES_MAX];
	size_t		 n;
	bool		 aggregate;	/* more than scalars */
	bool		 go;
};

/* Variants share their places; those that do not fit make an aggregate. */
static void
add_leaf(struct leaves *ls, uint64_t off, uint64_t size, bool flt)
{
	struct leaf *l;
	size_t i;

	for (i = 0; i < ls->n; i++) {
		l = &ls->l[i];
		if (off >= l->off + l->size || l->off >= off + size)
			continue;
		if (l->off != off || l->size != size || l->flt != flt)
			ls->aggregate = true;
		return;
	}
	if (ls->n == LEAVES_MAX) {
		ls->aggregate = true;
		return;
	}
	for (i = ls->n++; i > 0 && ls->l[i - 1].off > off; i--)
		ls->l[i] = ls->l[i - 1];
	ls->l[i] = (struct leaf) { off, size, flt };
}

static void	flatten(struct abi *, uint64_t, uint64_t, struct leaves *, int);

static void
flatten_struct(struct abi *a, const struct type *t, uint64_t off,
    struct leaves *ls, int depth)
{
	struct member m[MEMBERS_MAX], tag;
	struct variant v[VARIANTS_MAX];
	struct type sub;
	size_t i, j, n, nv;

	nv = type_variants(a->d, t, &tag, v, VARIANTS_MAX);
	if (nv == VARIANTS_MAX)
		ls->aggregate = true;
	if (tag.type != 0)
		flatten(a, tag.type, off + tag.off, ls, depth + 1);
	for (i = 0; i < nv; i++) {
		sub = *t;
		sub.place = v[i].place;
		n = type_members(a->d, &sub, m, MEMBERS_MAX);
		for (j = 0; j < n; j++)
			flatten(a, m[j].type, off + m[j].off, ls, depth + 1);
	}
	n = type_members(a->d, t, m, MEMBERS_MAX);
	if (n == MEMBERS_MAX)
		ls->aggregate = true;
	for (j = 0; j < n; j++)
		flatten(a, m[j].type, off + m[j].off, ls, depth + 1);
}

static void
flatten(struct abi *a, uint64_t type, uint64_t off, struct leaves *ls,
    int depth)
{
	struct type t;

	type_read(a->d, type, &t);
	if (depth > DEPTH_MAX || ls->aggregate) {
		ls->aggregate = true;
		return;
	}
	if (is_scalar(&t))
		add_leaf(ls, off, t.size, t.kind == TYPE_FLOAT);
	else if (t.kind == TYPE_STRUCT)
		flatten_struct(a, &t, off, ls, depth);
	else if (t.kind == TYPE_ARRAY && ls->go && t.count == 1)
		flatten(a, t.target, off, ls, depth + 1);
	else if (t.kind == TYPE_COMPLEX) {
		add_leaf(ls, off, t.size / 2, true);
		add_leaf(ls, off + t.size / 2, t.size / 2, true);
	} else if (t.kind != TYPE_VOID && t.size != 0)
		ls->aggregate = true;
}

static bool
place_leaf(struct place *p, struct regs *r, const struct leaf *l)
{
	if (l->size > 8 && !l->flt)
		return add_piece(p, r, false, l->off, 8) &&
		    add_piece(p, r, false, l->off + 8, l->size - 8);
	return l->size <= 8 && add_piece(p, r, l->flt, l->off, l->size);
}

/*
 * Whether a type consists of no more than two scalars, laid out as they would
 * be by themselves; with other padding (repr(align), repr(packed)) the type is
 * an aggregate.
 */
static bool
are_scalars(const struct leaves *ls, const struct type *t)
{
	const struct leaf *a = &ls->l[0], *b = &ls->l[1];
	uint64_t off, align;

	if (ls->aggregate || ls->n > 2)
		return false;
	if (ls->n == 0)
		return true;
	if (ls->n == 1)
		return a->off == 0 && a->size == t->size;
	if (a->size > 8 || b->size > 8)
		return true;
	off = (a->size + b->size - 1) & ~(b->size - 1);
	align = a->size > b->size ? a->size : b->size;
	return a->off == 0 && b->off == off &&
	    ((off + b->size + align - 1) & ~(align - 1)) == t->size;
}

/*
 * Lists the words in which a value is passed; an aggregate of up to 8 bytes is
 * passed as one word.  False if the value is passed in memory.
 */
static bool
rust_words(struct abi *a, uint64_t type, const struct type *t,
    struct leaves *ls)
{
	*ls = (struct leaves) { .n = 0 };
	flatten(a, type, 0, ls, 0);
	if (are_scalars(ls, t))
		return true;
	ls->l[0] = (struct leaf) { .size = t->size };
	ls->n = 1;
	return t->size <= 8;
}

static void
rust_word(struct abi *a, const struct leaf *l, struct place *p)
{
	struct regs r = arg_regs(a);
	int32_t at;

	if (l->size <= 8 && add_piece(p, &r, l->flt, l->off, l->size))
		return;
	if (p->n == PIECES_MAX || l->off > UINT16_MAX ||
	    !stack_slot(a, l->size, l->size > 8 ? 16 : 8, &at)) {
		p->kind = AT_LOST;
		return;
	}
	p->pieces[p->n++] = (struct piece) { .stack = true, .at = at,
	    .off = (uint16_t)l->off, .len = (uint16_t)l->size };
	p->kind = AT_REGS;
}

/* Numbers of 128 bits are two words, unless the compiler knows better. */
static void
rust_scalar(struct abi *a, const struct leaf *l, struct place *p)
{
	struct leaf low = *l, high = *l;
	struct regs r = arg_regs(a);

	if (l->size <= 8 || l->flt ||
	    (a->unsplit && *r.int_used + 2 > r.nints)) {
		rust_word(a, l, p);
		return;
	}
	low.size = 8;
	high.off += 8;
	high.size -= 8;
	rust_word(a, &low, p);
	rust_word(a, &high, p);
}

/* On the stack alone, and there as in memory. */
static void
join(struct place *p)
{
	const struct piece *first = &p->pieces[0], *q;

	for (q = first; q < first + p->n; q++)
		if (!q->stack || q->at - first->at != q->off - first->off)
			return;
	if (p->n == 0 || p->kind != AT_REGS)
		return;
	p->kind = AT_STACK;
	p->off = first->at - first->off;
	p->n = 0;
}

/* Each word for itself: one in a register, another on the stack. */
static void
rust_argument(struct abi *a, uint64_t type, const struct type *t,
    struct place *p)
{
	struct leaves ls;
	size_t i;

	if (!rust_words(a, type, t, &ls)) {
		by_address(a, p);
		return;
	}
	for (i = 0; i < ls.n; i++)
		rust_scalar(a, &ls.l[i], p);
	join(p);
}

/* 1 = in registers, 0 = in memory, -1 = there are not enough registers. */
static int
rust_place(struct abi *a, uint64_t type, const struct type *t,
    struct regs *r, struct place *p)
{
	struct leaves ls;
	size_t i;

	if (!rust_words(a, type, t, &ls))
		return 0;
	for (i = 0; i < ls.n; i++)
		if (!place_leaf(p, r, &ls.l[i]))
			return -1;
	return 1;
}

static void
rust_result(struct abi *a, uint64_t type, const struct type *t,
    struct place *p)
{
	size_t ints = 0, vecs = 0;
	struct regs r = { result_regs, 2, 2, &ints, &vecs };

	int got = rust_place(a, type, t, &r, p);

	switch (got == -1 && a->two_words ? 0 : got) {
	case 0:
		a->nint++;
		result_in_memory(p);
		break;
	case -1:
		p->kind = AT_LOST;
		break;
	default:
		break;
	}
}

static void
go_argument(struct abi *a, uint64_t type, const struct type *t,
    struct place *p)
{
	struct leaves ls = { .go = true };
	struct regs r = arg_regs(a);
	size_t ints = a->nint, vecs = a->nvec, i;
	uint64_t align = 1;

	flatten(a, type, 0, &ls, 0);
	for (i = 0; i < ls.n; i++)
		if (ls.l[i].size > align)
			align = ls.l[i].size > 4 ? 8 : ls.l[i].size;
	if (a->kind == ABI_GO && !ls.aggregate) {
		for (i = 0; i < ls.n && place_leaf(p, &r, &ls.l[i]); i++)
			continue;
		if (i == ls.n)
			return;
	}
	a->nint = ints;
	a->nvec = vecs;
	on_stack(a, t->size, ls.aggregate ? 8 : align, p);
}

/* -- all ------------------------------------------------------------------ */

/* A type passed by address need not have a known size. */
static bool
is_nothing(const struct abi *a, const struct type *t)
{
	return t->kind == TYPE_VOID || (t->size == 0 &&
	    (a->kind != ABI_SYSV || !t->declared));
}

void
abi_argument(struct abi *a, uint64_t type, struct place *p)
{
	struct type t;

	memset(p, 0, sizeof(*p));
	type_read(a->d, type, &t);
	if (is_nothing(a, &t))
		return;
	if (a->kind == ABI_SYSV)
		sysv_argument(a, type, &t, p);
	else if (a->kind == ABI_RUST)
		rust_argument(a, type, &t, p);
	else
		go_argument(a, type, &t, p);
}

/* Adds the pieces of a member.  False: it is not in registers or on the stack. */
static bool
add_member(struct place *p, const struct place *q, const struct member *m,
    uint64_t size)
{
	size_t i;

	if (q->kind == AT_NOWHERE)
		return true;
	if (m->off + size > UINT16_MAX || p->n == PIECES_MAX)
		return false;
	if (q->kind == AT_STACK) {
		p->pieces[p->n++] = (struct piece) { .stack = true,
		    .at = q->off, .off = (uint16_t)m->off,
		    .len = (uint16_t)size };
		return true;
	}
	for (i = 0; q->kind == AT_REGS && i < q->n && p->n < PIECES_MAX; i++) {
		p->pieces[p->n] = q->pieces[i];
		p->pieces[p->n++].off += (uint16_t)m->off;
	}
	return q->kind == AT_REGS && i == q->n;
}

void
abi_tuple(struct abi *a, uint64_t type, struct place *p)
{
	struct member m[MEMBERS_MAX];
	struct type t, of;
	struct place q;
	bool good;
	size_t i, n;

	memset(p, 0, sizeof(*p));
	type_read(a->d, type, &t);
	n = type_members(a->d, &t, m, MEMBERS_MAX);
	good = n < MEMBERS_MAX;
	for (i = 0; i < n; i++) {
		abi_argument(a, m[i].type, &q);
		type_read(a->d, m[i].type, &of);
		good = good && add_member(p, &q, &m[i], of.size);
	}
	if (!good)
		*p = (struct place) { .kind = AT_LOST };
	else if (p->n > 0)
		p->kind = AT_REGS;
}

void
abi_word(struct abi *a)
{
	struct place p;

	memset(&p, 0, sizeof(p));
	by_address(a, &p);
}

void
abi_result(struct abi *a, uint64_t type, struct place *p)
{
	struct type t;

	memset(p, 0, sizeof(*p));
	type_read(a->d, type, &t);
	if (is_nothing(a, &t))
		return;
	if (a->kind == ABI_SYSV)
		sysv_result(a, type, &t, p);
	else if (a->kind == ABI_RUST)
		rust_result(a, type, &t, p);
	else
		/* its stacks move: nothing is hooked there */
		p->kind = AT_LOST;
}
