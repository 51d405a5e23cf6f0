/* SPDX-License-Identifier: ISC */
/* Location lists: .debug_loc of DWARF 2 to 4 and .debug_loclists of 5. */
#include "dw.h"
#include "loc.h"

#define ENTRIES_MAX	4096

struct entry {
	uint64_t	lo, hi;
	struct span	expr;
};

static bool
take_reg(struct cursor *c, unsigned int op, unsigned int *reg)
{
	if (op == DW_OP_regx)
		*reg = (unsigned int)(cur_uleb(c) & 0xff);
	else if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
		*reg = op - DW_OP_reg0;
	else
		return false;
	return true;
}

static bool
take_number(struct cursor *c, unsigned int op, uint64_t *u)
{
	unsigned int size = 1U << (op - DW_OP_const1u) / 2 % 4;
	uint64_t sign = UINT64_C(1) << (size * 8 - 1);

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		*u = op - DW_OP_lit0;
	else if (op == DW_OP_constu)
		*u = cur_uleb(c);
	else if (op == DW_OP_consts)
		*u = (uint64_t)cur_sleb(c);
	else if (op >= DW_OP_const1u && op <= DW_OP_const8s)
		*u = cur_uint(c, size);
	else
		return false;
	/* those of odd numbers have a sign */
	if (op >= DW_OP_const1u && op <= DW_OP_const8s && op % 2 != 0)
		*u = (*u ^ sign) - sign;
	return !c->bad;
}

/* The contents of a register, or some bits of it, without a place. */
static bool
take_value(struct cursor *c, unsigned int op, struct loc_piece *p)
{
	uint64_t mask;

	p->value = UINT64_MAX;
	if (op < DW_OP_breg0 || op > DW_OP_breg31) {
		p->constant = true;
		return take_number(c, op, &p->value) &&
		    cur_left(c) > 0 && cur_u8(c) == DW_OP_stack_value;
	}
	p->reg = op - DW_OP_breg0;
	if (cur_sleb(c) != 0)
		return false;
	while (cur_left(c) > 0) {
		op = cur_u8(c);
		if (op == DW_OP_stack_value)
			return true;
		if (!take_number(c, op, &mask) || cur_left(c) == 0 ||
		    cur_u8(c) != DW_OP_and)
			return false;
		p->value &= mask;
	}
	return false;
}

/* Reads an expression that gives a single place, without pieces. */
static bool
take_memory(const struct span *expr, struct loc *l)
{
	struct cursor c = cur_at(expr, 0);
	unsigned int op = cur_left(&c) > 0 ? cur_u8(&c) : 0;

	l->base = LOC_ELSEWHERE;
	l->off = 0;
	if (op == DW_OP_call_frame_cfa || op == DW_OP_fbreg)
		l->base = LOC_CFA;
	else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		l->base = LOC_BREG;
		l->reg = op - DW_OP_breg0;
	} else if (op != DW_OP_addr)
		return false;
	if (op != DW_OP_call_frame_cfa && op != DW_OP_addr)
		l->off = cur_sleb(&c);
	/* what is computed from there is anywhere */
	if (c.bad || (cur_left(&c) > 0 && cur_u8(&c) != DW_OP_piece))
		l->base = LOC_ELSEWHERE;
	return expr->p[expr->len - 1] != DW_OP_stack_value;
}

static bool
take_piece(struct cursor *c, unsigned int op, struct loc_piece *p)
{
	*p = (struct loc_piece) { .value = UINT64_MAX };
	return take_reg(c, op, &p->reg) || take_value(c, op, p);
}

/* Pieces that are in registers or known; false, there is something else. */
static bool
take_pieces(const struct span *expr, struct loc *l)
{
	struct cursor c = cur_at(expr, 0);
	struct loc_piece *p;
	unsigned int op;
	uint64_t off = 0, len;
	bool gap;

	while (cur_left(&c) > 0) {
		op = cur_u8(&c);
		gap = op == DW_OP_piece;
		p = &l->pieces[l->n];
		if (!gap && (l->n == LOC_PIECES || !take_piece(&c, op, p)))
			return false;
		/* all of it constant: it may have been assigned to */
		if (!gap && cur_left(&c) == 0 && off == 0) {
			l->n++;
			return !p->constant;
		}
		if (!gap && cur_u8(&c) != DW_OP_piece)
			return false;
		len = cur_uleb(&c);
		if (c.bad || len == 0 || len > 64 || off > 64)
			return false;
		if (!gap) {
			p->off = (uint16_t)off;
			p->len = (uint16_t)len;
			l->n++;
		}
		off += len;
	}
	return true;
}

/* Registers with the pieces that they hold, or what the first operation says. */
static void
evaluate(const struct span *expr, struct loc *l)
{
	l->n = 0;
	l->kind = expr->len == 0 ? LOC_NONE : LOC_VALUE;
	if (expr->len == 0)
		return;
	if (take_pieces(expr, l) && l->n > 0)
		l->kind = LOC_REGS;
	else if (take_memory(expr, l))
		l->kind = LOC_MEMORY;
}

/* A number without a place, or the bytes themselves. */
static bool
take_constant(const struct span *expr, struct val *v)
{
	struct cursor c = cur_at(expr, 0);
	unsigned int op = cur_left(&c) > 0 ? cur_u8(&c) : 0;

	*v = (struct val) { .cls = VAL_UINT };
	if (op == DW_OP_implicit_value) {
		v->cls = VAL_BLOCK;
		v->len = (size_t)cur_uleb(&c);
		v->p = c.p;
		return !c.bad && v->len == cur_left(&c);
	}
	return take_number(&c, op, &v->u) && cur_left(&c) == 1 &&
	    cur_u8(&c) == DW_OP_stack_value;
}

static void
take_expr(struct cursor *c, uint64_t len, struct entry *e)
{
	e->expr.p = c->p;
	e->expr.len = (size_t)len;
	cur_skip(c, len);
}

/* 1 = an entry, 0 = something else, -1 = the end. */
static int
next_old(struct cursor *c, uint64_t *base, struct entry *e)
{
	uint64_t lo = cur_u64(c), hi = cur_u64(c);

	if (c->bad || (lo == 0 && hi == 0))
		return -1;
	if (lo == UINT64_MAX) {
		*base = hi;
		return 0;
	}
	e->lo = *base + lo;
	e->hi = *base + hi;
	take_expr(c, cur_u16(c), e);
	return c->bad ? -1 : 1;
}

static int
next_new(struct dwarf *d, const struct unit *u, struct cursor *c,
    uint64_t *base, struct entry *e)
{
	bool ok = true;

	switch (cur_u8(c)) {
	case DW_LLE_base_addressx:
		return unit_addrx(d, u, cur_uleb(c), base) ? 0 : -1;
	case DW_LLE_base_address:
		*base = cur_u64(c);
		return c->bad ? -1 : 0;
	case DW_LLE_GNU_view_pair:
		(void)cur_uleb(c);
		(void)cur_uleb(c);
		return c->bad ? -1 : 0;
	case DW_LLE_startx_endx:
		ok = unit_addrx(d, u, cur_uleb(c), &e->lo);
		ok = unit_addrx(d, u, cur_uleb(c), &e->hi) && ok;
		break;
	case DW_LLE_startx_length:
		ok = unit_addrx(d, u, cur_uleb(c), &e->lo);
		e->hi = e->lo + cur_uleb(c);
		break;
	case DW_LLE_offset_pair:
		e->lo = *base + cur_uleb(c);
		e->hi = *base + cur_uleb(c);
		break;
	case DW_LLE_default_location:
		e->lo = 0;
		e->hi = UINT64_MAX;
		break;
	case DW_LLE_start_end:
		e->lo = cur_u64(c);
		e->hi = cur_u64(c);
		break;
	case DW_LLE_start_length:
		e->lo = cur_u64(c);
		e->hi = e->lo + cur_uleb(c);
		break;
	default:
		return -1;
	}
	take_expr(c, cur_uleb(c), e);
	return ok && !c->bad ? 1 : -1;
}

static struct cursor
list_at(struct dwarf *d, const struct unit *u, const struct val *v)
{
	const struct span *s = elf_section(d->elf, u->version >= 5 ?
	    SECT_LOCLISTS : SECT_LOC);
	uint64_t off = v->u;
	struct cursor c;

	if (v->cls != VAL_LISTX)
		return cur_at(s, off);
	if (off > UINT32_MAX || u->loclists_base > UINT32_MAX)
		return cur_at(s, s->len);
	c = cur_at(s, u->loclists_base + off * u->off_size);
	off = u->loclists_base + cur_uint(&c, u->off_size);
	return c.bad ? c : cur_at(s, off);
}

void
loc_at(struct dwarf *d, const struct unit *u, const struct val *v,
    uint64_t pc, struct loc *l)
{
	struct span whole = { v->p, v->len };
	uint64_t base = u->low_pc;
	struct cursor c;
	struct entry e;
	unsigned int i;
	int got;

	l->kind = LOC_NONE;
	l->n = 0;
	if (v->cls == VAL_BLOCK) {
		evaluate(&whole, l);
		if (take_constant(&whole, &l->constant))
			l->kind = LOC_CONSTANT;
	}
	if (v->cls == VAL_BLOCK || v->cls == VAL_NONE)
		return;
	c = list_at(d, u, v);
	for (i = 0; i < ENTRIES_MAX && !c.bad; i++) {
		d->work++;
		got = u->version >= 5 ? next_new(d, u, &c, &base, &e) :
		    next_old(&c, &base, &e);
		if (got == -1)
			break;
		if (got == 0)
			continue;
		l->kind = LOC_LATER;
		if (pc >= e.lo && pc < e.hi) {
			evaluate(&e.expr, l);
			break;
		}
	}
}
