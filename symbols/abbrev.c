/* SPDX-License-Identifier: ISC */
/*
 * Abbreviations.  Compilers number them from 1 without gaps, so that a table
 * by number is small; numbers with wide gaps are an attack on memory.
 */
#include <stdlib.h>

#include "abbrev.h"
#include "dw.h"
#include "mem.h"

#define CODES_SLACK	1024
/* Many units may share a table, none needs to be read from within another. */
#define READ_TIMES	4

struct builder {
	struct abbrev	*list;
	uint64_t	*codes;
	size_t		*first;
	size_t		 n, ncap, ccap, fcap;
	struct attr_spec *attrs;
	size_t		 nattrs, acap;
	uint64_t	 most;
};

static bool
read_attrs(struct builder *b, struct cursor *c, struct abbrev *a)
{
	struct attr_spec s;
	uint64_t at, form;

	for (;;) {
		at = cur_uleb(c);
		form = cur_uleb(c);
		if (c->bad || at > UINT16_MAX || form > UINT16_MAX)
			return false;
		s.at = (uint16_t)at;
		s.form = (uint16_t)form;
		s.implicit = form == DW_FORM_implicit_const ? cur_sleb(c) : 0;
		if (at == 0 && form == 0)
			return true;
		if (a->nattrs == UINT16_MAX)
			return false;
		mem_room(&b->attrs, &b->acap, b->nattrs, sizeof(s));
		b->attrs[b->nattrs++] = s;
		a->nattrs++;
	}
}

static bool
read_table(struct builder *b, struct cursor *c)
{
	struct abbrev a = { .defined = true };
	uint64_t code, tag;

	while ((code = cur_uleb(c)) != 0) {
		tag = cur_uleb(c);
		a.children = cur_u8(c) != 0;
		a.nattrs = 0;
		a.tag = (uint16_t)tag;
		if (c->bad || tag > UINT16_MAX)
			return false;
		mem_room(&b->list, &b->ncap, b->n, sizeof(a));
		mem_room(&b->codes, &b->ccap, b->n, sizeof(code));
		mem_room(&b->first, &b->fcap, b->n, sizeof(size_t));
		b->codes[b->n] = code;
		b->first[b->n] = b->nattrs;
		if (!read_attrs(b, c, &a))
			return false;
		b->list[b->n++] = a;
		if (code > b->most)
			b->most = code;
	}
	return !c->bad && b->most <= b->n * 4 + CODES_SLACK;
}

static void
index_codes(struct abbrev_table *t, struct builder *b)
{
	struct abbrev *a;
	size_t i;

	/* never NULL: one counts from it even where there are none */
	t->attrs = b->attrs != NULL ? b->attrs :
	    mem_zero(1, sizeof(*t->attrs));
	t->ncodes = (size_t)b->most + 1;
	t->by_code = mem_zero(t->ncodes, sizeof(*t->by_code));
	for (i = 0; i < b->n; i++) {
		a = &t->by_code[b->codes[i]];
		*a = b->list[i];
		a->attrs = t->attrs + b->first[i];
	}
	t->good = true;
}

static void
load(struct abbrev_table *t, const struct span *section, size_t *bytes)
{
	struct cursor c = cur_at(section, t->off);
	const uint8_t *start = c.p;
	struct builder b = { 0 };

	if (!c.bad && read_table(&b, &c))
		index_codes(t, &b);
	else
		free(b.attrs);
	*bytes += (size_t)(c.p - start);
	free(b.list);
	free(b.codes);
	free(b.first);
}

const struct abbrev_table *
abbrev_get(struct abbrev_cache *cache, const struct span *section,
    uint64_t off)
{
	struct abbrev_table *t;
	size_t i;

	/* units come in the order of their tables, mostly */
	for (i = cache->n; i > 0 && i + 64 > cache->n; i--) {
		t = &cache->tables[i - 1];
		if (t->off == off)
			return t->good ? t : NULL;
	}
	if (cache->bytes / READ_TIMES > section->len)
		return NULL;
	mem_room(&cache->tables, &cache->cap, cache->n, sizeof(*t));
	t = &cache->tables[cache->n++];
	*t = (struct abbrev_table) { .off = off };
	load(t, section, &cache->bytes);
	return t->good ? t : NULL;
}

void
abbrev_free(struct abbrev_cache *cache)
{
	size_t i;

	for (i = 0; i < cache->n; i++) {
		free(cache->tables[i].by_code);
		free(cache->tables[i].attrs);
	}
	free(cache->tables);
	*cache = (struct abbrev_cache) { 0 };
}
