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

/* What is passed over by far the most, without a look at it. */
void
form_skip(const struct unit *u, struct cursor *c, unsigned int form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		cur_skip(c, 1);
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		cur_skip(c, 2);
		break;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		cur_skip(c, 3);
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		cur_skip(c, 4);
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		cur_skip(c, 8);
		break;
	case DW_FORM_data16:
		cur_skip(c, 16);
		break;
	case DW_FORM_addr:
		cur_skip(c, u->addr_size);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		cur_skip(c, u->off_size);
		break;
	case DW_FORM_ref_addr:
		cur_skip(c, u->version == 2 ? u->addr_size : u->off_size);
		break;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		(void)cur_uleb(c);
		break;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		cur_skip(c, cur_uleb(c));
		break;
	case DW_FORM_block1:
		cur_skip(c, cur_u8(c));
		break;
	case DW_FORM_block2:
		cur_skip(c, cur_u16(c));
		break;
	case DW_FORM_block4:
		cur_skip(c, cur_u32(c));
		break;
	case DW_FORM_string: {
		size_t len;

		(void)cur_str(c, &len);
		break;
	}
	case DW_FORM_indirect:
		form = (unsigned int)(cur_uleb(c) & 0xffff);
		if (form != DW_FORM_indirect) {
			form_skip(u, c, form);
			break;
		}
		/* FALLTHROUGH */
	default:
		c->bad = true;
		c->p = c->end;
		break;
	}
}
