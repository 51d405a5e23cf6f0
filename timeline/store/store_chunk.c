/* SPDX-License-Identifier: ISC */
/*
 * The segments of threads: where the next record goes, and getting it onto
 * the disk.  Records first, then the header that counts them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_int.h"

#define PAGE	4096U		/* in these the disk is used up */
/*
 * With so many bytes a chunk is sealed when others need its buffer: of many
 * threads nearly all would be without an index for ever.
 */
#define WORTH_SEALING	(SEG_DATA / 4)

static off_t
data_at(const struct chunk *c)
{
	return (off_t)c->slot * SEG_SIZE + SEG_HEAD;
}

/* 0, or -1 with errno: a short write is a full disk. */
static int
write_all(int fd, const void *data, size_t len, off_t at)
{
	ssize_t n;

	while (len > 0) {
		if ((n = pwrite(fd, data, len, at)) == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		data = (const uint8_t *)data + n;
		len -= (size_t)n;
		at += n;
	}
	return 0;
}

/* -- buffers ------------------------------------------------------------ */
static void
unlink_buffer(struct store *st, struct buffer *b)
{
	*(b->prev != NULL ? &b->prev->next : &st->first_buffer) = b->next;
	*(b->next != NULL ? &b->next->prev : &st->last_buffer) = b->prev;
}

static void
to_front(struct store *st, struct buffer *b)
{
	b->prev = NULL;
	b->next = st->first_buffer;
	*(b->next != NULL ? &b->next->prev : &st->last_buffer) = b;
	st->first_buffer = b;
}

void
buffer_drop(struct store *st, struct chunk *c)
{
	struct buffer *b = c->buffer;

	if (b == NULL)
		return;
	c->buffer = NULL;
	unlink_buffer(st, b);
	b->next = st->spare;
	st->spare = b;
}

/* Takes a free buffer, or that of the thread that was silent for longest. */
static struct buffer *
get_buffer(struct store *st)
{
	struct buffer *b = st->spare;
	struct thread *t;
	struct chunk *c;

	if (b == NULL && st->nbuffers < BUFFERS_MAX &&
	    (b = malloc(sizeof(*b))) != NULL) {
		st->nbuffers++;
		return b;
	}
	if (b == NULL && st->last_buffer != NULL) {
		t = st->last_buffer->thread;
		c = t->chunks[t->nchunks - 1];
		if ((c->bytes < WORTH_SEALING ? chunk_write(st, t) :
		    chunk_seal(st, t)) == -1)
			return NULL;
		buffer_drop(st, c);
		b = st->spare;
	}
	if (b != NULL)
		st->spare = b->next;
	return b;
}

static bool
have_buffer(struct store *st, struct thread *t, struct chunk *c)
{
	struct buffer *b;

	if (c->buffer != NULL) {
		if (st->first_buffer != c->buffer) {
			unlink_buffer(st, c->buffer);
			to_front(st, c->buffer);
		}
		return true;
	}
	if ((b = get_buffer(st)) == NULL)
		return false;
	b->thread = t;
	b->base = c->bytes;
	seg_building_begin(&b->building);
	c->buffer = b;
	to_front(st, b);
	return true;
}

/* -- writing ------------------------------------------------------------ */
static uint32_t
pages(uint32_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static void
charge(struct store *st, struct chunk *c, uint32_t used)
{
	used = pages(used);
	if (used <= c->used)
		return;
	st->used += used - c->used;
	c->used = used;
}

static int
write_head(struct store *st, const struct thread *t, const struct chunk *c,
    const struct seg_index *index)
{
	struct seg_head h = { .tag = st->tag, .ord = t->ord, .tid = t->tid,
		.first_seq = c->first_seq, .first_ts = c->first_ts,
		.last_ts = c->last_ts, .count = c->count, .bytes = c->bytes };

	if (index != NULL) {
		h.nsums = index->nrows;
		h.nothers = index->nothers;
		h.nkeys = index->nkeys;
	}
	memcpy(h.name, t->name, sizeof(h.name));
	seg_head_seal(&h);
	return write_all(st->files.calls_fd, &h, sizeof(h),
	    data_at(c) - SEG_HEAD);
}

int
chunk_write(struct store *st, struct thread *t)
{
	struct chunk *c = t->nchunks > 0 ? t->chunks[t->nchunks - 1] : NULL;

	if (c == NULL || c->buffer == NULL || c->written == c->bytes)
		return 0;
	if (write_all(st->files.calls_fd,
	    c->buffer->bytes + (c->written - c->buffer->base),
	    c->bytes - c->written, data_at(c) + c->written) == -1 ||
	    write_head(st, t, c, NULL) == -1) {
		trouble_set(st->calls_trouble, "calls", errno);
		return -1;
	}
	c->written = c->bytes;
	charge(st, c, SEG_HEAD + c->bytes);
	trouble_clear(st->calls_trouble);
	return 0;
}

/* -- marks -------------------------------------------------------------- */
static uint64_t
scatter(uint64_t m)
{
	m *= UINT64_C(0x9e3779b97f4a7c15);
	return (m ^ m >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

uint64_t
mark_of_class(uint32_t fn, uint16_t class)
{
	return scatter((uint64_t)fn << 16 | class);
}

uint64_t
mark_of_key(uint64_t key)
{
	return scatter(~key);
}

static uint64_t *
mark_word(const struct chunk *c, uint64_t mark)
{
	return &c->fns[c->nwords + (mark >> 6 & (c->nmarks - 1))];
}

/* Two bits of one word, so that a look costs one. */
static uint64_t
mark_bits(uint64_t mark)
{
	return UINT64_C(1) << (mark >> 58) | UINT64_C(1) << (mark >> 52 & 63);
}

bool
chunk_marked(const struct chunk *c, uint64_t mark)
{
	uint64_t bits = mark_bits(mark);

	return c->fns == NULL || (*mark_word(c, mark) & bits) == bits;
}

static uint32_t
words_for(uint32_t bits, uint32_t most)
{
	uint32_t words = 1;

	while (words < most && words * 64 < bits)
		words *= 2;
	return words;
}

/* That the bits may not be enough for all is no harm. */
static void
note(struct chunk *c, const struct seg_index *x)
{
	const struct seg_sum *row;
	uint32_t i;

	c->nwords = words_for(4 * x->nrows, FN_WORDS);
	c->nmarks = words_for(8 * (x->nrows + x->nkeys), MARK_WORDS);
	c->fns = calloc(c->nwords + c->nmarks, sizeof(*c->fns));
	if (c->fns == NULL)
		return;
	for (i = 0; i < x->nrows; i++) {
		row = &x->rows[i];
		c->fns[row->fn / 64 % c->nwords] |=
		    UINT64_C(1) << row->fn % 64;
		if (row->class != CLASS_ENTER) {
			uint64_t m = mark_of_class(row->fn, row->class);

			*mark_word(c, m) |= mark_bits(m);
		}
	}
	for (i = 0; i < x->nkeys; i++) {
		uint64_t m = mark_of_key(x->keys[i]);

		*mark_word(c, m) |= mark_bits(m);
	}
}

/* -- sealing ------------------------------------------------------------ */
static uint32_t
others_size(uint32_t nothers, uint32_t nkeys)
{
	return nothers * (uint32_t)sizeof(struct seg_sum) +
	    nkeys * (uint32_t)(sizeof(uint64_t) + sizeof(uint16_t));
}

int
chunk_write_index(struct store *st, const struct thread *t,
    const struct chunk *c, const struct seg_index *x)
{
	const struct {
		const void *data;
		size_t len;
	} parts[] = { { x->rows, x->nrows * sizeof(x->rows[0]) },
		{ x->keys, x->nkeys * sizeof(x->keys[0]) },
		{ x->units, x->nkeys * sizeof(x->units[0]) } };
	off_t at = data_at(c) + c->bytes;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (write_all(st->files.calls_fd, parts[i].data, parts[i].len,
		    at) == -1)
			return -1;
		at += (off_t)parts[i].len;
	}
	return write_head(st, t, c, x);
}

/* Whether all of its records are in memory, as is what an index is made of. */
static bool
is_held(const struct chunk *c)
{
	return c->buffer != NULL && c->buffer->base == 0;
}

static void
make_index(const struct store *st, const struct chunk *c,
    struct seg_index *out)
{
	static uint8_t data[SEG_DATA];

	if (is_held(c))
		seg_building_index(&c->buffer->building, out);
	else if (chunk_read(st, c, 0, data, c->bytes) == -1)
		seg_index(data, 0, st->tag, out);
	else
		seg_index(data, c->bytes, st->tag, out);
}

/* As much as its records and its index fill. */
static uint32_t
filled(const struct chunk *c)
{
	return pages(SEG_HEAD + c->bytes + (c->nsums - c->nothers) *
	    (uint32_t)sizeof(struct seg_sum) +
	    others_size(c->nothers, c->nkeys));
}

void
chunk_charge(struct store *st, struct chunk *c)
{
	charge(st, c, filled(c));
}

void
chunk_index(struct chunk *c, const struct seg_index *x)
{
	c->nsums = x->nrows;
	c->nothers = (uint16_t)x->nothers;
	c->nkeys = (uint16_t)x->nkeys;
	c->sealed = true;
	note(c, x);
}

int
chunk_seal(struct store *st, struct thread *t)
{
	static struct seg_index x;
	struct chunk *c = t->chunks[t->nchunks - 1];

	if (chunk_write(st, t) == -1)
		return -1;
	make_index(st, c, &x);
	if (chunk_write_index(st, t, c, &x) == -1) {
		trouble_set(st->calls_trouble, "calls", errno);
		return -1;
	}
	chunk_index(c, &x);
	chunk_charge(st, c);
	trouble_clear(st->calls_trouble);
	buffer_drop(st, c);
	return 0;
}

/* -- chunks ------------------------------------------------------------- */
void
chunk_trim(struct store *st, struct chunk *c)
{
	uint32_t most = filled(c);

	if (!slot_give_back(st, c->slot, most) || c->used <= most)
		return;
	st->used -= c->used - most;
	c->used = most;
}

struct chunk *
chunk_add(struct thread *t)
{
	uint32_t cap = t->cap == 0 ? 4 : 2 * t->cap;
	struct chunk **chunks, *c;

	if (t->nchunks == t->cap) {
		chunks = reallocarray(t->chunks, cap, sizeof(struct chunk *));
		if (chunks == NULL)
			return NULL;
		t->chunks = chunks;
		t->cap = cap;
	}
	if ((c = calloc(1, sizeof(*c))) != NULL)
		t->chunks[t->nchunks++] = c;
	return c;
}

void
chunk_free(struct store *st, struct chunk *c)
{
	static const uint8_t nothing[SEG_HEAD];

	buffer_drop(st, c);
	/* who comes later must not find it; its pages are for the next one */
	if (c->used > 0)
		(void)write_all(st->files.calls_fd, nothing, sizeof(nothing),
		    (off_t)c->slot * SEG_SIZE);
	slot_put(st, c->slot, c->used);
	st->used -= c->used;
	free(c->fns);
	free(c);
}

static struct chunk *
begin(struct store *st, struct thread *t, uint64_t ts)
{
	struct free_slot f;
	struct chunk *c;

	if (st->used + SEG_SIZE > st->limits.calls)
		store_evict(st);
	if ((c = chunk_add(t)) == NULL)
		return NULL;
	f = slot_get(st);
	c->slot = f.slot;
	c->used = f.held;
	st->used += f.held;
	c->first_seq = t->next_seq;
	c->first_ts = c->last_ts = ts;
	return c;
}

/* Whether a thread's next event can be told in the chunk. */
static bool
has_room(const struct chunk *c, const struct thread *t, uint32_t size,
    uint64_t ts)
{
	return c->bytes + size <= SEG_DATA && c->nrecords < SEG_RECORDS &&
	    t->next_seq - c->first_seq < REC_AFTER_MAX &&
	    ts - c->first_ts <= REC_WHEN_MAX;
}

struct chunk *
chunk_for(struct store *st, struct thread *t, uint32_t size, uint64_t ts)
{
	struct chunk *c = t->nchunks > 0 ? t->chunks[t->nchunks - 1] : NULL;

	/* nearly always: the one that was written to last, and it has room */
	if (c != NULL && c->buffer != NULL && c->buffer == st->first_buffer &&
	    has_room(c, t, size, ts))
		return c;
	if (c != NULL && !c->sealed && !has_room(c, t, size, ts)) {
		/* the flush tries again, not each of a million calls */
		if (st->calls_trouble[0] != '\0' || chunk_seal(st, t) == -1)
			return NULL;
	}
	if (c == NULL || c->sealed)
		c = begin(st, t, ts);
	return c != NULL && have_buffer(st, t, c) ? c : NULL;
}

/* -- reading ------------------------------------------------------------ */
static int
read_file(const struct store *st, const struct chunk *c, uint32_t offset,
    uint8_t *to, uint32_t len)
{
	ssize_t n;

	while (len > 0) {
		n = pread(st->files.calls_fd, to, len, data_at(c) + offset);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		to += n;
		offset += (uint32_t)n;
		len -= (uint32_t)n;
	}
	return 0;
}

int
chunk_read(const struct store *st, const struct chunk *c, uint32_t offset,
    void *to, uint32_t len)
{
	uint32_t file = len;

	if (offset > c->bytes || len > c->bytes - offset)
		return -1;
	if (c->buffer != NULL && offset + len > c->buffer->base) {
		file = offset >= c->buffer->base ? 0 :
		    c->buffer->base - offset;
		memcpy((uint8_t *)to + file,
		    c->buffer->bytes + (offset + file - c->buffer->base),
		    len - file);
	}
	return read_file(st, c, offset, to, file);
}

uint32_t
chunk_sums(const struct store *st, const struct chunk *c,
    struct seg_sum *sums)
{
	static struct seg_index x;

	if (c->nsums > 0 && read_file(st, c, c->bytes, (uint8_t *)sums,
	    c->nsums * (uint32_t)sizeof(*sums)) == 0 &&
	    seg_sums_good(sums, c->nsums, c->count))
		return c->nsums;
	make_index(st, c, &x);
	memcpy(sums, x.rows, x.nrows * sizeof(*sums));
	return x.nrows;
}

/* As they lie in the file. */
static bool
read_others(const struct store *st, const struct chunk *c,
    struct others *o)
{
	static union {
		struct seg_sum rows[SEG_SUMS];
		uint64_t keys[SEG_SUMS];
		uint8_t	 bytes[SEG_SIZE - SEG_DATA];
	} raw;
	uint32_t rows = c->nothers * (uint32_t)sizeof(*o->rows);

	if (c->nsums == 0 || read_file(st, c, c->bytes +
	    (c->nsums - c->nothers) * (uint32_t)sizeof(*o->rows), raw.bytes,
	    others_size(c->nothers, c->nkeys)) == -1)
		return false;
	o->rows = raw.rows;
	o->nrows = c->nothers;
	o->keys = (const void *)(raw.bytes + rows);
	o->units = (const void *)(o->keys + c->nkeys);
	return seg_others_good(o->rows, o->nrows, c->nkeys);
}

void
chunk_others(const struct store *st, const struct chunk *c,
    struct others *o)
{
	static struct seg_index x;

	if (read_others(st, c, o))
		return;
	make_index(st, c, &x);
	*o = (struct others){ x.rows + (x.nrows - x.nothers), x.keys,
		x.units, x.nothers };
}
