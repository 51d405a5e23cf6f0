/* SPDX-License-Identifier: ISC */
/*
 * Probes of a forked child.
 *
 * The child's memory is what its parent's was at the fork.  By the time that
 * the tracer hears of the fork, the parent may have been given other probes, or
 * lost some.  So the child's own memory is what counts.
 */
#include <stdlib.h>
#include <string.h>

#include "proc.h"

#define PAGE		4096UL

/* A page of the child's code. */
struct view {
	const struct target *t;
	uint64_t at;
	bool	 good;
	uint8_t	 bytes[PAGE];
};

static bool
code_at(struct view *v, uint64_t addr, uint8_t out[ARCH_JUMP])
{
	uint64_t at = addr & ~(PAGE - 1);

	if (addr + ARCH_JUMP > at + PAGE)
		return (mem_read(v->t, addr, out, ARCH_JUMP));
	if (at != v->at) {
		v->at = at;
		v->good = mem_read(v->t, at, v->bytes, PAGE);
	}
	if (v->good)
		memcpy(out, v->bytes + (addr - at), ARCH_JUMP);
	return (v->good);
}

static bool
is_jump(struct view *v, const struct probe *p)
{
	uint8_t there[ARCH_JUMP];

	return (code_at(v, p->addr, there) && probe_jumps(p, there));
}

static bool
is_mapped(const struct target *t, uint64_t addr)
{
	uint8_t byte;

	return (mem_read(t, addr, &byte, sizeof(byte)));
}

/* Memory that its parent has got, or begun to fill, since. */
static void
drop_later(struct target *t, const struct target *parent,
    const struct agent_home *home)
{
	struct area *a, **from = &t->areas;
	size_t i;

	while ((a = *from) != NULL) {
		if (area_ready(t, a->addr, parent->agent)) {
			from = &a->next;
			continue;
		}
		*from = a->next;
		free(a);
	}
	for (i = 0; i < sizeof(t->chunks) / sizeof(t->chunks[0]); i++)
		if (t->chunks[i] != home->chunks[i] ||
		    !is_mapped(t, t->chunks[i]))
			t->chunks[i] = 0;
	if (t->data != 0 && !is_mapped(t, t->data))
		t->data = t->data_left = 0;
}

/* By address, so that each piece of code is read once. */
struct place {
	uint64_t addr;
	uint32_t index;
};

static int
by_addr(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->addr < y->addr ? -1 : x->addr > y->addr);
}

static struct place *
places_of(const struct target *t)
{
	struct place *at = calloc(t->nprobes + 1UL, sizeof(*at));
	uint32_t i;

	if (at == NULL)
		return (NULL);
	for (i = 0; i < t->nprobes; i++)
		at[i] = (struct place){ t->probes[i].addr, i };
	qsort(at, t->nprobes, sizeof(*at), by_addr);
	return (at);
}

/*
 * The number of probes is written when all that they need has been: those
 * below it may be switched on again, the others have stubs by halves.
 */
static void
look(struct view *v, struct target *child, const struct agent_home *home,
    uint32_t index)
{
	struct probe *p = &child->probes[index];

	p->on = p->built && is_jump(v, p);
	if (!p->on &&
	    (child->chunks[index / AGENT_CHUNK] == 0 || index >= home->nprobes))
		p->built = false;
}

static bool
has_now(const struct target *t, uint32_t i)
{
	return (i < t->nprobes && t->probes[i].on);
}

bool
probes_found(struct target *child, const struct target *parent)
{
	struct place *at = places_of(child);
	struct view *v = calloc(1, sizeof(*v));
	struct agent_home home;
	uint32_t i;
	bool same = true;

	if (!mem_read(child, parent->agent + AGENT_CODE, &home, sizeof(home)))
		memset(&home, 0, sizeof(home));
	if (at != NULL && v != NULL) {
		v->t = child;
		v->at = UINT64_MAX;
		drop_later(child, parent, &home);
		for (i = 0; i < child->nprobes; i++)
			look(v, child, &home, at[i].index);
	}
	free(v);
	free(at);
	for (i = 0; i < parent->nprobes && same; i++)
		same = has_now(child, i) == has_now(parent, i);
	return (same);
}
