/* SPDX-License-Identifier: ISC */
/*
 * An open hash of what was packed.  libarchive's link resolver does the like,
 * but keeps a whole entry (over 1 KiB) for each of some 100,000 files.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seen.h"

#define FIRST_SLOTS	4096

static struct seen *
slot_of(const struct seen_table *t, dev_t dev, ino_t ino)
{
	/* the golden ratio spreads inodes, which come in rows */
	uint64_t h = ((uint64_t)ino ^ ((uint64_t)dev << 40)) *
	    0x9e3779b97f4a7c15ULL;
	size_t i = (size_t)(h >> 20) & (t->nslots - 1);

	while (t->slots[i].name != NULL &&
	    (t->slots[i].dev != dev || t->slots[i].ino != ino))
		i = (i + 1) & (t->nslots - 1);
	return &t->slots[i];
}

static int
grow(struct seen_table *t)
{
	struct seen_table bigger = { NULL, 0, t->used };
	size_t i;

	bigger.nslots = t->nslots == 0 ? FIRST_SLOTS : t->nslots * 2;
	bigger.slots = calloc(bigger.nslots, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return -1;
	for (i = 0; i < t->nslots; i++) {
		if (t->slots[i].name != NULL)
			*slot_of(&bigger, t->slots[i].dev, t->slots[i].ino) =
			    t->slots[i];
	}
	free(t->slots);
	*t = bigger;
	return 0;
}

struct seen *
seen_find(const struct seen_table *t, dev_t dev, ino_t ino)
{
	struct seen *s;

	if (t->nslots == 0)
		return NULL;
	s = slot_of(t, dev, ino);
	return s->name != NULL ? s : NULL;
}

struct seen *
seen_add(struct seen_table *t, dev_t dev, ino_t ino, const char *name)
{
	struct seen *s;
	char *copy;

	if (t->used >= t->nslots / 2 && grow(t) == -1)
		return NULL;
	copy = strdup(name);
	if (copy == NULL)
		return NULL;
	s = slot_of(t, dev, ino);
	if (s->name == NULL)
		t->used++;
	else
		free(s->name);
	s->dev = dev;
	s->ino = ino;
	s->name = copy;
	s->aliases = 0;
	return s;
}
