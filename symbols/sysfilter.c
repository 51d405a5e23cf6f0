/* SPDX-License-Identifier: ISC */
/*
 * Beside memory and its channel it needs a file in memory for what it found.
 * It opens nothing, and the one file that it was given it maps.
 */
#include <fcntl.h>

#include "sysfilter.h"

static const struct filter_rule rules[] = {
	ALLOW(memfd_create),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_ADD_SEALS)),
	/* qsort(3) asks how much memory there is */
	ALLOW(sysinfo),
};

const struct filter symbols_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
