/* SPDX-License-Identifier: ISC */
/* links: common/tty/ttymodes.c */
/* covers: common/tty/ttymodes.c */
/*
 * Output of a terminal, cut into pieces by its first byte: the pieces make no
 * difference, and what is said about the terminal is true of one that is
 * shown it.
 */

#include "regress/fuzz/fuzz.h"

#include "tty/ttymodes.h"

struct said {
	char	text[TTYMODES_PREAMBLE];
	size_t	len;
};

static struct said
say(const struct ttymodes *m)
{
	struct said s;

	s.len = ttymodes_preamble(&m->now, 24, s.text);
	return s;
}

static void
must_be_same(const struct said *a, const struct said *b)
{
	if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ttymodes whole, parts, shown;
	struct said a, b;
	size_t step = size == 0 ? 1 : data[0] % 16 + 1U, n;
	const uint8_t *p = data;

	ttymodes_init(&whole);
	ttymodes_init(&parts);
	ttymodes_feed(&whole, data, size);
	for (; p < data + size; p += n) {
		n = (size_t)(data + size - p);
		n = n < step ? n : step;
		ttymodes_feed(&parts, p, n);
	}
	if (ttymodes_is_ground(&whole) != ttymodes_is_ground(&parts))
		abort();
	a = say(&whole);
	b = say(&parts);
	must_be_same(&a, &b);
	if (a.len > TTYMODES_PREAMBLE - 100)
		abort();
	ttymodes_init(&shown);
	ttymodes_feed(&shown, a.text, a.len);
	b = say(&shown);
	must_be_same(&a, &b);
	return 0;
}
