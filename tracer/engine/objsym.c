/* SPDX-License-Identifier: ISC */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/elffile.h"
#include "maps.h"
#include "objsym.h"
#include "proc.h"

#define SYMS_MOST	2000000UL
#define NAME_MOST	64	/* wanted names are shorter */
#define CHAIN_MOST	65536
#define PHDRS_MOST	64
#define DYNAMIC_MOST	256
#define STRINGS_MOST	(256UL << 20)

static bool
is_function(const Elf64_Sym *s)
{
	unsigned int type = ELF64_ST_TYPE(s->st_info);

	return ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
	    s->st_shndx != SHN_UNDEF && s->st_value != 0 &&
	    type != STT_GNU_IFUNC);
}

static void
walk(const Elf64_Sym *syms, size_t n, const char *names, size_t len,
    uint64_t bias, objsym_want want, objsym_fn fn, void *arg)
{
	const char *name;
	size_t i, most;

	for (i = 0; i < n; i++) {
		if (!is_function(&syms[i]) || syms[i].st_name >= len)
			continue;
		name = names + syms[i].st_name;
		most = len - syms[i].st_name;
		if (most > NAME_MOST)
			most = NAME_MOST;
		/* with its NUL within the table */
		if (strnlen(name, most) < most && want(name))
			fn(name, syms[i].st_value + bias, syms[i].st_size,
			    arg);
	}
}

/* --- in memory ------------------------------------------------------------ */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

/* The segment of that type of the object that is mapped there, and what its
 * addresses have been moved by. */
static bool
segment_find(const struct target *t, uint64_t base, uint32_t type,
    Elf64_Phdr *found, uint64_t *bias)
{
	Elf64_Phdr ph[PHDRS_MOST];
	Elf64_Ehdr eh;
	uint64_t first = UINT64_MAX;
	size_t i;

	memset(found, 0, sizeof(*found));
	if (!mem_read(t, base, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_phnum > PHDRS_MOST || eh.e_phentsize != sizeof(ph[0]) ||
	    !mem_read(t, base + eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0])))
		return (false);
	for (i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr < first)
			first = ph[i].p_vaddr & ~0xfffUL;
		if (ph[i].p_type == type)
			*found = ph[i];
	}
	*bias = base - first;
	return (found->p_memsz != 0 && first != UINT64_MAX);
}

bool
objsym_segment(const struct target *t, uint64_t base, uint32_t type,
    uint64_t *addr, uint64_t *size)
{
	Elf64_Phdr ph;
	uint64_t bias;

	if (!segment_find(t, base, type, &ph, &bias))
		return (false);
	*addr = ph.p_vaddr + bias;
	*size = ph.p_memsz;
	return (true);
}

static bool
dynamic_read(
    const struct target *t, uint64_t base, struct dynamic *d, uint64_t *bias)
{
	Elf64_Dyn dyn[DYNAMIC_MOST];
	Elf64_Phdr ph;
	uint64_t size;
	size_t i;

	memset(d, 0, sizeof(*d));
	if (!segment_find(t, base, PT_DYNAMIC, &ph, bias))
		return (false);
	size = ph.p_memsz < sizeof(dyn) ? ph.p_memsz : sizeof(dyn);
	if (!mem_read(t, ph.p_vaddr + *bias, dyn, size))
		return (false);
	for (i = 0; i < size / sizeof(dyn[0]) && dyn[i].d_tag != DT_NULL;
	    i++) {
		uint64_t v = dyn[i].d_un.d_ptr;

		/* the loader relocates these in place; before it has run, and
		 * where it may not write, they are not */
		if (v < *bias && dyn[i].d_tag != DT_STRSZ)
			v += *bias;
		if (dyn[i].d_tag == DT_SYMTAB)
			d->symtab = v;
		else if (dyn[i].d_tag == DT_STRTAB)
			d->strtab = v;
		else if (dyn[i].d_tag == DT_STRSZ)
			d->strsz = v;
		else if (dyn[i].d_tag == DT_HASH)
			d->hash = v;
		else if (dyn[i].d_tag == DT_GNU_HASH)
			d->gnu_hash = v;
	}
	return (d->symtab != 0 && d->strtab != 0 && d->strsz != 0 &&
	    d->strsz <= STRINGS_MOST);
}

/* How many symbols: the end of the last chain of the GNU hash table. */
static size_t
gnu_count(const struct target *t, uint64_t at)
{
	uint32_t h[4], *buckets, last = 0, link;
	uint64_t chains;
	size_t i;

	if (!mem_read(t, at, h, sizeof(h)) || h[0] > SYMS_MOST ||
	    h[2] > SYMS_MOST)
		return (0);
	at += sizeof(h) + h[2] * 8UL;
	buckets = calloc(h[0] + 1UL, sizeof(*buckets));
	if (buckets == NULL)
		return (0);
	if (mem_read(t, at, buckets, h[0] * sizeof(*buckets)))
		for (i = 0; i < h[0]; i++)
			if (buckets[i] > last)
				last = buckets[i];
	free(buckets);
	if (last < h[1])
		return (h[1]);
	chains = at + h[0] * 4UL;
	for (i = last; last < SYMS_MOST && last - i < CHAIN_MOST; last++)
		if (!mem_read(t, chains + (last - h[1]) * 4UL, &link,
		    sizeof(link)) || (link & 1) != 0)
			break;
	return (last + 1UL);
}

static size_t
dynamic_count(const struct target *t, const struct dynamic *d)
{
	uint32_t h[2];

	if (d->hash != 0 && mem_read(t, d->hash, h, sizeof(h)))
		return (h[1]);
	return (d->gnu_hash != 0 ? gnu_count(t, d->gnu_hash) : 0);
}

void
objsym_dynamic(const struct target *t, uint64_t base, objsym_want want,
    objsym_fn fn, void *arg)
{
	struct dynamic d;
	Elf64_Sym *syms;
	uint64_t bias;
	char *names;
	size_t n;

	if (!dynamic_read(t, base, &d, &bias))
		return;
	n = dynamic_count(t, &d);
	if (n == 0 || n > SYMS_MOST)
		return;
	syms = calloc(n, sizeof(*syms));
	names = malloc(d.strsz);
	if (syms != NULL && names != NULL &&
	    mem_read(t, d.symtab, syms, n * sizeof(*syms)) &&
	    mem_read(t, d.strtab, names, d.strsz))
		walk(syms, n, names, d.strsz, bias, want, fn, arg);
	free(syms);
	free(names);
}

/* --- in the file ---------------------------------------------------------- */

static void
table(int fd, const Elf64_Shdr *sh, const Elf64_Shdr *str, uint64_t bias,
    objsym_want want, objsym_fn fn, void *arg)
{
	Elf64_Sym *syms = elf_load(fd, sh->sh_offset, sh->sh_size,
	    SYMS_MOST * sizeof(*syms));
	char *names = elf_load(fd, str->sh_offset, str->sh_size, STRINGS_MOST);

	if (syms != NULL && names != NULL)
		walk(syms, sh->sh_size / sizeof(*syms), names, str->sh_size,
		    bias, want, fn, arg);
	free(syms);
	free(names);
}

static void
sections(int fd, struct exe_facts *f, uint64_t bias, objsym_want want,
    objsym_fn fn, void *arg)
{
	struct elf_sections s;
	const Elf64_Shdr *sh;
	size_t i;

	if (!elf_sections_read(fd, &s))
		return;
	f->go = elf_is_go(&s);
	for (i = 0; i < s.n && !f->symtab; i++) {
		sh = &s.headers[i];
		/* a file has one; of one that says otherwise the first: all
		 * headers could name the same, and it takes long to read */
		if (sh->sh_type != SHT_SYMTAB || sh->sh_link >= s.n)
			continue;
		f->symtab = true;
		table(fd, sh, &s.headers[sh->sh_link], bias, want, fn, arg);
	}
	elf_sections_free(&s);
}

static void
segments(int fd, const Elf64_Ehdr *eh, struct exe_facts *f)
{
	Elf64_Phdr *ph;
	size_t i;

	f->is_static = true;
	f->first = UINT64_MAX;
	if (eh->e_phentsize != sizeof(*ph) || eh->e_phnum > PHDRS_MOST)
		return;
	ph = elf_load(fd, eh->e_phoff, eh->e_phnum * sizeof(*ph), UINT32_MAX);
	if (ph == NULL)
		return;
	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_INTERP)
			f->is_static = false;
		if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr < f->first)
			f->first = ph[i].p_vaddr & ~0xfffUL;
	}
	free(ph);
}

bool
objsym_exe(pid_t pid, uint64_t base, struct exe_facts *f, objsym_want want,
    objsym_fn fn, void *arg)
{
	Elf64_Ehdr eh;
	char path[64];
	int fd;

	memset(f, 0, sizeof(*f));
	(void)snprintf(path, sizeof(path), "/proc/%d/exe",
	    (int)maps_task(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (false);
	if (pread_again(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0) {
		f->elf64 = eh.e_ident[EI_CLASS] == ELFCLASS64 &&
		    arch_runs(eh.e_machine);
		f->entry = eh.e_entry;
		segments(fd, &eh, f);
		sections(fd, f, base - f->first, want, fn, arg);
	}
	(void)close(fd);
	return (f->elf64);
}
