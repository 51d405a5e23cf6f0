/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "pack.h"
#include "wire/capture.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "the lower bytes of a number come first");

/* Sizes by code; code 0 = there is no more. */
static const struct {
	uint8_t	 len;		/* of the capture */
	uint8_t	 whole;		/* with its head, in fours */
	uint8_t	 stored;
} codes_of[] = {
	[1] = { 8, 12, 8 },
	[2] = { 8, 12, 6 },	/* addresses */
	[3] = { 8, 12, 0 },	/* NULL */
	[4] = { 4, 8, 4 },
	[5] = { 4, 8, 1 },	/* small numbers */
	[6] = { 2, 8, 2 },
	[7] = { 1, 8, 1 },
};

#define CODE	7U		/* the bits of one */
#define NEXT	3U

/* 0: it has none. */
static inline uint32_t
code_of(uint16_t len, uint64_t v)
{
	if (len == 8)
		return v == 0 ? 3 : v >> 48 == 0 ? 2 : 1;
	if (len == 4)
		return v < 256 ? 5 : 4;
	/* what it is filled up with are zeros, or they would be lost */
	if (len == 2)
		return v >> 16 == 0 ? 6 : 0;
	return len == 1 && v >> 8 == 0 ? 7 : 0;
}

int32_t
pack(const uint8_t *captures, uint32_t len, uint8_t *to, uint32_t *packed)
{
	uint32_t codes = 0, at = 0, code, size;
	struct captured head;
	uint64_t v;

	for (*packed = 0; len > 0; at += NEXT) {
		if (at == PACK_BITS || len < 8)
			return -1;
		memcpy(&head, captures, sizeof(head));
		v = 0;
		if (head.len == 8 && len >= 12)
			memcpy(&v, captures + sizeof(head), 8);
		else if (head.len <= 4)
			memcpy(&v, captures + sizeof(head), 4);
		else
			return -1;
		code = head.status == CAP_OK ? code_of(head.len, v) : 0;
		if (code == 0)
			return -1;
		codes |= code << at;
		memcpy(to + *packed, &v, sizeof(v));
		*packed += codes_of[code].stored;
		size = codes_of[code].whole;
		captures += size;
		len -= size;
	}
	return (int32_t)codes;
}

bool
pack_sound(uint32_t codes)
{
	while ((codes & CODE) != 0)
		codes >>= NEXT;
	return codes == 0;
}

uint32_t
pack_size(uint32_t codes)
{
	uint32_t n = 0;

	for (; codes != 0; codes >>= NEXT)
		n += codes_of[codes & CODE].stored;
	return n;
}

uint32_t
pack_whole(uint32_t codes)
{
	uint32_t n = 0;

	for (; codes != 0; codes >>= NEXT)
		n += codes_of[codes & CODE].whole;
	return n;
}

void
unpack(const uint8_t *packed, uint32_t codes, uint8_t to[PACK_WHOLE])
{
	struct captured head = { .status = CAP_OK };
	uint32_t code, stored;

	for (; codes != 0; codes >>= NEXT) {
		code = codes & CODE;
		stored = codes_of[code].stored;
		head.len = codes_of[code].len;
		memset(to, 0, codes_of[code].whole);
		memcpy(to, &head, sizeof(head));
		memcpy(to + sizeof(head), packed, stored);
		packed += stored;
		to += codes_of[code].whole;
	}
}
