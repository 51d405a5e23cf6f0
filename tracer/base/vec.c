/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "vec.h"

static void
take(struct vec *v, char *s)
{
	if (s == NULL)
		fatal("arguments");
	if (v->n + 1 >= v->cap) {
		v->cap = v->cap == 0 ? 32 : 2 * v->cap;
		v->v = reallocarray(v->v, v->cap, sizeof(*v->v));
		if (v->v == NULL)
			fatal("arguments");
	}
	v->v[v->n++] = s;
	v->v[v->n] = NULL;
	v->bytes += strlen(s) + 1;
}

void
vec_add(struct vec *v, const char *s)
{
	take(v, strdup(s));
}

void
vec_pair(struct vec *v, const char *name, const char *value)
{
	char *s;

	take(v, asprintf(&s, "%s=%s", name, value) == -1 ? NULL : s);
}

void
vec_free(struct vec *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		free(v->v[i]);
	free(v->v);
	memset(v, 0, sizeof(*v));
}
