/* SPDX-License-Identifier: ISC */
/* .debug_ranges of DWARF 2 to 4 and .debug_rnglists of 5. */
#include "dw.h"
#include "ranges.h"

/* Entries of one list that are looked at. */
#define ENTRIES_MAX	4096

struct range {
	uint64_t lo, hi;
};

/* 1 = a range, 0 = something else, -1 = the end. */
static int
next_old(struct cursor *c, uint64_t *base, struct range *r)
{
	uint64_t lo = cur_u64(c), hi = cur_u64(c);

	if (c->bad || (lo == 0 && hi == 0))
		return -1;
	if (lo == UINT64_MAX) {
		*base = hi;
		return 0;
	}
	*r = (struct range) { *base + lo, *base + hi };
	return 1;
}

static int
next_new(struct dwarf *d, const struct unit *u, struct cursor *c,
    uint64_t *base, struct range *r)
{
	bool ok = true;

	switch (cur_u8(c)) {
	case DW_RLE_base_addressx:
		return unit_addrx(d, u, cur_uleb(c), base) ? 0 : -1;
	case DW_RLE_startx_endx:
		ok = unit_addrx(d, u, cur_uleb(c), &r->lo);
		ok = unit_addrx(d, u, cur_uleb(c), &r->hi) && ok;
		break;
	case DW_RLE_startx_length:
		ok = unit_addrx(d, u, cur_uleb(c), &r->lo);
		r->hi = r->lo + cur_uleb(c);
		break;
	case DW_RLE_offset_pair:
		r->lo = *base + cur_uleb(c);
		r->hi = *base + cur_uleb(c);
		break;
	case DW_RLE_base_address:
		*base = cur_u64(c);
		return c->bad ? -1 : 0;
	case DW_RLE_start_end:
		r->lo = cur_u64(c);
		r->hi = cur_u64(c);
		break;
	case DW_RLE_start_length:
		r->lo = cur_u64(c);
		r->hi = r->lo + cur_uleb(c);
		break;
	default:
		return -1;
	}
	return ok && !c->bad ? 1 : -1;
}

/* Where the list begins; a number of one is looked up first. */
static struct cursor
list_at(struct dwarf *d, const struct unit *u, const struct val *v)
{
	const struct span *s = elf_section(d->elf, u->version >= 5 ?
	    SECT_RNGLISTS : SECT_RANGES);
	struct cursor c;
	uint64_t off = v->u;

	if (v->cls == VAL_LISTX) {
		if (off > UINT32_MAX || u->rnglists_base > UINT32_MAX)
			return cur_at(s, s->len);
		c = cur_at(s, u->rnglists_base + off * u->off_size);
		off = u->rnglists_base + cur_uint(&c, u->off_size);
		if (c.bad)
			return c;
	} else if (u->version < 5)
		off += u->ranges_base;
	return cur_at(s, off);
}

bool
ranges_first(struct dwarf *d, const struct unit *u, const struct val *v,
    uint64_t *lo, uint64_t *hi, bool *more)
{
	struct cursor c = list_at(d, u, v);
	uint64_t base = u->low_pc;
	unsigned int i, found = 0;
	struct range r;
	int got;

	for (i = 0; i < ENTRIES_MAX && found < 2 && !c.bad; i++) {
		got = u->version >= 5 ? next_new(d, u, &c, &base, &r) :
		    next_old(&c, &base, &r);
		if (got == -1)
			break;
		if (got == 0 || r.lo >= r.hi)
			continue;
		if (found++ == 0) {
			*lo = r.lo;
			*hi = r.hi;
		}
	}
	*more = found > 1;
	return found > 0;
}
