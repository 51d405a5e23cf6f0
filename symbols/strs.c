/* SPDX-License-Identifier: ISC */
/* Strings: appended, and some of them only once. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "index.h"
#include "mem.h"
#include "strs.h"

/* More than any real binary has, and less than a bomb wants. */
#define STRS_MAX	(1U << 30)

void
strs_init(struct strs *s)
{
	memset(s, 0, sizeof(*s));
	s->cap = 1 << 16;
	s->buf = mem_zero(s->cap, 1);
	s->len = 1;
}

void
strs_free(struct strs *s)
{
	free(s->buf);
	free(s->slots);
	memset(s, 0, sizeof(*s));
}

static void
room(struct strs *s, size_t n)
{
	size_t want = s->cap;

	while (want - s->len < n)
		want *= 2;
	if (want == s->cap)
		return;
	s->buf = realloc(s->buf, want);
	if (s->buf == NULL)
		fatalx("this binary needs more memory than there is");
	s->cap = want;
}

static size_t
cut(const char *p, size_t len)
{
	return strnlen(p, len > SYM_NAME_MAX ? SYM_NAME_MAX : len);
}

static uint32_t
append(struct strs *s, const char *p, size_t len)
{
	uint32_t at = (uint32_t)s->len;

	if (len == 0)
		return 0;
	if (s->len + len + 1 > STRS_MAX) {
		s->full = true;
		return 0;
	}
	room(s, len + 1);
	memcpy(s->buf + s->len, p, len);
	s->buf[s->len + len] = '\0';
	s->len += len + 1;
	return at;
}

uint32_t
strs_add(struct strs *s, const char *p, size_t len)
{
	return append(s, p, cut(p, len));
}

static uint64_t
hash(const char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ len, w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	w = 0;
	memcpy(&w, p, len);
	h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static void
grow_slots(struct strs *s)
{
	uint32_t *old = s->slots;
	size_t n = s->nslots, i, j;
	const char *p;

	s->nslots = n == 0 ? 1024 : n * 2;
	s->slots = mem_zero(s->nslots, sizeof(*s->slots));
	for (i = 0; i < n; i++) {
		if (old[i] == 0)
			continue;
		p = s->buf + old[i];
		j = hash(p, strlen(p)) & (s->nslots - 1);
		while (s->slots[j] != 0)
			j = (j + 1) & (s->nslots - 1);
		s->slots[j] = old[i];
	}
	free(old);
}

uint32_t
strs_once(struct strs *s, const char *p, size_t len, bool *new)
{
	size_t i;
	const char *have;

	len = cut(p, len);
	if (new != NULL)
		*new = false;
	if (len == 0)
		return 0;
	if (s->used * 2 >= s->nslots)
		grow_slots(s);
	i = hash(p, len) & (s->nslots - 1);
	for (; s->slots[i] != 0; i = (i + 1) & (s->nslots - 1)) {
		have = s->buf + s->slots[i];
		if (strncmp(have, p, len) == 0 && have[len] == '\0')
			return s->slots[i];
	}
	s->slots[i] = append(s, p, len);
	if (s->slots[i] != 0)
		s->used++;
	if (new != NULL)
		*new = s->slots[i] != 0;
	return s->slots[i];
}
