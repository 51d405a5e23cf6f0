/* SPDX-License-Identifier: ISC */
/*
 * Sections of an ELF file of 64 bits (gABI, chapter 4), which may be damaged or
 * made to harm: offsets and lengths are compared with the file's size.
 */
#ifndef DL_ELFFILE_H
#define DL_ELFFILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_sections {
	Elf64_Shdr	*headers;	/* owned */
	size_t		 n;
	char		*names;		/* owned, NUL-terminated; NULL = none */
	uint64_t	 names_len;
};

/*
 * len bytes of a file, for the caller to free.  NULL: the file ends before, len
 * is 0 or more than most, or there is no memory.
 */
void	*elf_load(int fd, uint64_t offset, uint64_t len, uint64_t most);
/*
 * Reads the headers and names (fd borrowed, its offset is left alone); to be
 * freed by elf_sections_free() if true.  False: no ELF file of 64 bits, without
 * sections, or more than 4096 of them.
 */
bool	 elf_sections_read(int fd, struct elf_sections *);
void	 elf_sections_free(struct elf_sections *);
/* Borrowed; "" if the section has none. */
const char *elf_section_name(const struct elf_sections *, size_t);
/* Go's linker leaves sections of its own, which survive strip(1). */
bool	 elf_is_go(const struct elf_sections *);

#endif
