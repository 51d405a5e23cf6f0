/* SPDX-License-Identifier: ISC */
/* Functions by the symbol table: all that a stripped binary tells. */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include "scan.h"

/* Adds those whose address no function found so far has. */
void	 symtab_functions(struct elf_image *, struct found *);

#endif
