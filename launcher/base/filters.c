/* SPDX-License-Identifier: ISC */
/* The filters of sessions. */
#include "filters.h"
#include "wire/role.h"

struct filter_prog	filter_progs[FILTER_KINDS];

void
filters_compile(void)
{
	size_t i;

	if (settings.weakened & WEAKEN_SECCOMP)
		return;
	for (i = 0; i < FILTER_KINDS; i++)
		if (filter_compile(session_filters[i], &filter_progs[i].instr,
		    &filter_progs[i].n) == -1)
			role_cannot("compile the session's filter",
			    "this must always work: report it");
}
