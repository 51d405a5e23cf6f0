/* SPDX-License-Identifier: ISC */
/*
 * Reading numbers out of bytes that nobody vouches for.  A read past the end
 * gives 0, marks the cursor as bad and leaves it at the end, so that a loop
 * over it ends.
 */
#ifndef SYMBOLS_CURSOR_H
#define SYMBOLS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t	*p;
	size_t		 len;
};

struct cursor {
	const uint8_t	*p, *end;
	bool		 bad;
};

static inline struct cursor
cur_at(const struct span *s, uint64_t off)
{
	/* an empty section has no address to count from */
	static const uint8_t nothing;
	struct cursor c = { &nothing, &nothing, true };

	if (off < s->len)
		c = (struct cursor) { s->p + off, s->p + s->len, false };
	return c;
}

static inline size_t
cur_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool
cur_has(struct cursor *c, uint64_t n)
{
	if (n <= cur_left(c))
		return true;
	c->bad = true;
	c->p = c->end;
	return false;
}

static inline void
cur_skip(struct cursor *c, uint64_t n)
{
	if (cur_has(c, n))
		c->p += n;
}

/* size is at most 8. */
static inline uint64_t
cur_uint(struct cursor *c, unsigned int size)
{
	uint64_t v = 0;

	if (!cur_has(c, size))
		return 0;
	memcpy(&v, c->p, size);
	c->p += size;
	return v;
}

static inline uint8_t
cur_u8(struct cursor *c)
{
	return cur_has(c, 1) ? *c->p++ : 0;
}

static inline uint16_t
cur_u16(struct cursor *c)
{
	uint16_t v;

	if (!cur_has(c, sizeof(v)))
		return 0;
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return v;
}

static inline uint32_t
cur_u32(struct cursor *c)
{
	uint32_t v;

	if (!cur_has(c, sizeof(v)))
		return 0;
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return v;
}

static inline uint64_t
cur_u64(struct cursor *c)
{
	return cur_uint(c, 8);
}

/* Bits beyond the 64th are dropped. */
static inline uint64_t
cur_uleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		b = cur_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return v;
}

static inline int64_t
cur_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		b = cur_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (shift < 64 && b & 0x40)
		v |= ~0ULL << shift;
	return (int64_t)v;
}

/* A NUL-terminated string; NULL and bad when it has no end. */
static inline const char *
cur_str(struct cursor *c, size_t *len)
{
	const uint8_t *start = c->p, *nul = NULL;

	if (cur_left(c) > 0)
		nul = memchr(start, 0, cur_left(c));
	if (nul == NULL) {
		c->bad = true;
		c->p = c->end;
		*len = 0;
		return NULL;
	}
	*len = (size_t)(nul - start);
	c->p = nul + 1;
	return (const char *)start;
}

#endif
