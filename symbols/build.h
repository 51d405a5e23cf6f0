/* SPDX-License-Identifier: ISC */
/* From an ELF file to its index. */
#ifndef SYMBOLS_BUILD_H
#define SYMBOLS_BUILD_H

#include "scan.h"
#include "unit.h"

/* All functions of e, by address; free with found_free(). */
void	 build_index(struct elf_image *e, struct dwarf *d, struct found *);
void	 found_free(struct found *);
/* Writes the file; -1 with errno.  fd is borrowed. */
int	 build_write(const struct elf_image *, const struct found *, int fd);

#endif
