/* SPDX-License-Identifier: ISC */
/*
 * Addresses of a few names that the engine itself has to know, such as the
 * unwinder's entries, in whatever the process has loaded.  Names for users
 * come from `symbols`.  All data read here is the target's, and is checked.
 */
#ifndef DL_TRACER_OBJSYM_H
#define DL_TRACER_OBJSYM_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

/* Called for each function whose name is wanted. */
typedef void	(*objsym_fn)(const char *name, uint64_t addr, uint64_t size,
		    void *arg);
typedef bool	(*objsym_want)(const char *name);

/* The dynamic symbols of the object whose first byte is mapped there. */
void	 objsym_dynamic(const struct target *, uint64_t base, objsym_want,
	    objsym_fn, void *arg);

/* Where the segment of that type (PT_*) of such an object is. */
bool objsym_segment(const struct target *, uint64_t base, uint32_t type,
    uint64_t *addr, uint64_t *size);

struct exe_facts {
	bool	 elf64;
	bool	 go;
	bool	 is_static;	/* no interpreter */
	bool	 symtab;	/* has one */
	uint64_t entry;		/* unrelocated */
	uint64_t first;		/* where its first byte belongs */
};

/*
 * The symbol table of the program's file, and facts about it.  base: where
 * its first byte is mapped.  False: it cannot be read or is no ELF file.
 */
bool	 objsym_exe(pid_t, uint64_t base, struct exe_facts *, objsym_want,
	    objsym_fn, void *arg);

#endif
