/* SPDX-License-Identifier: ISC */
/*
 * What a forked child has of its parent's probes.
 *
 * Its memory is what the parent's was when it was born.  By the time that
 * anybody hears of that, the parent may have been given other probes, or lost
 * some.  So the child's own memory is what counts.
 */
#include <stdlib.h>
#include <string.h>

#include "proc.h"

#define VIEW		(16 * 4096UL)

/* Code of the child, as much as is looked at in one go; functions that follow
 * one another lie together. */
struct view {
	const struct target *t;
	uint64_t at;
	bool	 good;
	uint8_t	 bytes[VIEW];
};

static bool
code_at(struct view *v, uint64_t addr, uint8_t out[ARCH_JUMP])
{
	uint64_t at = addr & ~(VIEW - 1);

	if (addr + ARCH_JUMP > at + VIEW)
		return (mem_read(v->t, addr, out, ARCH_JUMP));
	if (at != v->at) {
		v->at = at;
		v->good = mem_read(v->t, at, v->bytes, VIEW);
	}
	if (!v->good)
		return (mem_read(v->t, addr, out, ARCH_JUMP));
	memcpy(out, v->bytes + (addr - at), ARCH_JUMP);
	return (true);
}

static bool
is_jump(struct view *v, const struct probe *p)
{
	uint8_t jump[ARCH_JUMP], there[ARCH_JUMP];

	arch_jump(p->addr, p->stub.addr, jump);
	return (code_at(v, p->addr, there) &&
	    memcmp(there, jump, ARCH_JUMP) == 0);
}

/* Whether it was there already, for a jump that is yet to be written. */
static bool
has_stub(const struct target *child, const struct target *parent,
    const struct probe *p)
{
	uint8_t ours[ARCH_STUB], its[ARCH_STUB];
	size_t len = p->stub.len;

	return (len <= sizeof(its) &&
	    mem_read(child, p->stub.addr, its, len) &&
	    mem_read(parent, p->stub.addr, ours, len) &&
	    memcmp(its, ours, len) == 0);
}

static bool
is_mapped(const struct target *t, uint64_t addr)
{
	uint8_t byte;

	return (mem_read(t, addr, &byte, sizeof(byte)));
}

/* Memory that its parent has got since. */
static void
drop_unmapped(struct target *t)
{
	struct area *a, **from = &t->areas;
	size_t i;

	while ((a = *from) != NULL) {
		if (is_mapped(t, a->addr)) {
			from = &a->next;
			continue;
		}
		*from = a->next;
		free(a);
	}
	for (i = 0; i < sizeof(t->chunks) / sizeof(t->chunks[0]); i++)
		if (t->chunks[i] != 0 && !is_mapped(t, t->chunks[i]))
			t->chunks[i] = 0;
	if (t->data != 0 && !is_mapped(t, t->data))
		t->data = t->data_left = 0;
}

static bool
has_now(const struct target *t, uint32_t i)
{
	return (i < t->nprobes && t->probes[i].on);
}

bool
probes_found(struct target *child, const struct target *parent)
{
	struct view *v = calloc(1, sizeof(*v));
	struct probe *p;
	uint32_t i;
	bool same = true;

	if (v == NULL)
		return (true);
	v->t = child;
	v->at = UINT64_MAX;
	drop_unmapped(child);
	for (i = 0; i < child->nprobes; i++) {
		p = &child->probes[i];
		p->on = p->built && is_jump(v, p);
		if (p->built && !p->on &&
		    (child->chunks[i / AGENT_CHUNK] == 0 ||
		    !has_stub(child, parent, p)))
			p->built = false;
	}
	free(v);
	for (i = 0; i < parent->nprobes && same; i++)
		same = has_now(child, i) == has_now(parent, i);
	return (same);
}
