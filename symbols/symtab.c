/* SPDX-License-Identifier: ISC */
/* The symbol table beside DWARF, and in its place. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "mem.h"
#include "symtab.h"

/* Which function has an address: open addressing, numbers from 1. */
struct by_addr {
	uint32_t	*slots;
	size_t		 mask;
	const struct found *found;
};

static size_t
slot_of(const struct by_addr *b, uint64_t addr)
{
	size_t i = (size_t)((addr * 0x9e3779b97f4a7c15ULL) >> 32) & b->mask;

	while (b->slots[i] != 0 &&
	    b->found->funcs[b->slots[i] - 1].addr != addr)
		i = (i + 1) & b->mask;
	return i;
}

static void
by_addr_init(struct by_addr *b, const struct found *f)
{
	size_t n = 64, i, j;

	while (n < f->n * 2)
		n *= 2;
	b->slots = mem_zero(n, sizeof(*b->slots));
	b->mask = n - 1;
	b->found = f;
	for (i = 0; i < f->n; i++) {
		if (f->funcs[i].addr == 0)
			continue;
		j = slot_of(b, f->funcs[i].addr);
		if (b->slots[j] == 0)
			b->slots[j] = (uint32_t)i + 1;
	}
}

/*
 * ".isra.0" and the like: the compiler has made a copy for some callers and
 * may have changed what it is given; ".cold" is not entered from its top.
 */
static unsigned int
suffix_flags(const char *name, size_t len)
{
	const char *dot = len < 2 ? NULL : memchr(name + 1, '.', len - 1);

	if (dot == NULL)
		return 0;
	if (strstr(dot, ".cold") != NULL)
		return SYM_COLD;
	return strstr(dot, ".isra") != NULL || strstr(dot, ".part") != NULL ||
	    strstr(dot, ".constprop") != NULL ? SYM_CLONE : 0;
}

static void
rename_to(struct found *f, struct sym_func *fn, const char *raw, size_t len)
{
	static char buf[SYM_NAME_MAX + 1];
	size_t n = demangle(raw, len, buf, sizeof(buf));

	fn->raw = strs_add(&f->strs, raw, len);
	fn->flags |= (uint16_t)suffix_flags(raw, len);
	if (n > 0)
		fn->name = strs_add(&f->strs, buf, n);
}

/* DWARF knows it; the symbol may know its name better, or its size. */
static void
complete(struct found *f, struct sym_func *fn, const Elf64_Sym *sym,
    const char *name, size_t len)
{
	const char *raw = f->strs.buf + fn->raw;
	size_t n = strlen(raw);
	unsigned int flags;

	if (fn->size == 0)
		fn->size = sym->st_size;
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		fn->flags |= SYM_RESOLVER;
	/* its name is in another file */
	if (fn->raw == 0) {
		fn->name = strs_add(&f->strs, name, len);
		rename_to(f, fn, name, len);
		return;
	}
	/* gcc leaves it out of DWARF where no other unit can name it */
	if (fn->raw == fn->name && name[0] == '_' && (name[1] == 'Z' ||
	    name[1] == 'R')) {
		rename_to(f, fn, name, len);
		return;
	}
	/* extern "C" in a namespace */
	if (fn->raw == fn->name && n > len && name[0] != '_' &&
	    strcmp(raw + n - len, name) == 0) {
		fn->raw = strs_add(&f->strs, name, len);
		return;
	}
	if (len <= n || name[n] != '.' || memcmp(name, raw, n) != 0)
		return;
	flags = suffix_flags(name, len);
	if (flags == 0 || fn->flags & SYM_CLONE)
		return;
	fn->flags |= (uint16_t)flags;
	fn->raw = strs_add(&f->strs, name, len);
}

static void
append(struct found *f, const struct sym_func *fn)
{
	if (f->n >= SYM_FUNCS_MAX) {
		f->flags |= SYM_FULL;
		return;
	}
	mem_room(&f->funcs, &f->cap, f->n, sizeof(*fn));
	f->funcs[f->n++] = *fn;
}

/*
 * DWARF tells of a function under one name, and libraries know it by others:
 * libc's write() is __libc_write() there.  A search for either name finds it.
 */
static void
add_alias(struct found *f, struct sym_func fn, const Elf64_Sym *sym,
    const char *name, size_t len)
{
	static char buf[SYM_NAME_MAX + 1];
	const char *raw = f->strs.buf + fn.raw,
	    *version = memchr(name, '@', len);
	size_t n;

	if (version != NULL)
		len = (size_t)(version - name);
	if (len > SYM_NAME_MAX)
		len = SYM_NAME_MAX;
	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL ||
	    (strncmp(raw, name, len) == 0 && raw[len] == '\0'))
		return;
	n = demangle(name, len, buf, sizeof(buf));
	/* the constructors of one class differ in no more than how they are said */
	if (n > 0 && strcmp(f->strs.buf + fn.name, buf) == 0)
		return;
	fn.raw = strs_add(&f->strs, name, len);
	fn.name = n > 0 ? strs_add(&f->strs, buf, n) : fn.raw;
	fn.flags |= SYM_EXTERNAL;
	append(f, &fn);
}

static void
add_symbol(struct found *f, const Elf64_Sym *sym, const char *name, size_t len)
{
	static char buf[SYM_NAME_MAX + 1];
	struct sym_func fn = { .addr = sym->st_value, .size = sym->st_size };
	size_t n;

	fn.flags = (uint16_t)(SYM_NO_DWARF | suffix_flags(name, len));
	if (ELF64_ST_BIND(sym->st_info) != STB_LOCAL)
		fn.flags |= SYM_EXTERNAL;
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		fn.flags |= SYM_RESOLVER;
	fn.raw = fn.name = strs_add(&f->strs, name, len);
	n = demangle(name, len, buf, sizeof(buf));
	if (n > 0)
		fn.name = strs_add(&f->strs, buf, n);
	append(f, &fn);
}

static bool
is_function(const struct elf_image *e, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	    sym->st_shndx != SHN_UNDEF && sym->st_value != 0 &&
	    elf_is_text(e, sym->st_value);
}

static void
read_table(struct elf_image *e, struct found *f, const struct span *syms,
    const struct span *strs)
{
	size_t i, j, len, n = syms->len / sizeof(Elf64_Sym);
	struct by_addr known;
	struct cursor c;
	const char *name;
	Elf64_Sym sym;

	by_addr_init(&known, f);
	for (i = 1; i < n; i++) {
		memcpy(&sym, syms->p + i * sizeof(sym), sizeof(sym));
		if (!is_function(e, &sym))
			continue;
		c = cur_at(strs, sym.st_name);
		name = cur_str(&c, &len);
		if (name == NULL || len == 0)
			continue;
		j = known.slots[slot_of(&known, sym.st_value)];
		if (j == 0) {
			add_symbol(f, &sym, name, len);
			continue;
		}
		complete(f, &f->funcs[j - 1], &sym, name, len);
		add_alias(f, f->funcs[j - 1], &sym, name, len);
	}
	free(known.slots);
}

void
symtab_functions(struct elf_image *e, struct found *f)
{
	bool full = elf_section(e, SECT_SYMTAB)->len > 0;

	if (full)
		f->flags |= SYM_HAS_SYMTAB;
	read_table(e, f,
	    elf_section(e, full ? SECT_SYMTAB : SECT_DYNSYM),
	    elf_section(e, full ? SECT_STRTAB : SECT_DYNSTR));
}
