/* SPDX-License-Identifier: ISC */
/* Checking a description. */
#include <stdlib.h>
#include <string.h>

#include "render.h"

struct layout {
	size_t	at, len;
	bool	bad;
};

static size_t
take(struct layout *l, size_t n, size_t size)
{
	size_t at = l->at;

	if (n * size > l->len - l->at)
		l->bad = true;
	else
		l->at += n * size;
	return at;
}

static bool
check_values(const struct desc *d)
{
	const struct desc_header *h = d->head;
	const struct desc_value *v = d->values;
	size_t i;

	for (i = 0; i < (size_t)h->nargs + h->nresults; i++, v++)
		if (v->name >= h->strs_len || v->type >= h->strs_len ||
		    v->node >= h->nnodes ||
		    v->part + v->nparts > h->nparts)
			return false;
	for (i = 0; i < h->nparts; i++)
		if (d->parts[i].off + d->parts[i].len > (int)DESC_IMAGE_MAX ||
		    (d->parts[i].step == DESC_CONSTANT && d->parts[i].step_off +
		    (uint32_t)d->parts[i].len > h->strs_len))
			return false;
	for (i = 0; i < h->nenums; i++)
		if (d->enums[i].name >= h->strs_len)
			return false;
	return true;
}

static bool
has_children(unsigned int kind)
{
	return kind == DESC_SLICE || kind == DESC_ARRAY ||
	    kind == DESC_STRUCT || kind == DESC_TUPLE ||
	    kind == DESC_VARIANTS || kind == DESC_VARIANT;
}

static bool
check_node(const struct desc *d, size_t i)
{
	const struct desc_node *n = &d->nodes[i];
	const struct desc_header *h = d->head;
	size_t children;

	if (n->kind >= DESC_KINDS || n->name >= h->strs_len ||
	    n->type >= h->strs_len ||
	    n->enum_first + n->enum_count > h->nenums)
		return false;
	if (n->flags & DESC_BITS && (n->bit_size == 0 || n->bit_size > 64 ||
	    n->bit_off > 63))
		return false;
	if (!has_children(n->kind))
		return true;
	/* these have one, however many elements there are */
	children = n->kind == DESC_SLICE || n->kind == DESC_ARRAY ? 1 :
	    n->count;
	if (n->first + children > h->nnodes)
		return false;
	return children == 0 || n->first > i;
}

static bool
check(struct desc *d)
{
	size_t i;

	if (d->strs[0] != '\0' || d->strs[d->head->strs_len - 1] != '\0' ||
	    d->head->return_type >= d->head->strs_len || !check_values(d))
		return false;
	for (i = 0; i < d->head->nnodes; i++)
		if (!check_node(d, i))
			return false;
	return true;
}

int
desc_open(struct desc *d, const void *p, size_t len)
{
	const struct desc_header *h;
	struct layout l = { .len = len };
	char *at;

	memset(d, 0, sizeof(*d));
	if (len < sizeof(*h) || len > DESC_MAX)
		return -1;
	d->bytes = at = malloc(len);
	if (at == NULL)
		return -1;
	memcpy(at, p, len);
	d->head = h = d->bytes;
	(void)take(&l, 1, sizeof(*h));
	d->values = (const void *)(at + take(&l, (size_t)h->nargs +
	    h->nresults, sizeof(*d->values)));
	d->parts = (const void *)(at + take(&l, h->nparts, sizeof(*d->parts)));
	d->nodes = (const void *)(at + take(&l, h->nnodes, sizeof(*d->nodes)));
	d->enums = (const void *)(at + take(&l, h->nenums, sizeof(*d->enums)));
	d->strs = at + take(&l, h->strs_len, 1);
	if (!l.bad && l.at == len && h->magic == DESC_MAGIC &&
	    h->nresults <= 1 && h->strs_len > 0 && check(d))
		return 0;
	desc_close(d);
	return -1;
}

void
desc_close(struct desc *d)
{
	free(d->bytes);
	memset(d, 0, sizeof(*d));
}

const char *
desc_return_type(const struct desc *d)
{
	return d->strs + d->head->return_type;
}
