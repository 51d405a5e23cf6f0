/* SPDX-License-Identifier: ISC */
/* The values of attributes, in all forms that DWARF has for them. */
#include "dw.h"
#include "unit.h"

bool
unit_addrx(const struct dwarf *d, const struct unit *u, uint64_t i,
    uint64_t *addr)
{
	struct cursor c;

	if (i > UINT32_MAX || u->addr_base > UINT32_MAX)
		return false;
	c = cur_at(&d->addr, u->addr_base + i * 8);
	*addr = cur_u64(&c);
	return !c.bad;
}

static void
read_str(struct cursor *c, struct val *v)
{
	v->p = (const uint8_t *)cur_str(c, &v->len);
	v->cls = v->p == NULL ? VAL_NONE : VAL_STR;
}

static void
read_strp(const struct span *s, uint64_t off, struct val *v)
{
	struct cursor c = cur_at(s, off);

	read_str(&c, v);
}

static void
read_strx(struct dwarf *d, const struct unit *u, uint64_t i, struct val *v)
{
	struct cursor c;
	uint64_t off;

	v->cls = VAL_NONE;
	if (i > UINT32_MAX || u->str_base > UINT32_MAX)
		return;
	c = cur_at(&d->str_offsets, u->str_base + i * u->off_size);
	off = cur_uint(&c, u->off_size);
	if (!c.bad)
		read_strp(&d->str, off, v);
}

static void
read_addrx(struct dwarf *d, const struct unit *u, uint64_t i, struct val *v)
{
	v->cls = unit_addrx(d, u, i, &v->u) ? VAL_ADDR : VAL_NONE;
}

static void
read_block(struct cursor *c, uint64_t len, struct val *v)
{
	v->cls = VAL_BLOCK;
	v->p = c->p;
	v->len = (size_t)len;
	if (!cur_has(c, len))
		v->cls = VAL_NONE;
	else
		c->p += len;
}

static void
number(struct val *v, enum val_class cls, uint64_t u)
{
	v->cls = cls;
	v->u = u;
}

/* References within the unit are counted from its header. */
static void
ref(const struct unit *u, struct val *v, uint64_t off)
{
	v->cls = VAL_REF;
	v->u = off < u->end - u->off ? u->off + off : UINT64_MAX;
}

static void
read_other(struct dwarf *d, const struct unit *u, struct cursor *c,
    unsigned int form, struct val *v)
{
	switch (form) {
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		read_strx(d, u, cur_uleb(c), v);
		break;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		read_strx(d, u, cur_uint(c, form - DW_FORM_strx1 + 1), v);
		break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		read_addrx(d, u, cur_uleb(c), v);
		break;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		read_addrx(d, u, cur_uint(c, form - DW_FORM_addrx1 + 1), v);
		break;
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
		number(v, VAL_LISTX, cur_uleb(c));
		break;
	case DW_FORM_data16:
		read_block(c, 16, v);
		break;
	case DW_FORM_ref_sig8:
		number(v, VAL_SIG, cur_u64(c));
		break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		number(v, VAL_ELSEWHERE, cur_uint(c, u->off_size));
		d->elsewhere = true;
		break;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		number(v, VAL_ELSEWHERE, cur_uint(c,
		    form == DW_FORM_ref_sup4 ? 4 : 8));
		d->elsewhere = true;
		break;
	default:
		/* how long it is, nobody knows: the unit ends here */
		c->bad = true;
		c->p = c->end;
		break;
	}
}

static void
read_reference(const struct unit *u, struct cursor *c, unsigned int form,
    struct val *v)
{
	switch (form) {
	case DW_FORM_ref_addr:
		number(v, VAL_REF, cur_uint(c, u->version == 2 ?
		    u->addr_size : u->off_size));
		break;
	case DW_FORM_ref_udata:
		ref(u, v, cur_uleb(c));
		break;
	default:
		/* ref1, 2, 4, 8 */
		ref(u, v, cur_uint(c, 1U << (form - DW_FORM_ref1)));
		break;
	}
}

void
form_read(struct dwarf *d, const struct unit *u, struct cursor *c,
    const struct attr_spec *a, struct val *v)
{
	unsigned int form = a->form;

	v->cls = VAL_NONE;
	v->u = 0;
	if (form == DW_FORM_indirect)
		form = (unsigned int)(cur_uleb(c) & 0xffff);
	switch (form) {
	case DW_FORM_addr:
		number(v, VAL_ADDR, cur_uint(c, u->addr_size));
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
		number(v, VAL_UINT, cur_u8(c));
		break;
	case DW_FORM_data2:
		number(v, VAL_UINT, cur_u16(c));
		break;
	case DW_FORM_data4:
		number(v, VAL_UINT, cur_u32(c));
		break;
	case DW_FORM_data8:
		number(v, VAL_UINT, cur_u64(c));
		break;
	case DW_FORM_udata:
		number(v, VAL_UINT, cur_uleb(c));
		break;
	case DW_FORM_sdata:
		number(v, VAL_SINT, (uint64_t)cur_sleb(c));
		break;
	case DW_FORM_implicit_const:
		number(v, VAL_SINT, (uint64_t)a->implicit);
		break;
	case DW_FORM_flag_present:
		number(v, VAL_UINT, 1);
		break;
	case DW_FORM_sec_offset:
		number(v, VAL_SECOFF, cur_uint(c, u->off_size));
		break;
	case DW_FORM_string:
		read_str(c, v);
		break;
	case DW_FORM_strp:
		read_strp(&d->str, cur_uint(c, u->off_size), v);
		break;
	case DW_FORM_line_strp:
		read_strp(&d->line_str, cur_uint(c, u->off_size), v);
		break;
	case DW_FORM_block1:
		read_block(c, cur_u8(c), v);
		break;
	case DW_FORM_block2:
		read_block(c, cur_u16(c), v);
		break;
	case DW_FORM_block4:
		read_block(c, cur_u32(c), v);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		read_block(c, cur_uleb(c), v);
		break;
	case DW_FORM_ref_addr:
	case DW_FORM_ref_udata:
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		read_reference(u, c, form, v);
		break;
	default:
		read_other(d, u, c, form, v);
		break;
	}
}

/*
 * How many bytes a form takes: one more than that, so that 0 is none that is
 * known, or how to find out.
 */
enum {
	SKIP_ADDR	= -1,
	SKIP_OFF	= -2,
	SKIP_REF_ADDR	= -3,
	SKIP_LEB	= -4,
	SKIP_STRING	= -5,
	SKIP_BLOCK	= -6,
	SKIP_BLOCK1	= -7,
	SKIP_BLOCK2	= -8,
	SKIP_BLOCK4	= -9
};

static const int8_t skips[] = {
	[DW_FORM_flag_present] = 1, [DW_FORM_implicit_const] = 1,
	[DW_FORM_data1] = 2, [DW_FORM_flag] = 2, [DW_FORM_ref1] = 2,
	[DW_FORM_strx1] = 2, [DW_FORM_addrx1] = 2,
	[DW_FORM_data2] = 3, [DW_FORM_ref2] = 3, [DW_FORM_strx2] = 3,
	[DW_FORM_addrx2] = 3,
	[DW_FORM_strx3] = 4, [DW_FORM_addrx3] = 4,
	[DW_FORM_data4] = 5, [DW_FORM_ref4] = 5, [DW_FORM_strx4] = 5,
	[DW_FORM_addrx4] = 5, [DW_FORM_ref_sup4] = 5,
	[DW_FORM_data8] = 9, [DW_FORM_ref8] = 9, [DW_FORM_ref_sig8] = 9,
	[DW_FORM_ref_sup8] = 9,
	[DW_FORM_data16] = 17,
	[DW_FORM_addr] = SKIP_ADDR,
	[DW_FORM_strp] = SKIP_OFF, [DW_FORM_line_strp] = SKIP_OFF,
	[DW_FORM_sec_offset] = SKIP_OFF, [DW_FORM_strp_sup] = SKIP_OFF,
	[DW_FORM_ref_addr] = SKIP_REF_ADDR,
	[DW_FORM_sdata] = SKIP_LEB, [DW_FORM_udata] = SKIP_LEB,
	[DW_FORM_ref_udata] = SKIP_LEB, [DW_FORM_strx] = SKIP_LEB,
	[DW_FORM_addrx] = SKIP_LEB, [DW_FORM_loclistx] = SKIP_LEB,
	[DW_FORM_rnglistx] = SKIP_LEB,
	[DW_FORM_string] = SKIP_STRING,
	[DW_FORM_exprloc] = SKIP_BLOCK, [DW_FORM_block] = SKIP_BLOCK,
	[DW_FORM_block1] = SKIP_BLOCK1, [DW_FORM_block2] = SKIP_BLOCK2,
	[DW_FORM_block4] = SKIP_BLOCK4,
};

static int
how_to_skip(unsigned int form)
{
	if (form < sizeof(skips))
		return skips[form];
	switch (form) {
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return SKIP_LEB;
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return SKIP_OFF;
	default:
		return 0;
	}
}

static void
skip_counted(struct cursor *c, int how)
{
	size_t len;

	switch (how) {
	case SKIP_STRING:
		(void)cur_str(c, &len);
		break;
	case SKIP_BLOCK:
		cur_skip(c, cur_uleb(c));
		break;
	case SKIP_BLOCK1:
		cur_skip(c, cur_u8(c));
		break;
	case SKIP_BLOCK2:
		cur_skip(c, cur_u16(c));
		break;
	case SKIP_BLOCK4:
		cur_skip(c, cur_u32(c));
		break;
	default:
		/* nobody knows how long it is: the unit ends here */
		c->bad = true;
		c->p = c->end;
		break;
	}
}

/* The most frequent path: skips most values without reading them. */
void
form_skip(const struct unit *u, struct cursor *c, unsigned int form)
{
	int how;

	if (form == DW_FORM_indirect)
		form = (unsigned int)(cur_uleb(c) & 0xffff);
	how = how_to_skip(form);
	if (how > 0)
		cur_skip(c, (uint64_t)how - 1);
	else if (how == SKIP_LEB)
		(void)cur_uleb(c);
	else if (how == SKIP_OFF || (how == SKIP_REF_ADDR && u->version > 2))
		cur_skip(c, u->off_size);
	else if (how == SKIP_ADDR || how == SKIP_REF_ADDR)
		cur_skip(c, u->addr_size);
	else
		skip_counted(c, how);
}
