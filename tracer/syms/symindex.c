/* SPDX-License-Identifier: ISC */
/* Checking an index, and looking into it. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symindex.h"

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
/* Functions and strings of SYM_FUNCS_MAX and some. */
#define SIZE_MOST	(2ULL << 30)

static int
bad(char *why, size_t size, const char *what)
{
	(void)snprintf(why, size, "the index of functions is damaged: %s",
	    what);
	return -1;
}

static const char *
check_header(const struct sym_header *h, size_t len)
{
	uint64_t funcs;

	if (h->magic != SYM_MAGIC)
		return "it does not begin as one";
	if (h->size != len)
		return "it is not as long as it says";
	if (h->nfuncs > SYM_FUNCS_MAX)
		return "more functions than there can be";
	funcs = (uint64_t)h->nfuncs * sizeof(struct sym_func);
	if (h->strs_off != sizeof(*h) + funcs || h->strs_len == 0 ||
	    (uint64_t)h->strs_off + h->strs_len != len)
		return "its parts do not fit together";
	if (h->build_id_len > SYM_BUILD_ID)
		return "the build id is too long";
	return NULL;
}

/*
 * Names may share bytes, but not so much that to look at all of them would
 * take longer than to look at the file.
 */
static const char *
check_names(const struct symindex *ix)
{
	uint64_t all = 0;
	size_t len;
	uint32_t i;

	for (i = 0; i < ix->header->nfuncs; i++) {
		len = strnlen(ix->strs + ix->funcs[i].name, SYM_NAME_MAX + 1);
		all += len + 1;
		if (len > SYM_NAME_MAX || all > ix->header->strs_len)
			return "its names are longer than it is";
	}
	return NULL;
}

static const char *
check_funcs(const struct symindex *ix)
{
	uint32_t n = ix->header->nfuncs, end = ix->header->strs_len, i;
	const struct sym_func *f = ix->funcs;
	uint64_t last = 0;

	if (ix->strs[0] != '\0' || ix->strs[end - 1] != '\0')
		return "its strings have no end";
	for (i = 0; i < n; i++, f++) {
		if (f->addr < last)
			return "functions are not in order";
		if (f->name >= end || f->raw >= end || f->file >= end)
			return "a string that it does not have";
		if (f->size > UINT64_MAX - f->addr)
			return "a function that has no end";
		if (f->name == 0)
			return "a function without a name";
		last = f->addr;
	}
	return check_names(ix);
}

int
symindex_check(struct symindex *ix, const void *p, size_t len, char *why,
    size_t size)
{
	const char *wrong;

	memset(ix, 0, sizeof(*ix));
	if (len < sizeof(*ix->header) ||
	    (uintptr_t)p % _Alignof(struct sym_header) != 0)
		return bad(why, size, "it is too short");
	ix->header = p;
	wrong = check_header(ix->header, len);
	if (wrong == NULL) {
		ix->funcs = (const void *)(ix->header + 1);
		ix->strs = (const char *)p + ix->header->strs_off;
		wrong = check_funcs(ix);
	}
	if (wrong == NULL)
		return 0;
	memset(ix, 0, sizeof(*ix));
	return bad(why, size, wrong);
}

static int
read_all(int fd, char *p, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = pread(fd, p + at, len - at, (off_t)at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

static void *
get_bytes(int fd, size_t len, bool mapped)
{
	void *p;

	if (mapped) {
		p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
		return p == MAP_FAILED ? NULL : p;
	}
	p = malloc(len);
	if (p != NULL && read_all(fd, p, len) == -1) {
		free(p);
		return NULL;
	}
	return p;
}

static void
drop_bytes(void *p, size_t len, bool mapped)
{
	if (mapped)
		(void)munmap(p, len);
	else
		free(p);
}

int
symindex_open(struct symindex *ix, int fd, char *why, size_t size)
{
	/* before its size: what is sealed later may be shorter than that */
	const int seals = fcntl(fd, F_GET_SEALS);
	const bool mapped = seals != -1 && (seals & SEALS) == SEALS;
	struct stat st;
	void *p;

	memset(ix, 0, sizeof(*ix));
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return bad(why, size, "it is no file");
	if (st.st_size < (off_t)sizeof(struct sym_header) ||
	    (uint64_t)st.st_size > SIZE_MOST)
		return bad(why, size, "it is too short, or too long");
	p = get_bytes(fd, (size_t)st.st_size, mapped);
	if (p == NULL)
		return bad(why, size, "it cannot be read");
	if (symindex_check(ix, p, (size_t)st.st_size, why, size) == -1) {
		drop_bytes(p, (size_t)st.st_size, mapped);
		return -1;
	}
	ix->map = p;
	ix->size = (size_t)st.st_size;
	ix->mapped = mapped;
	return 0;
}

void
symindex_close(struct symindex *ix)
{
	if (ix->map != NULL)
		drop_bytes(ix->map, ix->size, ix->mapped);
	memset(ix, 0, sizeof(*ix));
}

const char *
symindex_str(const struct symindex *ix, uint32_t off)
{
	return off < ix->header->strs_len ? ix->strs + off : "";
}

const struct sym_func *
symindex_at(const struct symindex *ix, uint64_t addr)
{
	uint32_t lo = 0, hi = ix->header->nfuncs, mid;
	const struct sym_func *f;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (ix->funcs[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return NULL;
	f = &ix->funcs[lo - 1];
	if (f->addr == 0 || addr - f->addr >= (f->size == 0 ? 1 : f->size))
		return NULL;
	/* of several names for one address the first */
	while (f > ix->funcs && f[-1].addr == f->addr)
		f--;
	return f;
}
