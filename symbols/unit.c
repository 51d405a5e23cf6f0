/* SPDX-License-Identifier: ISC */
/* Headers of units, and finding one. */
#include <stdlib.h>
#include <string.h>

#include "dw.h"
#include "mem.h"
#include "unit.h"

static uint64_t
types_base(const struct dwarf *d)
{
	return d->info.len;
}

struct cursor
unit_cursor(const struct dwarf *d, const struct unit *u, uint64_t place)
{
	const struct span *s = &d->info;
	uint64_t base = 0;
	struct cursor c;

	if (u->off >= types_base(d)) {
		s = &d->types;
		base = types_base(d);
	}
	if (place < u->off || place >= u->end)
		return cur_at(s, s->len);
	c = cur_at(s, place - base);
	if (!c.bad)
		c.end = s->p + (u->end - base);
	return c;
}

uint64_t
unit_place(const struct dwarf *d, const struct unit *u, const struct cursor *c)
{
	if (u->off >= types_base(d))
		return types_base(d) + (uint64_t)(c->p - d->types.p);
	return (uint64_t)(c->p - d->info.p);
}

/* Reads a unit's header behind the length; false if it is not understood. */
static bool
read_header(struct unit *u, struct cursor *c, bool types)
{
	u->version = cur_u16(c);
	if (u->version < 2 || u->version > 5)
		return false;
	u->kind = types ? DW_UT_type : DW_UT_compile;
	if (u->version >= 5) {
		u->kind = cur_u8(c);
		u->addr_size = cur_u8(c);
		u->abbrev_off = cur_uint(c, u->off_size);
	} else {
		u->abbrev_off = cur_uint(c, u->off_size);
		u->addr_size = cur_u8(c);
	}
	if (u->kind == DW_UT_skeleton || u->kind == DW_UT_split_compile)
		(void)cur_u64(c);
	if (u->kind == DW_UT_type || u->kind == DW_UT_split_type) {
		u->signature = cur_u64(c);
		u->type_off = cur_uint(c, u->off_size);
	}
	return !c->bad && u->addr_size == 8 && u->kind <= DW_UT_split_type;
}

/* -1 when there can be no unit after it. */
static int
read_unit(struct dwarf *d, const struct span *s, uint64_t base, uint64_t *at)
{
	struct cursor c = cur_at(s, *at);
	struct unit u = { .off = base + *at, .off_size = 4 };
	uint64_t len = cur_u32(&c);

	if (len == 0xffffffff) {
		u.off_size = 8;
		len = cur_u64(&c);
	}
	if (c.bad || len > cur_left(&c)) {
		d->damaged = true;
		return -1;
	}
	c.end = c.p + len;
	*at = (uint64_t)(c.end - s->p);
	u.end = base + *at;
	/* padding between units is such a unit, too */
	if (!read_header(&u, &c, base != 0)) {
		if (len != 0)
			d->foreign = true;
		return 0;
	}
	u.die = base + (uint64_t)(c.p - s->p);
	mem_room(&d->units, &d->cap, d->nunits, sizeof(u));
	d->units[d->nunits++] = u;
	return 0;
}

static void
read_units(struct dwarf *d, const struct span *s, uint64_t base)
{
	uint64_t at = 0;

	while (at < s->len)
		if (read_unit(d, s, base, &at) == -1)
			return;
}

void
dwarf_open(struct dwarf *d, struct elf_image *e)
{
	memset(d, 0, sizeof(*d));
	d->elf = e;
	d->info = *elf_section(e, SECT_INFO);
	d->types = *elf_section(e, SECT_TYPES);
	d->abbrev = *elf_section(e, SECT_ABBREV);
	d->str = *elf_section(e, SECT_STR);
	d->line_str = *elf_section(e, SECT_LINE_STR);
	d->str_offsets = *elf_section(e, SECT_STR_OFFSETS);
	d->addr = *elf_section(e, SECT_ADDR);
	d->damaged = elf_broken(e, SECT_INFO) || elf_broken(e, SECT_ABBREV);
	if (d->info.len + d->types.len > UINT32_MAX) {
		d->foreign = true;
		return;
	}
	read_units(d, &d->info, 0);
	if (d->info.len > 0)
		read_units(d, &d->types, types_base(d));
}

void
dwarf_close(struct dwarf *d)
{
	abbrev_free(&d->abbrevs);
	free(d->units);
	memset(d, 0, sizeof(*d));
}

struct unit *
dwarf_unit_at(struct dwarf *d, uint64_t place)
{
	size_t lo = 0, hi = d->nunits, mid;

	if (d->last != NULL && place >= d->last->off && place < d->last->end)
		return d->last;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (d->units[mid].end <= place)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == d->nunits || place < d->units[lo].off)
		return NULL;
	d->last = &d->units[lo];
	return d->last;
}

struct unit *
dwarf_type_unit(struct dwarf *d, uint64_t signature)
{
	size_t i;

	d->work += d->nunits / 16;
	for (i = 0; i < d->nunits && d->work < DWARF_WORK_MAX; i++)
		if ((d->units[i].kind == DW_UT_type ||
		    d->units[i].kind == DW_UT_split_type) &&
		    d->units[i].signature == signature)
			return &d->units[i];
	return NULL;
}

const struct abbrev_table *
unit_abbrevs(struct dwarf *d, struct unit *u)
{
	const struct abbrev_table *t;

	if (u->table != 0) {
		t = &d->abbrevs.tables[u->table - 1];
		return t->good ? t : NULL;
	}
	t = abbrev_get(&d->abbrevs, &d->abbrev, u->abbrev_off);
	if (t != NULL)
		u->table = (size_t)(t - d->abbrevs.tables) + 1;
	return t;
}

/* Stores the bases that values of the unit's other attributes refer to. */
static void
take_base(struct unit *u, unsigned int at, const struct val *v)
{
	switch (at) {
	case DW_AT_str_offsets_base:
		u->str_base = v->u;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->u;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->u;
		break;
	case DW_AT_loclists_base:
		u->loclists_base = v->u;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v->u;
		break;
	default:
		break;
	}
}

static void
take_value(struct unit *u, unsigned int at, const struct val *v)
{
	switch (at) {
	case DW_AT_low_pc:
		if (v->cls == VAL_ADDR)
			u->low_pc = v->u;
		break;
	case DW_AT_stmt_list:
		u->stmt_list = v->u;
		u->has_lines = true;
		break;
	case DW_AT_language:
		u->lang = (unsigned int)v->u;
		break;
	case DW_AT_comp_dir:
		if (v->cls == VAL_STR) {
			u->comp_dir = (const char *)v->p;
			u->comp_dir_len = v->len;
		}
		break;
	case DW_AT_producer:
		if (v->cls == VAL_STR)
			u->producer = (const char *)v->p;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->split = true;
		break;
	default:
		break;
	}
}

static bool
read_first(struct dwarf *d, struct unit *u, bool bases)
{
	const struct abbrev_table *t = unit_abbrevs(d, u);
	struct cursor c = unit_cursor(d, u, u->die);
	struct die die;
	struct val v;
	size_t i;

	if (t == NULL || !die_next(d, u, t, &c, &die) || die.abbrev == NULL)
		return false;
	for (i = 0; i < die.abbrev->nattrs; i++) {
		form_read(d, u, &c, &die.abbrev->attrs[i], &v);
		if (bases)
			take_base(u, die.abbrev->attrs[i].at, &v);
		else
			take_value(u, die.abbrev->attrs[i].at, &v);
	}
	return !c.bad;
}

bool
unit_prepare(struct dwarf *d, struct unit *u)
{
	if (u->prepared)
		return u->usable;
	u->prepared = true;
	/* the tables of a unit that names none begin after their headers */
	u->str_base = u->off_size == 8 ? 16 : 8;
	u->addr_base = u->version >= 5 ? 8 : 0;
	u->rnglists_base = u->loclists_base = u->off_size == 8 ? 20 : 12;
	/* names may be numbers in a table whose place is told after them */
	u->usable = read_first(d, u, true) && read_first(d, u, false);
	if (!u->usable)
		d->damaged = true;
	if (u->split || u->kind == DW_UT_skeleton)
		d->split = true;
	return u->usable;
}

bool
die_next(struct dwarf *d, struct unit *u, const struct abbrev_table *t,
    struct cursor *c, struct die *die)
{
	uint64_t code;

	die->unit = u;
	die->place = unit_place(d, u, c);
	code = cur_uleb(c);
	die->abbrev = code == 0 ? NULL : abbrev_find(t, code);
	die->attrs = *c;
	return !c->bad && (code == 0 || die->abbrev != NULL);
}

bool
die_at(struct dwarf *d, uint64_t place, struct die *die)
{
	struct unit *u = dwarf_unit_at(d, place);
	const struct abbrev_table *t;
	struct cursor c;

	if (u == NULL || place < u->die || !unit_prepare(d, u))
		return false;
	t = unit_abbrevs(d, u);
	c = unit_cursor(d, u, place);
	return t != NULL && die_next(d, u, t, &c, die) && die->abbrev != NULL;
}
