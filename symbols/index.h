/* SPDX-License-Identifier: ISC */
/*
 * The index of one binary's functions: a file that can be mapped anywhere.
 * It is made by a process that has read hostile bytes and is as hostile:
 * its readers check every offset (tracer/syms/symindex.h).
 *
 *	struct sym_header
 *	struct sym_func[nfuncs]		by address; those without one first
 *	strings				NUL-terminated; offset 0 is empty
 */
#ifndef SYMBOLS_INDEX_H
#define SYMBOLS_INDEX_H

#include <stdint.h>

#define SYM_MAGIC	0x31584d59534c44ULL	/* "DLSYMX1" */
#define SYM_BUILD_ID	64

/* sym_header.flags: what is to be said of the whole binary */
enum {
	SYM_HAS_DWARF	= 1 << 0,
	SYM_SPLIT	= 1 << 1,	/* in .dwo files, which are not read */
	SYM_ELSEWHERE	= 1 << 2,	/* partly in a dwz file, not read */
	SYM_DAMAGED	= 1 << 3,	/* some of it could not be read */
	SYM_FOREIGN	= 1 << 4,	/* some of it is of an unknown version */
	SYM_FULL	= 1 << 5,	/* there are more than SYM_FUNCS_MAX */
	SYM_HAS_SYMTAB	= 1 << 6,
	SYM_PIE		= 1 << 7,	/* addresses are relative */
	SYM_LINKED	= 1 << 8	/* names a file with its DWARF */
};

/* sym_func.flags; the language is in its upper bits */
enum {
	SYM_INLINED	= 1 << 0,	/* into all its callers: no address */
	SYM_NO_DWARF	= 1 << 1,	/* known by the symbol table alone */
	SYM_COLD	= 1 << 2,	/* the unlikely part of another */
	SYM_PARTS	= 1 << 3,	/* in several; size is its first one's */
	SYM_CLONE	= 1 << 4,	/* its arguments may differ (.constprop) */
	SYM_VARIADIC	= 1 << 5,
	SYM_EXTERNAL	= 1 << 6,
	SYM_RESOLVER	= 1 << 7	/* of an ifunc: its value is an address */
};

enum sym_lang {
	SYM_LANG_OTHER,
	SYM_LANG_C,
	SYM_LANG_CXX,
	SYM_LANG_RUST,
	SYM_LANG_GO
};
#define SYM_LANG_SHIFT	12
#define SYM_LANG(flags)	((enum sym_lang)((flags) >> SYM_LANG_SHIFT))

/* Functions of one binary; tests set a lower limit. */
#ifndef SYM_FUNCS_MAX
#define SYM_FUNCS_MAX	4000000U
#endif
/* Length of a name or path, without its NUL; longer ones are cut. */
#define SYM_NAME_MAX	4095U

struct sym_header {
	uint64_t	magic;
	uint64_t	size;		/* of the whole file */
	uint64_t	load_addr;	/* of the first PT_LOAD, unrelocated */
	uint32_t	flags;
	uint32_t	nfuncs;
	uint32_t	strs_off, strs_len;
	uint32_t	build_id_len;
	uint8_t		build_id[SYM_BUILD_ID];
	uint32_t	reserved;
};

struct sym_func {
	uint64_t	addr;		/* unrelocated; 0 = it has none */
	uint64_t	size;		/* 0 = not known */
	uint32_t	name, raw;	/* demangled; as in the binary */
	uint32_t	file, line;	/* 0 = not known; an absolute path */
	uint32_t	die;		/* for its types; 0 = none */
	uint16_t	nparams;
	uint16_t	flags;
};

#endif
