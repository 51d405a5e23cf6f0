/* SPDX-License-Identifier: ISC */
/*
 * The places of segments in the file, and the disk in those that nobody has.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "store_int.h"

bool
slot_give_back(const struct store *st, uint32_t slot, uint32_t from)
{
	return fallocate(st->files.calls_fd, FALLOC_FL_PUNCH_HOLE |
	    FALLOC_FL_KEEP_SIZE, (off_t)slot * SEG_SIZE + from,
	    SEG_SIZE - from) == 0;
}

static void
punch(const struct store *st, struct free_slot *f)
{
	if (f->held > 0 && slot_give_back(st, f->slot, 0))
		f->held = 0;
}

/* The latest first: its pages are those that are most likely there yet. */
struct free_slot
slot_get(struct store *st)
{
	struct free_slot f;

	if (st->nfree == 0)
		return (struct free_slot){ .slot = st->nslots++ };
	f = st->free_slots[--st->nfree];
	st->spare_bytes -= f.held;
	return f;
}

void
slot_put(struct store *st, uint32_t slot, uint32_t held)
{
	uint32_t cap = st->free_cap == 0 ? 64 : 2 * st->free_cap;
	struct free_slot f = { slot, held }, *slots;

	if (st->nfree == st->free_cap) {
		slots = reallocarray(st->free_slots, cap, sizeof(*slots));
		if (slots == NULL) {
			punch(st, &f);
			return;		/* a hole that stays one */
		}
		st->free_slots = slots;
		st->free_cap = cap;
	}
	st->free_slots[st->nfree++] = f;
	st->spare_bytes += held;
}

void
slots_trim(struct store *st, uint64_t most)
{
	struct free_slot *f;
	uint32_t i, held;

	for (i = 0; i < st->nfree && st->used + st->spare_bytes > most; i++) {
		f = &st->free_slots[i];
		held = f->held;
		punch(st, f);
		st->spare_bytes -= held - f->held;
	}
}
