/* SPDX-License-Identifier: ISC */
/* Memory, or the end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mem.h"

void *
mem_zero(size_t n, size_t size)
{
	void *p = calloc(n == 0 ? 1 : n, size);

	if (p == NULL)
		fatalx("this binary needs more memory than there is");
	return p;
}

void
mem_room(void *pp, size_t *cap, size_t n, size_t size)
{
	size_t want;
	void *old, *new;

	if (n < *cap)
		return;
	want = *cap == 0 ? 64 : *cap * 2;
	memcpy(&old, pp, sizeof(old));
	new = want > SIZE_MAX / size ? NULL : realloc(old, want * size);
	if (new == NULL)
		fatalx("this binary needs more memory than there is");
	memcpy(pp, &new, sizeof(new));
	*cap = want;
}
