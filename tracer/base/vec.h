/* SPDX-License-Identifier: ISC */
/* Arguments and environments: strings, then NULL. */
#ifndef TRACER_VEC_H
#define TRACER_VEC_H

#include <stddef.h>

struct vec {
	char	**v;		/* owned, with its strings; NULL = empty */
	size_t	 n, cap, bytes;	/* bytes: with their NULs */
};

/* Running out of memory is fatal: what is started must be what was asked. */
void	vec_add(struct vec *, const char *);
/* NAME=VALUE */
void	vec_pair(struct vec *, const char *name, const char *value);
void	vec_free(struct vec *);

#endif
