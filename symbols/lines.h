/* SPDX-License-Identifier: ISC */
/* The names of source files, from the headers of line tables alone. */
#ifndef SYMBOLS_LINES_H
#define SYMBOLS_LINES_H

#include "strs.h"
#include "unit.h"

struct line_dir {
	const char	*p;
	size_t		 len;
};

struct line_file {
	const char	*p;
	size_t		 len;
	uint64_t	 dir;
	uint32_t	 path;		/* in the index; 0 = not yet asked for */
};

struct line_table {
	uint64_t	 off;
	unsigned int	 version;
	struct line_dir	*dirs;
	struct line_file *files;
	size_t		 ndirs, nfiles, dcap, fcap;
};

struct lines {
	struct line_table *tables;
	size_t		 n, cap;
	size_t		 bytes;		/* of headers that were read */
};

/* The path of a unit's file by its number, in strs; 0 = not known. */
uint32_t lines_path(struct lines *, struct dwarf *, struct unit *,
	    uint64_t file, struct strs *);
/* The units outlive it, and may be scanned again. */
void	 lines_free(struct lines *, struct dwarf *);
/*
 * Joins and tidies: no "//", "." or ".." is left.  out has at least
 * SYM_NAME_MAX + 1 bytes.  Returns its length; what is too long is cut.
 */
size_t	 lines_join(char *out, const struct line_dir *parts, size_t n);

#endif
