/* SPDX-License-Identifier: ISC */
/*
 * Calls of libc from which the engine learns for itself which thread is about
 * to write what to the program's output, and what a thread calls itself.  All
 * of it is the program's word, and good for no more than descriptions.
 */
#include <sys/prctl.h>

#include <string.h>

#include "proc.h"

#define HEAD 64    /* bytes of a write that are compared */
#define VECTORS 32 /* buffers of writev of which the sizes are added */
#define VECTOR 16  /* bytes of a struct iovec */

static const struct {
	const char *name;
	enum inner inner;
} known[] = {{"write", INNER_WRITE}, {"__write", INNER_WRITE},
    {"writev", INNER_WRITEV}, {"__writev", INNER_WRITEV}, {"prctl", INNER_NAME},
    {"__prctl", INNER_NAME}};

enum inner
inner_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return (known[i].inner);
	return (INNER_NONE);
}

static void
step(struct capture *c, enum cap_op op, uint32_t arg, uint16_t len, int32_t off,
    int32_t off2, uint32_t scale)
{
	*c = (struct capture){.op = (uint8_t)op,
	    .reg = arch_arg(arg),
	    .len = len,
	    .off = off,
	    .off2 = off2,
	    .scale = scale};
}

const struct inner_spec *
inner_spec(enum inner inner)
{
	static struct capture c[INNER_NAME + 1][4];
	static const struct inner_spec specs[] = {
	    [INNER_WRITE] = {c[INNER_WRITE], 1, 2},
	    [INNER_WRITEV] = {c[INNER_WRITEV], 1, 2},
	    [INNER_NAME] = {c[INNER_NAME], PR_SET_NAME, 1}};

	step(&c[INNER_WRITE][0], CAP_REG, 0, 4, 0, 0, 0);
	step(&c[INNER_WRITE][1], CAP_REGSLICE, 1, HEAD, arch_arg(2), 0, 1);
	step(&c[INNER_WRITEV][0], CAP_REG, 0, 4, 0, 0, 0);
	step(&c[INNER_WRITEV][1], CAP_REGSLICE, 1, VECTORS * VECTOR,
	    arch_arg(2), 0, VECTOR);
	/* how the first of them begins */
	step(&c[INNER_WRITEV][2], CAP_SLICE, 1, HEAD, 0, 8, 1);
	step(&c[INNER_NAME][0], CAP_REG, 0, 4, 0, 0, 0);
	step(&c[INNER_NAME][1], CAP_STRING, 1, TARGET_NAME, 0, 0, 0);
	return (&specs[inner]);
}

/* Findings about a call. */
struct call {
	bool has_first, has_count;
	uint64_t first, count; /* arguments: the first, and how many bytes */
	const uint8_t *bytes;
	uint32_t n;
};

/* Sizes of the buffers of a writev, if all of them were captured. */
static void
add_vectors(struct call *k, const uint8_t *p, size_t len, uint64_t n)
{
	uint64_t one;
	size_t i;

	if (n != len / VECTOR)
		return;
	for (i = 0; i < n; i++) {
		memcpy(&one, p + i * VECTOR + 8, sizeof(one));
		if (one > UINT32_MAX)
			return;
		k->count += one;
	}
	k->has_count = true;
}

static void
take_slice(struct call *k, enum inner inner, const struct capture *c,
    const uint8_t *p, size_t len)
{
	uint64_t n;

	if (len < sizeof(n))
		return;
	memcpy(&n, p, sizeof(n));
	p += sizeof(n);
	len -= sizeof(n);
	if (c->op == CAP_REGSLICE && inner == INNER_WRITEV) {
		if (c->scale == VECTOR)
			add_vectors(k, p, len, n);
		return;
	}
	if (c->scale != 1)
		return;
	k->bytes = p;
	k->n = (uint32_t)len;
	if (inner == INNER_WRITE) {
		k->count = n;
		k->has_count = true;
	}
}

static void
take_register(struct call *k, enum inner inner, const struct capture *c,
    const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, p, len < sizeof(v) ? len : sizeof(v));
	if (c->reg == arch_arg(0)) {
		k->first = (uint32_t)v;
		k->has_first = true;
	} else if (c->reg == arch_arg(2) && inner == INNER_WRITE) {
		k->count = v;
		k->has_count = true;
	}
}

/* By its capture program, which may be one of somebody else's. */
static void
look(struct call *k, enum inner inner, const struct capture *c,
    const uint8_t *p, size_t left)
{
	struct captured h;
	uint32_t i;

	for (i = 0; c != NULL && i < CAPTURE_MAX && c[i].op != CAP_END &&
		    left >= sizeof(h);
	     i++) {
		memcpy(&h, p, sizeof(h));
		if (captured_size(h.len) > left)
			return;
		if (c[i].op == CAP_REG && h.status == CAP_OK)
			take_register(k, inner, &c[i], p + sizeof(h), h.len);
		else if ((c[i].op == CAP_REGSLICE || c[i].op == CAP_SLICE) &&
			 c[i].reg == arch_arg(1))
			take_slice(k, inner, &c[i], p + sizeof(h), h.len);
		else if (c[i].op == CAP_STRING && c[i].reg == arch_arg(1)) {
			k->bytes = p + sizeof(h);
			k->n = h.len;
		}
		p += captured_size(h.len);
		left -= captured_size(h.len);
	}
}

static void
tell_write(struct target *t, const struct call *k, const struct trace_record *r,
    uint64_t within)
{
	struct target_write w = {.ts = r->ts,
	    .parent = within,
	    .tid = r->tid,
	    .fd = (int)k->first,
	    .bytes = k->bytes,
	    .nbytes = k->n,
	    .len = k->has_count ? k->count : UINT64_MAX};

	if (t->opt.on_write == NULL || t->unwanted || k->first < 1 ||
	    k->first > 2 || w.len == 0)
		return;
	if (w.nbytes > w.len)
		w.nbytes = (uint32_t)w.len;
	t->opt.on_write(t, &w, t->opt.arg);
}

static void
tell_name(struct target *t, const struct call *k, const struct trace_record *r)
{
	struct target_event e;

	if (k->first != PR_SET_NAME || k->bytes == NULL)
		return;
	memset(&e, 0, sizeof(e));
	e.kind = TARGET_NAMED;
	e.tid = r->tid;
	e.ts = r->ts;
	memcpy(e.name, k->bytes,
	    k->n < sizeof(e.name) ? k->n : sizeof(e.name) - 1);
	target_report(t, &e);
}

void
inner_tell(struct target *t, const struct probe *p,
    const struct trace_record *r, uint64_t within)
{
	struct call k;

	memset(&k, 0, sizeof(k));
	look(&k, p->inner, p->enter, r->captures, r->captures_len);
	if (!k.has_first)
		return;
	if (p->inner == INNER_NAME)
		tell_name(t, &k, r);
	else
		tell_write(t, &k, r, within);
}
