/* SPDX-License-Identifier: ISC */
/*
 * Functions that walk along frame pointers, also those that nobody watches:
 * return addresses of those that are have to be put back when they begin.
 * They are looked for where something is watched: in the program and in the
 * libraries that the user has chosen functions of.
 */
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "maps.h"
#include "proc.h"

#define TEXT_MOST  (64UL << 20)	/* no more of a mapping is read */
#define HOOKS_MOST 256		/* of a mapping; each stops the program */

/* False: no, or no memory. */
static bool
is_new(struct target *t, uint64_t lo)
{
	uint64_t *more;
	size_t i;

	for (i = 0; i < t->nwalked; i++)
		if (t->walked[i] == lo)
			return (false);
	more = reallocarray(t->walked, t->nwalked + 1, sizeof(*more));
	if (more == NULL)
		return (false);
	t->walked = more;
	t->walked[t->nwalked++] = lo;
	return (true);
}

/* Puts a hook on the function that the frames are of, if it walks and if there
 * are any left. */
static void
look(struct target *t, const struct cfi *c, const uint8_t *bytes, size_t avail,
    size_t *left)
{
	const struct arch_code code = {
		.bytes = bytes,
		.avail = avail,
		.size = c->end - c->begin,
		.addr = c->begin,
		.frames = c->frames,
		.nframes = c->nframes,
	};

	if (code.size > avail || !arch_walks(&code))
		return;
	/* a part of a function is jumped to, and its stack is another's */
	if (*left == 0 || !cfi_is_called(c, c->begin) ||
	    !hook_add(t, c->begin, code.size, PROBE_UNWINDER | PROBE_WALKS,
		INNER_NONE))
		t->walker = c->begin;
	else
		(*left)--;
}

/*
 * Code that no table tells of gets no hook, since where a function begins in
 * it is a guess.
 */
static void
look_untold(struct target *t, uint64_t addr, const uint8_t *text, size_t len)
{
	size_t at;

	if (!arch_may_walk(text, len))
		return;
	at = arch_untold_walker(text, len, addr);
	if (at < len)
		t->walker = addr + at;
}

/* Looks at the function that begins with the bytes, and at what follows it. */
static void
look_from(struct target *t, struct cfi *c, const struct maps *ms, uint64_t addr,
    const uint8_t *bytes, size_t avail, size_t size, size_t *left)
{
	size_t told = 0;

	if (!arch_may_walk(bytes, size))
		return;
	if (cfi_find(c, t, ms, addr) && c->begin == addr) {
		look(t, c, bytes, avail, left);
		told = c->end - addr;
	}
	if (told < size)
		look_untold(t, addr + told, bytes + told, size - told);
}

static void
scan(struct target *t, const struct maps *ms, const struct map *m)
{
	struct cfi c = {.base = 0};
	size_t len = m->hi - m->lo, i, n, at, next, done = 0;
	size_t left = HOOKS_MOST;
	uint8_t *text;

	if (len > TEXT_MOST)
		len = TEXT_MOST;
	n = cfi_count(&c, t, ms, m->lo);
	text = malloc(len);
	if (text != NULL && mem_read(t, m->lo, text, len)) {
		at = n > 0 ? cfi_begin(&c, 0) - m->lo : len;
		look_untold(t, m->lo, text, at < len ? at : len);
		for (i = 0; i < n; i++) {
			at = cfi_begin(&c, i) - m->lo;
			next = i + 1 < n ? cfi_begin(&c, i + 1) - m->lo : len;
			/* a table out of order would have us read it all,
			 * over and over */
			if (at < done || at >= next || next > len)
				continue;
			done = next;
			look_from(t, &c, ms, m->lo + at, text + at, len - at,
			    next - at, &left);
		}
	}
	free(text);
	cfi_free(&c);
}

uint64_t
target_walker(const struct target *t)
{
	return (t->walker);
}

/* Another library may come to the same place. */
static void
prune(struct target *t, const struct maps *ms)
{
	const struct map *m;
	size_t i, n = 0;

	for (i = 0; i < t->nwalked; i++) {
		m = maps_at(ms, t->walked[i]);
		if (m != NULL && m->lo == t->walked[i])
			t->walked[n++] = t->walked[i];
	}
	t->nwalked = n;
}

void
frame_walkers_find(struct target *t, const struct probe_spec *specs, size_t n)
{
	const struct map *m = NULL;
	struct maps ms;
	size_t i;

	/* return addresses stay where they are in these */
	if (t->small || t->scans != NULL || t->blind || !maps_read(t->pid, &ms))
		return;
	prune(t, &ms);
	for (i = 0; i < n; i++) {
		if (m != NULL && specs[i].addr >= m->lo && specs[i].addr < m->hi)
			continue;
		m = maps_at(&ms, specs[i].addr);
		if (m != NULL && m->exec && !m->special && !m->agent &&
		    m->inode != 0 && is_new(t, m->lo))
			scan(t, &ms, m);
	}
	maps_free(&ms);
}
