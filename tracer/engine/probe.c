/* SPDX-License-Identifier: ISC */
/* Probes of a target, with those that the engine itself needs for them. */
#include <stdio.h>
#include <string.h>

#include "proc.h"

size_t
target_probe(struct target *t, const struct probe_spec *specs, size_t n,
    struct probe_result *results)
{
	size_t i;

	memset(results, 0, n * sizeof(*results));
	if (!t->alive || !t->injected) {
		for (i = 0; i < n; i++)
			(void)snprintf(results[i].why, TARGET_WHY,
			    "the process is gone");
		return (0);
	}
	hooks_find(t);
	frame_walkers_find(t, specs, n);
	return (probes_set(t, specs, n, results));
}
