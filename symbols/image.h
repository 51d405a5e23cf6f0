/* SPDX-License-Identifier: ISC */
/* ELF file: finds the sections, and unpacks each when it is first used. */
#ifndef SYMBOLS_IMAGE_H
#define SYMBOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"

enum sect {
	SECT_INFO,
	SECT_TYPES,
	SECT_ABBREV,
	SECT_STR,
	SECT_LINE,
	SECT_LINE_STR,
	SECT_STR_OFFSETS,
	SECT_ADDR,
	SECT_RANGES,
	SECT_RNGLISTS,
	SECT_LOC,
	SECT_LOCLISTS,
	SECT_ALTLINK,
	SECT_DEBUGLINK,
	SECT_SYMTAB,
	SECT_STRTAB,
	SECT_DYNSYM,
	SECT_DYNSTR,
	SECT_COUNT
};

#define ELF_BUILD_ID_MAX	64
#define ELF_TEXTS		16

struct elf_sect {
	struct span	 raw;		/* as in the file */
	struct span	 out;
	uint8_t		*unpacked;	/* owned; NULL = out lies in the file */
	bool		 chdr;		/* begins with an Elf64_Chdr */
	bool		 zdebug;	/* begins with "ZLIB" and its size */
	bool		 ready, broken;
};

struct elf_image {
	const uint8_t	*map;		/* borrowed */
	size_t		 size;
	struct elf_sect	 sect[SECT_COUNT];
	uint8_t		 build_id[ELF_BUILD_ID_MAX];
	size_t		 build_id_len;
	struct {
		uint64_t lo, hi;
	} text[ELF_TEXTS];		/* what is executable, unrelocated */
	size_t		 ntext;
	uint64_t	 load_addr;	/* of the first PT_LOAD */
	bool		 pie;
};

/*
 * Looks at len bytes at map, which must stay.  -1 and a sentence in why when
 * this is no ELF for this machine.
 */
int	 elf_open(struct elf_image *, const void *map, size_t len, char *why,
	    size_t size);
void	 elf_close(struct elf_image *);
/* The section's bytes, unpacked; empty when it has none or is damaged. */
const struct span *elf_section(struct elf_image *, enum sect);
/* True if the section exists and cannot be read. */
bool	 elf_broken(const struct elf_image *, enum sect);
/* Whether code may be there. */
bool	 elf_is_text(const struct elf_image *, uint64_t addr);

#endif
