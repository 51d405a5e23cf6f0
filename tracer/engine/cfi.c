/* SPDX-License-Identifier: ISC */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "maps.h"
#include "objsym.h"
#include "proc.h"

#define ROW 8UL /* bytes of a row of the table */
#define ROWS_MOST (1UL << 22)
#define ENTRY_MOST 65536UL /* bytes of one entry, and of its CIE */
#define ENTRY_USUAL 512UL  /* ... of nearly all */
#define STATES 16          /* rows that are remembered at a time */

/* Encodings of addresses: how they are written, and what is added. */
#define ENC_FORMAT 0x0f
#define ENC_BASE 0x70
#define ENC_PCREL 0x10
#define ENC_OMIT 0xff
#define HDR_ENCODINGS "\1\x1b\x03\x3b" /* as all linkers write them */

struct reader {
	const uint8_t *at, *end;
	bool bad;
};

/* --- numbers -------------------------------------------------------------- */

static uint64_t
fixed(struct reader *r, size_t n)
{
	uint64_t v = 0;

	if (n > (size_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		return (0);
	}
	memcpy(&v, r->at, n);
	r->at += n;
	return (v);
}

static uint64_t
leb(struct reader *r, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t v = 0, b;

	do {
		b = fixed(r, 1);
		if (shift < 64)
			v |= (b & 0x7f) << shift;
		shift += 7;
	} while ((b & 0x80) != 0);
	if (is_signed && shift < 64 && (b & 0x40) != 0)
		v |= ~0UL << shift;
	return (v);
}

static void
skip(struct reader *r, uint64_t n)
{
	if (n > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		n = (uint64_t)(r->end - r->at);
	}
	r->at += n;
}

/* As it is written, without what has to be added. */
static uint64_t
encoded(struct reader *r, uint8_t encoding)
{
	switch (encoding & ENC_FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return (fixed(r, 8));
	case 0x01:
		return (leb(r, false));
	case 0x09:
		return (leb(r, true));
	case 0x02:
		return (fixed(r, 2));
	case 0x0a:
		return ((uint64_t)(int16_t)fixed(r, 2));
	case 0x03:
		return (fixed(r, 4));
	case 0x0b:
		return ((uint64_t)(int32_t)fixed(r, 4));
	default:
		r->bad = true;
		return (0);
	}
}

/* --- instructions --------------------------------------------------------- */

/* Operands of those that say nothing of the frame's end: (u)nsigned, (s)igned,
 * (b)lock. */
static const char *const other_operands[] = {[0x00] = "",
    [0x05] = "uu",
    [0x06] = "u",
    [0x07] = "u",
    [0x08] = "u",
    [0x09] = "uu",
    [0x10] = "ub",
    [0x11] = "us",
    [0x14] = "uu",
    [0x15] = "us",
    [0x16] = "ub",
    [0x2d] = "",
    [0x2e] = "u",
    [0x2f] = "uu"};

static void
other(struct reader *r, unsigned int op)
{
	const char *o = op < sizeof(other_operands) / sizeof(char *)
			    ? other_operands[op]
			    : NULL;

	if (o == NULL) {
		r->bad = true;
		return;
	}
	for (; *o != '\0'; o++)
		if (*o == 'b')
			skip(r, leb(r, false));
		else
			(void)leb(r, *o == 's');
}

/* Instructions that do.  False: it is another. */
static bool
defines(
    struct reader *r, unsigned int op, int64_t align, struct arch_frame *row)
{
	if (op == 0x0c || op == 0x12 || op == 0x0d) {
		row->reg = (uint32_t)leb(r, false);
		row->plain = true;
	}
	if (op == 0x0c || op == 0x0e)
		row->off = (int64_t)leb(r, false);
	else if (op == 0x12 || op == 0x13)
		row->off = (int64_t)(leb(r, true) * (uint64_t)align);
	else if (op == 0x0f) {
		skip(r, leb(r, false));
		row->plain = false;
	}
	return (op >= 0x0c && op <= 0x13 && op != 0x10 && op != 0x11);
}

/* How far it advances the place in the code; false: it does not. */
static bool
advances(struct reader *r, unsigned int op, uint64_t *by)
{
	static const size_t bytes[] = {[2] = 1, [3] = 2, [4] = 4};

	if ((op & 0xc0) == 0x40)
		*by = op & 0x3f;
	else if (op >= 2 && op <= 4)
		*by = fixed(r, bytes[op]);
	else
		return (false);
	return (true);
}

/* An entry, as far as it is needed. */
struct entry {
	const uint8_t *program, *end;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of the addresses of code */
	bool augmented;
};

/* A row that another one follows is of use if there is code between them. */
static bool
row_add(struct cfi *c, const struct arch_frame *row)
{
	struct arch_frame *more;
	size_t room;

	if (c->nframes > 0 && c->frames[c->nframes - 1].addr == row->addr)
		c->nframes--;
	if (c->nframes == c->room) {
		room = c->room == 0 ? 64 : 2 * c->room;
		more = reallocarray(c->frames, room, sizeof(*more));
		if (more == NULL)
			return (false);
		c->frames = more;
		c->room = room;
	}
	c->frames[c->nframes++] = *row;
	return (true);
}

/* From row->addr on. */
static bool
run(struct cfi *c, const struct entry *e, struct arch_frame *row)
{
	struct reader r = {e->program, e->end, false};
	struct arch_frame kept[STATES];
	size_t nkept = 0;
	unsigned int op;
	uint64_t by, at;

	while (r.at < r.end && !r.bad) {
		op = (unsigned int)fixed(&r, 1);
		if (advances(&r, op, &by)) {
			if (!row_add(c, row))
				return (false);
			row->addr += by * e->code_align;
		} else if ((op & 0xc0) == 0x80) {
			(void)leb(&r, false);
		} else if (op == 0x0a && nkept < STATES) {
			kept[nkept++] = *row;
		} else if (op == 0x0b && nkept > 0) {
			at = row->addr;
			*row = kept[--nkept];
			row->addr = at;
		} else if ((op & 0xc0) != 0xc0 &&
			   !defines(&r, op, e->data_align, row))
			other(&r, op);
	}
	return (!r.bad && row_add(c, row));
}

/* --- entries -------------------------------------------------------------- */

static bool
augmentation(struct reader *r, const char *words, struct entry *e)
{
	e->encoding = 0;
	e->augmented = words[0] == 'z';
	if (!e->augmented)
		return (words[0] == '\0');
	for (words++; *words != '\0'; words++)
		if (*words == 'R')
			e->encoding = (uint8_t)fixed(r, 1);
		else if (*words == 'P')
			(void)encoded(r, (uint8_t)fixed(r, 1));
		else if (*words == 'L')
			(void)fixed(r, 1);
		else if (*words != 'S' && *words != 'B')
			return (false);
	return (true);
}

/* The part that entries share. */
static bool
common(const uint8_t *bytes, size_t len, struct entry *e)
{
	struct reader r = {bytes, bytes + len, false};
	const char *words;
	unsigned int version;
	uint64_t n;

	if (fixed(&r, 4) != 0)
		return (false);
	version = (unsigned int)fixed(&r, 1);
	words = (const char *)r.at;
	if ((version != 1 && version != 3) ||
	    memchr(words, '\0', (size_t)(r.end - r.at)) == NULL)
		return (false);
	skip(&r, strlen(words) + 1);
	e->code_align = leb(&r, false);
	e->data_align = (int64_t)leb(&r, true);
	if (version == 1)
		(void)fixed(&r, 1);
	else
		(void)leb(&r, false);
	n = words[0] == 'z' ? leb(&r, false) : 0;
	if (r.bad || n > (uint64_t)(r.end - r.at))
		return (false);
	e->program = r.at + n;
	e->end = bytes + len;
	return (augmentation(&r, words, e) && !r.bad);
}

/* The bytes that follow its length; malloc'ed. */
static uint8_t *
entry_read(const struct target *t, uint64_t addr, size_t *len)
{
	uint8_t usual[ENTRY_USUAL], *bytes;
	uint32_t n;
	size_t had;

	had = target_peek(
	    (struct target *)(uintptr_t)t, addr, usual, sizeof(usual));
	if (had < sizeof(n))
		return (NULL);
	memcpy(&n, usual, sizeof(n));
	if (n < 8 || n > ENTRY_MOST || (bytes = malloc(n)) == NULL)
		return (NULL);
	*len = n;
	if (n <= had - sizeof(n))
		memcpy(bytes, usual + sizeof(n), n);
	else if (!mem_read(t, addr + sizeof(n), bytes, n)) {
		free(bytes);
		return (NULL);
	}
	return (bytes);
}

static bool
entry_run(struct cfi *c, const uint8_t *bytes, size_t len, uint64_t at,
    struct entry *e, uint64_t addr)
{
	struct reader r = {bytes, bytes + len, false};
	const uint8_t base = e->encoding & ENC_BASE;
	struct arch_frame row = {.plain = false};

	skip(&r, 4);
	if (e->encoding == ENC_OMIT || (base != 0 && base != ENC_PCREL))
		return (false);
	c->begin = encoded(&r, e->encoding);
	if (base == ENC_PCREL)
		c->begin += at + 8;
	c->end = c->begin + encoded(&r, e->encoding & ENC_FORMAT);
	if (e->augmented)
		skip(&r, leb(&r, false));
	if (r.bad || addr < c->begin || addr >= c->end)
		return (false);
	/* first what the common part says */
	row.addr = c->begin;
	if (!run(c, e, &row))
		return (false);
	e->program = r.at;
	e->end = r.end;
	row.addr = c->begin;
	if (!run(c, e, &row))
		return (false);
	/* and behind its end nothing is known */
	while (c->nframes > 0 && c->frames[c->nframes - 1].addr >= c->end)
		c->nframes--;
	row = (struct arch_frame){.addr = c->end, .plain = false};
	return (row_add(c, &row));
}

/* The entry at that address. */
static bool
look_up(struct cfi *c, const struct target *t, uint64_t at, uint64_t addr)
{
	uint8_t *bytes, *shared = NULL;
	struct entry e;
	uint32_t back;
	size_t len, n;
	bool ok = false;

	bytes = entry_read(t, at, &len);
	if (bytes == NULL)
		return (false);
	memcpy(&back, bytes, sizeof(back));
	if (back != 0)
		shared = entry_read(t, at + 4 - back, &n);
	if (shared != NULL)
		ok = common(shared, n, &e) &&
		     entry_run(c, bytes, len, at, &e, addr);
	free(bytes);
	free(shared);
	return (ok);
}

/* --- the table of an object ----------------------------------------------- */

static void
table_read(struct cfi *c, const struct target *t)
{
	uint8_t hdr[12];
	uint64_t size;
	uint32_t n;

	if (!objsym_segment(t, c->base, PT_GNU_EH_FRAME, &c->hdr, &size) ||
	    !mem_read(t, c->hdr, hdr, sizeof(hdr)) ||
	    memcmp(hdr, HDR_ENCODINGS, 4) != 0)
		return;
	memcpy(&n, hdr + 8, sizeof(n));
	if (n > ROWS_MOST || n > size / ROW || n == 0)
		return;
	c->rows = malloc(n * ROW);
	if (c->rows != NULL &&
	    mem_read(t, c->hdr + sizeof(hdr), c->rows, n * ROW))
		c->n = n;
}

static int64_t
number(const struct cfi *c, size_t row, size_t which)
{
	int32_t v;

	memcpy(&v, c->rows + row * ROW + which * sizeof(v), sizeof(v));
	return (v);
}

/* The last row that begins at that address or before it. */
static bool
row_of(const struct cfi *c, uint64_t addr, size_t *row)
{
	int64_t off = (int64_t)(addr - c->hdr);
	size_t from = 0, to = c->n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (number(c, mid, 0) <= off)
			from = mid + 1;
		else
			to = mid;
	}
	*row = from - 1;
	return (from > 0);
}

size_t
cfi_count(
    struct cfi *c, const struct target *t, const struct maps *ms, uint64_t addr)
{
	const struct map *m = maps_at(ms, addr);
	uint64_t base;

	c->nframes = 0;
	if (m == NULL)
		return (0);
	base = maps_base(ms, m)->lo;
	if (base != c->base) {
		cfi_free(c);
		c->base = base;
		table_read(c, t);
	}
	return (c->n);
}

uint64_t
cfi_begin(const struct cfi *c, size_t n)
{
	return (c->hdr + (uint64_t)number(c, n, 0));
}

bool
cfi_is_called(const struct cfi *c, uint64_t addr)
{
	const struct arch_frame *f = cfi_at(c->frames, c->nframes, addr);

	return (f == NULL ||
	    (f->plain && f->reg == ARCH_SP && f->off == ARCH_CALLED));
}

bool
cfi_find(
    struct cfi *c, const struct target *t, const struct maps *ms, uint64_t addr)
{
	size_t row;

	if (cfi_count(c, t, ms, addr) == 0)
		return (false);
	if (row_of(c, addr, &row) &&
	    look_up(c, t, c->hdr + (uint64_t)number(c, row, 1), addr))
		return (true);
	c->nframes = 0;
	return (false);
}

const struct arch_frame *
cfi_at(const struct arch_frame *frames, size_t n, uint64_t addr)
{
	size_t from = 0, to = n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (frames[mid].addr <= addr)
			from = mid + 1;
		else
			to = mid;
	}
	return (from == 0 ? NULL : &frames[from - 1]);
}

void
cfi_free(struct cfi *c)
{
	free(c->rows);
	free(c->frames);
	memset(c, 0, sizeof(*c));
}
