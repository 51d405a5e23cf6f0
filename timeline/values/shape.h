/* SPDX-License-Identifier: ISC */
/*
 * Captures of a function, and how they are shown: kept in the timeline as they
 * came from `symbols`, so that a later reader of the timeline shows the same
 * values without the binary.  Shapes in a file are as hostile as what `symbols`
 * says.
 */
#ifndef TIMELINE_SHAPE_H
#define TIMELINE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

struct store;
struct store_inverse;
struct store_value;
struct shapes;

/* A function's capture programs and description; borrowed, unaligned. */
struct sym_typed {
	uint32_t	 die;
	const void	*enter, *leave;		/* struct capture[] */
	size_t		 nenter, nleave;	/* at most CAPTURE_MAX */
	const void	*desc;
	size_t		 desc_len;		/* 0 = nothing is known */
};

/*
 * The bytes for store_function.shape, the caller's to free; NULL when
 * nothing is known of the function, or memory is short.
 */
void	*shape_pack(const struct sym_typed *, size_t *len);

/* Borrows the store.  NULL = no memory. */
struct shapes *shapes_new(struct store *);
void	 shapes_free(struct shapes *);
/* As in struct store_render; the first argument is a struct shapes. */
size_t	 shapes_arguments(void *, uint32_t fn, const void *captures,
	    size_t len, char *buf, size_t size);
size_t	 shapes_result(void *, uint32_t fn, const void *captures,
	    size_t len, char *buf, size_t size);
/* For store_set_inverse(). */
void	 shapes_inverse(void *, uint32_t fn, const struct store_value *,
	    struct store_inverse *);

#endif
