/* SPDX-License-Identifier: ISC */
/* Descriptions that a timeline has kept. */
#include <stdlib.h>
#include <string.h>

#include "inverse.h"
#include "render.h"
#include "shape.h"
#include "timeline/store/counters.h"
#include "timeline/store/store.h"

#define MAGIC		0x31504853U	/* "SHP1" */
#define LOADED_MAX	((size_t)64 << 20)	/* bytes, then all go */

struct head {
	uint32_t magic;
	uint16_t nenter, nleave;	/* steps, which come next */
	uint32_t desc_len;		/* and then the description */
};

struct shape {
	struct capture	*enter, *leave;	/* with CAP_END; owned */
	size_t		 nenter, nleave;
	struct desc	 desc;
};

struct shapes {
	struct store	*st;
	struct shape	**all;		/* by fn; owned, NULL = not loaded */
	uint32_t	 n;
	size_t		 loaded;	/* bytes */
};

static struct shape nothing;		/* there is none in the file */

void *
shape_pack(const struct sym_typed *t, size_t *len)
{
	struct head h = { .magic = MAGIC, .nenter = (uint16_t)t->nenter,
		.nleave = (uint16_t)t->nleave,
		.desc_len = (uint32_t)t->desc_len };
	size_t enter = t->nenter * sizeof(struct capture);
	size_t leave = t->nleave * sizeof(struct capture);
	uint8_t *bytes, *p;

	if (t->desc_len == 0 || t->desc_len > DESC_MAX ||
	    t->nenter > CAPTURE_MAX || t->nleave > CAPTURE_MAX)
		return NULL;
	*len = sizeof(h) + enter + leave + t->desc_len;
	if ((p = bytes = malloc(*len)) == NULL)
		return NULL;
	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	if (enter > 0)
		memcpy(p, t->enter, enter);
	p += enter;
	if (leave > 0)
		memcpy(p, t->leave, leave);
	memcpy(p + leave, t->desc, t->desc_len);
	return bytes;
}

/* -- loading -------------------------------------------------------------- */

static void
shape_free(struct shape *s)
{
	if (s == NULL || s == &nothing)
		return;
	free(s->enter);
	free(s->leave);
	desc_close(&s->desc);
	free(s);
}

static void
unload(struct shapes *all)
{
	uint32_t i;

	for (i = 0; i < all->n; i++) {
		shape_free(all->all[i]);
		all->all[i] = NULL;
	}
	all->loaded = 0;
}

/* Steps are not aligned in the bytes, and want an end.  NULL = no memory. */
static struct capture *
steps(const uint8_t *p, size_t n)
{
	struct capture *c = calloc(n + 1, sizeof(*c));

	if (c != NULL)
		memcpy(c, p, n * sizeof(*c));
	return c;
}

/* NULL if it is damaged. */
static struct shape *
unpack_shape(const uint8_t *p, size_t len)
{
	struct shape *s;
	size_t enter, leave;
	struct head h;

	if (len < sizeof(h))
		return NULL;
	memcpy(&h, p, sizeof(h));
	enter = h.nenter * sizeof(struct capture);
	leave = h.nleave * sizeof(struct capture);
	if (h.magic != MAGIC || h.nenter > CAPTURE_MAX ||
	    h.nleave > CAPTURE_MAX || h.desc_len > DESC_MAX ||
	    len != sizeof(h) + enter + leave + h.desc_len ||
	    (s = calloc(1, sizeof(*s))) == NULL)
		return NULL;
	p += sizeof(h);
	s->enter = steps(p, h.nenter);
	s->leave = steps(p + enter, h.nleave);
	s->nenter = h.nenter;
	s->nleave = h.nleave;
	if (s->enter != NULL && s->leave != NULL && desc_open(&s->desc,
	    p + enter + leave, h.desc_len) == 0)
		return s;
	free(s->enter);
	free(s->leave);
	free(s);
	return NULL;
}

static struct shape *
load(struct shapes *all, uint32_t fn)
{
	struct shape *s = NULL;
	size_t len;
	void *bytes = store_shape(all->st, fn, &len);

	if (bytes != NULL) {
		s = unpack_shape(bytes, len);
		free(bytes);
	}
	if (s == NULL)
		return &nothing;
	/* what desc_open() has copied, and as much again for the rest */
	all->loaded += 2 * len + sizeof(*s);
	return s;
}

static const struct shape *
shape_of(struct shapes *all, uint32_t fn)
{
	uint32_t n = all->n == 0 ? 256 : all->n;
	struct shape **more;

	if (fn >= FN_MAX)
		return &nothing;
	if (fn >= all->n) {
		while (n <= fn)
			n *= 2;
		more = reallocarray(all->all, n, sizeof(struct shape *));
		if (more == NULL)
			return &nothing;
		memset(more + all->n, 0, (n - all->n) *
		    sizeof(struct shape *));
		all->all = more;
		all->n = n;
	}
	if (all->all[fn] == NULL) {
		if (all->loaded > LOADED_MAX)
			unload(all);
		all->all[fn] = load(all, fn);
	}
	return all->all[fn];
}

struct shapes *
shapes_new(struct store *st)
{
	struct shapes *all = calloc(1, sizeof(*all));

	if (all != NULL)
		all->st = st;
	return all;
}

void
shapes_free(struct shapes *all)
{
	if (all == NULL)
		return;
	unload(all);
	free(all->all);
	free(all);
}

/* -- showing -------------------------------------------------------------- */

/* Hands out what has been rendered, 0 if it does not fit. */
static size_t
take(struct render_out *o, char *buf, size_t size)
{
	size_t n = o->bad || o->len > size ? 0 : o->len;

	if (n > 0)
		memcpy(buf, o->buf, n);
	free(o->buf);
	return n;
}

size_t
shapes_arguments(void *arg, uint32_t fn, const void *p, size_t len,
    char *buf, size_t size)
{
	const struct shape *s = shape_of(arg, fn);
	struct render_out o = { 0 };

	if (s == &nothing)
		return 0;
	render_args(&s->desc, s->enter, s->nenter, p, len, &o);
	return take(&o, buf, size);
}

size_t
shapes_result(void *arg, uint32_t fn, const void *p, size_t len, char *buf,
    size_t size)
{
	const struct shape *s = shape_of(arg, fn);
	struct render_out o = { 0 };

	if (s == &nothing)
		return 0;
	render_result(&s->desc, s->leave, s->nleave, p, len, &o);
	return take(&o, buf, size);
}

void
shapes_inverse(void *arg, uint32_t fn, const struct store_value *v,
    struct store_inverse *inv)
{
	const struct shape *s = shape_of(arg, fn);

	if (s == &nothing)
		inverse_of(NULL, NULL, 0, v, inv);
	else
		inverse_of(&s->desc, s->leave, s->nleave, v, inv);
}
