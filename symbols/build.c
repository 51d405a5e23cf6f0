/* SPDX-License-Identifier: ISC */
/* Putting an index together: sorted, without doubles, written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "mem.h"
#include "symtab.h"

#define DIGIT_BITS	11
#define DIGITS		(1U << DIGIT_BITS)

struct key {
	uint64_t addr;
	uint32_t i;
};

static void
sort_digit(const struct key *from, struct key *to, size_t n, unsigned int shift)
{
	static size_t at[DIGITS];
	size_t i, sum = 0, count;

	memset(at, 0, sizeof(at));
	for (i = 0; i < n; i++)
		at[(from[i].addr >> shift) & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = at[i];
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[at[(from[i].addr >> shift) & (DIGITS - 1)]++] = from[i];
}

/* By address, digit by digit, which keeps the order of equals. */
static void
sort_funcs(struct found *f)
{
	struct key *a, *b, *tmp;
	struct sym_func *sorted;
	uint64_t all = 0;
	unsigned int shift;
	size_t i;

	for (i = 1; i < f->n && f->funcs[i - 1].addr <= f->funcs[i].addr; i++)
		continue;
	if (i >= f->n)
		return;
	a = mem_zero(f->n, sizeof(*a));
	b = mem_zero(f->n, sizeof(*b));
	sorted = mem_zero(f->n, sizeof(*sorted));
	for (i = 0; i < f->n; i++) {
		a[i] = (struct key) { f->funcs[i].addr, (uint32_t)i };
		all |= a[i].addr;
	}
	for (shift = 0; shift < 64 && all >> shift != 0; shift += DIGIT_BITS) {
		sort_digit(a, b, f->n, shift);
		tmp = a;
		a = b;
		b = tmp;
	}
	for (i = 0; i < f->n; i++)
		sorted[i] = f->funcs[a[i].i];
	free(f->funcs);
	f->funcs = sorted;
	f->cap = f->n;
	free(a);
	free(b);
}

static bool
same(const struct found *f, const struct sym_func *a, const struct sym_func *b)
{
	return a->addr == b->addr && (a->name == b->name ||
	    strcmp(f->strs.buf + a->name, f->strs.buf + b->name) == 0);
}

/* The same function may be told by several units. */
static void
drop_doubles(struct found *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++) {
		/* what has no name nobody can ask for */
		if (f->funcs[i].name == 0)
			continue;
		if (f->funcs[i].size > UINT64_MAX - f->funcs[i].addr)
			f->funcs[i].size = 0;
		if (n > 0 && f->funcs[i].addr != 0 &&
		    same(f, &f->funcs[n - 1], &f->funcs[i]))
			continue;
		f->funcs[n++] = f->funcs[i];
	}
	f->n = n;
}

static uint32_t
header_flags(struct elf_image *e, const struct dwarf *d)
{
	uint32_t flags = 0;

	flags |= d->nunits > 0 ? SYM_HAS_DWARF : 0;
	flags |= d->split ? SYM_SPLIT : 0;
	flags |= d->elsewhere || e->sect[SECT_ALTLINK].raw.len > 0 ?
	    SYM_ELSEWHERE : 0;
	flags |= d->damaged ? SYM_DAMAGED : 0;
	flags |= d->foreign ? SYM_FOREIGN : 0;
	flags |= e->pie ? SYM_PIE : 0;
	flags |= e->sect[SECT_DEBUGLINK].raw.len > 0 ? SYM_LINKED : 0;
	return flags;
}

void
build_index(struct elf_image *e, struct dwarf *d, struct found *f)
{
	memset(f, 0, sizeof(*f));
	strs_init(&f->strs);
	scan_functions(d, f);
	symtab_functions(e, f);
	sort_funcs(f);
	drop_doubles(f);
	f->flags |= header_flags(e, d);
	if (f->strs.full)
		f->flags |= SYM_FULL;
}

void
found_free(struct found *f)
{
	free(f->funcs);
	strs_free(&f->strs);
	memset(f, 0, sizeof(*f));
}

static int
write_all(int fd, const void *p, size_t len)
{
	const char *at = p;
	ssize_t n;

	while (len > 0) {
		n = write(fd, at, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int
build_write(const struct elf_image *e, const struct found *f, int fd)
{
	size_t funcs = f->n * sizeof(*f->funcs);
	struct sym_header h = {
		.magic = SYM_MAGIC,
		.size = sizeof(h) + funcs + f->strs.len,
		.load_addr = e->load_addr,
		.flags = f->flags,
		.nfuncs = (uint32_t)f->n,
		.strs_off = (uint32_t)(sizeof(h) + funcs),
		.strs_len = (uint32_t)f->strs.len,
		.build_id_len = (uint32_t)e->build_id_len,
	};

	memcpy(h.build_id, e->build_id, e->build_id_len);
	if (write_all(fd, &h, sizeof(h)) == -1 ||
	    write_all(fd, f->funcs, funcs) == -1 ||
	    write_all(fd, f->strs.buf, f->strs.len) == -1)
		return -1;
	return 0;
}
