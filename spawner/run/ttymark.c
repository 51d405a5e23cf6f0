/* SPDX-License-Identifier: ISC */
/* Marks: a few dozen along the ring, the oldest give way. */
#include <string.h>

#include "ttymark.h"

/* Parts of a ring; with what may be overwritten soon, fewer than TTY_MARKS. */
#define PARTS		32
/* A client that is told an offset needs a moment to read from there. */
#define SLACK		(16 * 1024)

static void
add(struct ttymarks *m, uint64_t offset)
{
	struct ttymark *mark = &m->v[m->made++ % TTY_MARKS];

	mark->offset = offset;
	mark->cols = m->cols;
	mark->rows = m->rows;
	mark->state = m->modes.now;
}

void
ttymarks_init(struct ttymarks *m, uint32_t cols, uint32_t rows)
{
	ttymodes_init(&m->modes);
	m->cols = (uint16_t)cols;
	m->rows = (uint16_t)rows;
	m->made = 0;
	add(m, 0);
}

void
ttymarks_resized(struct ttymarks *m, uint32_t cols, uint32_t rows)
{
	ttymodes_resized(&m->modes);
	m->cols = (uint16_t)cols;
	m->rows = (uint16_t)rows;
}

/*
 * A place after a newline is best.  Programs that use the whole screen may
 * never write one: for them any place will do in the end.
 */
static void
feed(struct ttymarks *m, const uint8_t *p, size_t n, uint64_t offset,
    size_t part)
{
	uint64_t last = m->v[(m->made - 1) % TTY_MARKS].offset;
	const uint8_t *newline;
	size_t line;

	if (offset + n - last < part) {
		ttymodes_feed(&m->modes, p, n);
		return;
	}
	newline = memrchr(p, '\n', n);
	line = newline == NULL ? 0 : (size_t)(newline - p) + 1;
	ttymodes_feed(&m->modes, p, line);
	if (line > 0 && ttymodes_is_ground(&m->modes)) {
		add(m, offset + line);
		last = offset + line;
	}
	ttymodes_feed(&m->modes, p + line, n - line);
	if (offset + n - last >= 2 * part && ttymodes_is_ground(&m->modes))
		add(m, offset + n);
}

void
ttymarks_feed(struct ttymarks *m, const struct ring *r, size_t n)
{
	uint64_t from = ring_total(r) - n;
	size_t at = (size_t)from & (r->size - 1);
	size_t first = n < r->size - at ? n : r->size - at;

	feed(m, r->data + at, first, from, r->size / PARTS);
	if (n > first)
		feed(m, r->data, n - first, from + first, r->size / PARTS);
}

struct ttymark
ttymarks_oldest(const struct ttymarks *m, const struct ring *r,
    const char **string)
{
	uint64_t total = ring_total(r), floor = 0, i;
	size_t safe = r->size - (r->size / 4 < SLACK ? r->size / 4 : SLACK);
	const struct ttymark *mark;

	*string = "";
	if (total > safe)
		floor = total - safe;
	for (i = m->made < TTY_MARKS ? 0 : m->made - TTY_MARKS; i < m->made;
	    i++) {
		mark = &m->v[i % TTY_MARKS];
		if (mark->offset >= floor)
			return *mark;
	}
	/* in the middle of a string without an end */
	*string = ttymodes_string(&m->modes);
	return (struct ttymark){ total, m->cols, m->rows, m->modes.now };
}
