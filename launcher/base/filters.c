/* SPDX-License-Identifier: ISC */
/* The filters of sessions. */
#include "confine/sessfilter.h"
#include "filters.h"
#include "wire/role.h"

struct filter_prog	filter_progs[FILTER_KINDS];

void
filters_compile(void)
{
	static const struct filter *const filters[FILTER_KINDS] = {
		[FILTER_SESSION] = &session_filter,
		[FILTER_SESSION_64BIT] = &session_64bit_filter,
		[FILTER_ONLY_64BIT] = &only_64bit_filter,
	};
	size_t i;

	if (settings.weakened & WEAKEN_SECCOMP)
		return;
	for (i = 0; i < FILTER_KINDS; i++)
		if (filter_compile(filters[i], &filter_progs[i].instr,
		    &filter_progs[i].n) == -1)
			role_cannot("compile the session's filter",
			    "this must always work: report it");
}
