/* SPDX-License-Identifier: ISC */
/* Attributes of a function's DIE and of the DIEs that it refers to. */
#include <string.h>

#include "dw.h"
#include "scan.h"

/* A definition, its declaration, and an abstract instance between them. */
#define ORIGINS_MAX	4

enum sym_lang
unit_lang(const struct unit *u)
{
	switch (u->lang) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C17:
		return SYM_LANG_C;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_C_plus_plus_17:
	case DW_LANG_C_plus_plus_20:
		return SYM_LANG_CXX;
	case DW_LANG_Rust:
	case DW_LANG_Rust_old:
		return SYM_LANG_RUST;
	case DW_LANG_Go:
		return SYM_LANG_GO;
	default:
		return SYM_LANG_OTHER;
	}
}

static void
take_name(struct func_info *f, unsigned int at, const struct val *v)
{
	if (v->cls != VAL_STR)
		return;
	if (at == DW_AT_name && f->name == NULL) {
		f->name = (const char *)v->p;
		f->name_len = v->len;
	} else if (at != DW_AT_name && f->linkage == NULL) {
		f->linkage = (const char *)v->p;
		f->linkage_len = v->len;
	}
}

/* The location of the code, which only the first DIE gives. */
static void
take_code(struct func_info *f, unsigned int at, const struct val *v)
{
	switch (at) {
	case DW_AT_low_pc:
		f->has_low = v->cls == VAL_ADDR;
		f->low = v->u;
		break;
	case DW_AT_high_pc:
		f->has_high = v->cls != VAL_NONE;
		f->high_is_size = v->cls != VAL_ADDR;
		f->high = v->u;
		break;
	case DW_AT_ranges:
		f->ranges = *v;
		break;
	case DW_AT_declaration:
		f->declaration = v->u != 0;
		break;
	case DW_AT_frame_base:
		f->cfa_base = v->cls == VAL_BLOCK && v->len == 1 &&
		    v->p[0] == DW_OP_call_frame_cfa;
		break;
	default:
		break;
	}
}

/* Returns the place of the DIE that this one completes, or 0. */
static uint64_t
take_attrs(struct dwarf *d, struct die *die, struct func_info *f, bool first)
{
	const struct attr_spec *a = die->abbrev->attrs;
	const struct attr_spec *end = a + die->abbrev->nattrs;
	uint64_t origin = 0;
	struct val v;

	for (; a < end; a++) {
		switch (a->at) {
		case DW_AT_name:
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			form_read(d, die->unit, &die->attrs, a, &v);
			take_name(f, a->at, &v);
			break;
		case DW_AT_decl_file:
			form_read(d, die->unit, &die->attrs, a, &v);
			if (f->file_unit == NULL) {
				f->file_unit = die->unit;
				f->file = v.u;
			}
			break;
		case DW_AT_decl_line:
			form_read(d, die->unit, &die->attrs, a, &v);
			if (f->line == 0)
				f->line = v.u;
			break;
		case DW_AT_low_pc:
		case DW_AT_high_pc:
		case DW_AT_ranges:
		case DW_AT_declaration:
		case DW_AT_frame_base:
			form_read(d, die->unit, &die->attrs, a, &v);
			if (first)
				take_code(f, a->at, &v);
			break;
		case DW_AT_inline:
			form_read(d, die->unit, &die->attrs, a, &v);
			if (first)
				f->inl = (unsigned int)v.u;
			break;
		case DW_AT_external:
			form_read(d, die->unit, &die->attrs, a, &v);
			f->external = f->external || v.u != 0;
			break;
		case DW_AT_specification:
		case DW_AT_abstract_origin:
			form_read(d, die->unit, &die->attrs, a, &v);
			if (v.cls == VAL_REF)
				origin = v.u;
			break;
		default:
			form_skip(die->unit, &die->attrs, a->form);
			break;
		}
	}
	return origin;
}

void
func_read(struct dwarf *d, struct die *die, struct func_info *f)
{
	struct die next;
	uint64_t origin;
	unsigned int i;

	memset(f, 0, sizeof(*f));
	origin = take_attrs(d, die, f, true);
	for (i = 0; i < ORIGINS_MAX && origin != 0; i++) {
		f->origin = origin;
		if (!die_at(d, origin, &next))
			return;
		origin = take_attrs(d, &next, f, false);
	}
}
