/* SPDX-License-Identifier: ISC */
/* Sections and segments of an ELF file; every offset in it may be a lie. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/elfhdr.h"
#include "image.h"
#include "mem.h"

/* <elf.h> of the base system stops at zlib */
#define COMPRESS_ZSTD	2
/* Limits of an unpacked section: its size, and its ratio to the packed one. */
#ifndef UNPACKED_MAX
#define UNPACKED_MAX	(2ULL << 30)
#endif
#define RATIO_MAX	1100
#define ZSTD_RATIO_MAX	20000
/* Sections are looked at so far; linkers write some dozens. */
#define SHNUM_MAX	100000
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	enum sect sect;
} names[] = {
	{ "debug_info", SECT_INFO },
	{ "debug_types", SECT_TYPES },
	{ "debug_abbrev", SECT_ABBREV },
	{ "debug_str", SECT_STR },
	{ "debug_line", SECT_LINE },
	{ "debug_line_str", SECT_LINE_STR },
	{ "debug_str_offsets", SECT_STR_OFFSETS },
	{ "debug_addr", SECT_ADDR },
	{ "debug_ranges", SECT_RANGES },
	{ "debug_rnglists", SECT_RNGLISTS },
	{ "debug_loc", SECT_LOC },
	{ "debug_loclists", SECT_LOCLISTS },
	{ "gnu_debugaltlink", SECT_ALTLINK },
	{ "gnu_debuglink", SECT_DEBUGLINK },
	{ "symtab", SECT_SYMTAB },
	{ "strtab", SECT_STRTAB },
	{ "dynsym", SECT_DYNSYM },
	{ "dynstr", SECT_DYNSTR },
};

static bool
within(const struct elf_image *e, uint64_t off, uint64_t len)
{
	return off <= e->size && len <= e->size - off;
}

/* ".debug_x", or ".zdebug_x" of the years before SHF_COMPRESSED. */
static void
note_section(struct elf_image *e, const Elf64_Shdr *sh, const char *name)
{
	struct elf_sect *s;
	bool z = strncmp(name, ".zdebug_", 8) == 0;
	size_t i;

	if (name[0] != '.' || sh->sh_type == SHT_NOBITS ||
	    !within(e, sh->sh_offset, sh->sh_size))
		return;
	for (i = 0; i < NELEM(names); i++) {
		if (strcmp(name + (z ? 2 : 1), names[i].name) != 0)
			continue;
		s = &e->sect[names[i].sect];
		if (s->raw.len > 0)
			return;
		s->raw.p = e->map + sh->sh_offset;
		s->raw.len = (size_t)sh->sh_size;
		s->chdr = (sh->sh_flags & SHF_COMPRESSED) != 0;
		s->zdebug = z;
		return;
	}
}

static void
read_sections(struct elf_image *e, const Elf64_Ehdr *eh)
{
	uint64_t n = eh->e_shnum, strndx = eh->e_shstrndx, i;
	struct span strs;
	Elf64_Shdr sh;
	struct cursor c;
	const char *name;
	size_t len;

	if (eh->e_shentsize != sizeof(sh) ||
	    !within(e, eh->e_shoff, sizeof(sh)) || eh->e_shoff == 0)
		return;
	memcpy(&sh, e->map + eh->e_shoff, sizeof(sh));
	if (n == 0)
		n = sh.sh_size;
	if (strndx == SHN_XINDEX)
		strndx = sh.sh_link;
	if (n > SHNUM_MAX || strndx >= n ||
	    !within(e, eh->e_shoff, n * sizeof(sh)))
		return;
	memcpy(&sh, e->map + eh->e_shoff + strndx * sizeof(sh), sizeof(sh));
	if (sh.sh_type == SHT_NOBITS || !within(e, sh.sh_offset, sh.sh_size))
		return;
	strs = (struct span) { e->map + sh.sh_offset, (size_t)sh.sh_size };
	for (i = 1; i < n; i++) {
		memcpy(&sh, e->map + eh->e_shoff + i * sizeof(sh), sizeof(sh));
		c = cur_at(&strs, sh.sh_name);
		name = cur_str(&c, &len);
		if (name != NULL && len > 0)
			note_section(e, &sh, name);
	}
}

/* Notes are padded to 4; the build id is of type 3 and owner "GNU". */
static void
read_notes(struct elf_image *e, const Elf64_Phdr *ph)
{
	struct span s;
	struct cursor c;
	uint32_t namesz, descsz, type;
	bool gnu;

	if (!within(e, ph->p_offset, ph->p_filesz))
		return;
	s = (struct span) { e->map + ph->p_offset, (size_t)ph->p_filesz };
	for (c = cur_at(&s, 0); cur_left(&c) >= 12;) {
		namesz = cur_u32(&c);
		descsz = cur_u32(&c);
		type = cur_u32(&c);
		gnu = namesz == 4 && cur_left(&c) >= 4 &&
		    memcmp(c.p, "GNU", 4) == 0;
		cur_skip(&c, ((uint64_t)namesz + 3) & ~3ULL);
		if (gnu && type == NT_GNU_BUILD_ID && descsz > 0 &&
		    descsz <= ELF_BUILD_ID_MAX && descsz <= cur_left(&c)) {
			memcpy(e->build_id, c.p, descsz);
			e->build_id_len = descsz;
			return;
		}
		cur_skip(&c, ((uint64_t)descsz + 3) & ~3ULL);
	}
}

static void
read_segments(struct elf_image *e, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	bool loaded = false;
	size_t i;

	if (!within(e, eh->e_phoff, eh->e_phnum * sizeof(ph)))
		return;
	for (i = 0; i < eh->e_phnum; i++) {
		memcpy(&ph, e->map + eh->e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE && e->build_id_len == 0)
			read_notes(e, &ph);
		if (ph.p_type != PT_LOAD)
			continue;
		if (!loaded)
			e->load_addr = ph.p_vaddr;
		loaded = true;
		if (!(ph.p_flags & PF_X) || e->ntext == ELF_TEXTS ||
		    ph.p_memsz > UINT64_MAX - ph.p_vaddr)
			continue;
		e->text[e->ntext].lo = ph.p_vaddr;
		e->text[e->ntext++].hi = ph.p_vaddr + ph.p_memsz;
	}
}

int
elf_open(struct elf_image *e, const void *map, size_t len, char *why,
    size_t size)
{
	Elf64_Ehdr eh;

	memset(e, 0, sizeof(*e));
	e->map = map;
	e->size = len;
	if (elf_check(map, len, why, size) == -1)
		return -1;
	memcpy(&eh, map, sizeof(eh));
	e->pie = eh.e_type == ET_DYN;
	read_segments(e, &eh);
	read_sections(e, &eh);
	return 0;
}

void
elf_close(struct elf_image *e)
{
	size_t i;

	for (i = 0; i < SECT_COUNT; i++)
		free(e->sect[i].unpacked);
	memset(e, 0, sizeof(*e));
}

static bool
inflate_to(const struct span *in, uint8_t *out, size_t size)
{
	z_stream z = { 0 };
	bool ok;

	if (in->len > UINT32_MAX || size > UINT32_MAX ||
	    inflateInit(&z) != Z_OK)
		return false;
	z.next_in = (Bytef *)(uintptr_t)in->p;
	z.avail_in = (uInt)in->len;
	z.next_out = out;
	z.avail_out = (uInt)size;
	ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
	(void)inflateEnd(&z);
	return ok;
}

static bool
unpack_section(
    struct elf_sect *s, const struct span *in, uint64_t size, bool zstd)
{
	/* a size that cannot be true must not cost its memory */
	if (size == 0 || size > UNPACKED_MAX || in->len == 0 ||
	    size / (zstd ? ZSTD_RATIO_MAX : RATIO_MAX) > in->len)
		return false;
	s->unpacked = malloc((size_t)size);
	if (s->unpacked == NULL)
		return false;
	s->out.p = s->unpacked;
	s->out.len = (size_t)size;
	if (zstd)
		return ZSTD_decompress(s->unpacked, (size_t)size, in->p,
		    in->len) == size;
	return inflate_to(in, s->unpacked, (size_t)size);
}

static bool
make_ready(struct elf_sect *s)
{
	struct cursor c = cur_at(&s->raw, 0);
	Elf64_Chdr ch;
	struct span in;
	uint64_t size = 0;
	unsigned int i;

	if (s->chdr) {
		if (!cur_has(&c, sizeof(ch)))
			return false;
		memcpy(&ch, c.p, sizeof(ch));
		cur_skip(&c, sizeof(ch));
		in = (struct span) { c.p, cur_left(&c) };
		if (ch.ch_type != ELFCOMPRESS_ZLIB &&
		    ch.ch_type != COMPRESS_ZSTD)
			return false;
		return unpack_section(s, &in, ch.ch_size,
		    ch.ch_type == COMPRESS_ZSTD);
	}
	if (!s->zdebug) {
		s->out = s->raw;
		return true;
	}
	if (!cur_has(&c, 12) || memcmp(c.p, "ZLIB", 4) != 0)
		return false;
	cur_skip(&c, 4);
	for (i = 0; i < 8; i++)
		size = size << 8 | cur_u8(&c);
	in = (struct span) { c.p, cur_left(&c) };
	return unpack_section(s, &in, size, false);
}

const struct span *
elf_section(struct elf_image *e, enum sect which)
{
	struct elf_sect *s = &e->sect[which];

	if (s->ready || s->raw.len == 0)
		return &s->out;
	s->ready = true;
	/* offsets into sections are kept in 32 bits */
	if (!make_ready(s) || s->out.len > UINT32_MAX) {
		free(s->unpacked);
		s->unpacked = NULL;
		s->out = (struct span) { NULL, 0 };
		s->broken = true;
	}
	return &s->out;
}

bool
elf_broken(const struct elf_image *e, enum sect which)
{
	return e->sect[which].broken;
}

bool
elf_is_text(const struct elf_image *e, uint64_t addr)
{
	size_t i;

	for (i = 0; i < e->ntext; i++)
		if (addr >= e->text[i].lo && addr < e->text[i].hi)
			return true;
	return false;
}
