/* SPDX-License-Identifier: ISC */
/*
 * The functions that have been traced, by the number under which the engine
 * and the timeline know them: from 0 on, never used again.
 */
#ifndef TRACER_FN_H
#define TRACER_FN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary.h"
#include "timeline/values/render.h"
#include "wire/capture.h"

struct store;
struct store_inverse;
struct store_render;
struct store_value;

enum fn_state {
	FN_BARE,	/* nobody has asked what it takes */
	FN_ASKED,
	FN_TYPED,	/* has its description */
	FN_UNTYPED	/* there is none */
};

struct fn {
	struct binary	*binary;	/* NULL: of a predecessor's */
	uint32_t	 i;		/* in the index; FN_ADDRESS: in none */
	uint64_t	 addr, size;	/* unrelocated */
	char		*name;		/* FN_ADDRESS; owned */
	enum fn_state	 state;
	bool		 raw;		/* registers as they are */
	bool		 entry_only;	/* returns must not be looked at */
	bool		 stored;	/* the timeline has its name */
	uint64_t	 skipped;	/* calls of processes that have ended */
	struct capture	*enter, *leave;	/* with CAP_END; owned, NULL = none */
	size_t		 nenter, nleave;
	struct desc	 desc;		/* FN_TYPED */
	void		*shape;		/* for the timeline; owned, or NULL */
	size_t		 shape_len;
};
#define FN_ADDRESS	UINT32_MAX
#define FN_NONE		UINT32_MAX

/* NULL for a number that has not been given. */
struct fn *fn_get(uint32_t);
uint32_t fn_count(void);
/* Numbers below that are a predecessor's, in that store (borrowed). */
void	 fn_begin(struct store *, uint32_t first);
/* The number of a binary's function; FN_NONE: there are too many. */
uint32_t fn_of(struct binary *, uint32_t i);
/* The same of an address in it that no index knows. */
uint32_t fn_at(struct binary *, uint64_t addr, const char *name);
/* Register words are all that is captured of it. */
void	 fn_make_raw(struct fn *);
const char *fn_name(const struct fn *);
/* As the binary has it, without demangling; "" where there is none. */
const char *fn_symbol(const struct fn *);

struct sym_typed;
/* Takes the answer to binary_type(); NULL = nothing is known. */
void	 fn_typed(uint32_t, const struct sym_typed *);
/* The timeline gets its name. */
void	 fn_store(struct store *, uint32_t);
/* For store_set_render(). */
extern const struct store_render fn_render;
/* For store_set_inverse(); the argument is not used. */
void	 fn_inverse(void *, uint32_t, const struct store_value *,
	    struct store_inverse *);

#endif
