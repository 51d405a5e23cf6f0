/* SPDX-License-Identifier: ISC */
/*
 * Captured bytes as JSON values, by a description (symbols/desc.h).  Neither
 * is trusted: the description comes from a reader of hostile binaries, the
 * bytes from the traced program.  A value that cannot be shown becomes a string
 * that says so.
 */
#ifndef TIMELINE_RENDER_H
#define TIMELINE_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/desc.h"
#include "wire/capture.h"

/* A checked description, with a copy of its own of the bytes. */
struct desc {
	void			*bytes;		/* owned */
	const struct desc_header *head;
	const struct desc_value	*values;
	const struct desc_part	*parts;
	const struct desc_node	*nodes;
	const struct desc_enum	*enums;
	const char		*strs;
};

/* Text in the making.  Zeroed memory is an empty one; free(3) its buf. */
struct render_out {
	char	*buf;		/* not NUL-terminated */
	size_t	 len, cap;
	bool	 bad;		/* memory was short, or it became too long */
};

/* Longest rendering, in bytes. */
#define RENDER_MAX	(128U * 1024)

/* -1 when it is damaged, or memory is short. */
int	 desc_open(struct desc *, const void *, size_t len);
void	 desc_close(struct desc *);
/* "int", "String", "null". */
const char *desc_return_type(const struct desc *);

/*
 * The values of all arguments, as a JSON array, and that of the result.
 * steps are those that captured the len bytes at p.
 */
void	 render_args(const struct desc *, const struct capture *steps,
	    size_t nsteps, const void *p, size_t len, struct render_out *);
void	 render_result(const struct desc *, const struct capture *steps,
	    size_t nsteps, const void *p, size_t len, struct render_out *);
/*
 * A JSON string of any bytes: UTF-8 as it is, what is not as \xHH.  A
 * character that the end cuts in two is left out when cut is true.
 */
void	 render_string(struct render_out *, const char *, size_t len, bool cut);

#endif
