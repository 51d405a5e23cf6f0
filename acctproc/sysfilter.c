/* SPDX-License-Identifier: ISC */
/* acctproc's system calls beside those of every role: a file to be read. */
#include <fcntl.h>

#include "sysfilter.h"

static const struct filter_rule rules[] = {
	/* another one each time: no socket, so that nothing gets out by one */
	ALLOW_ARG(openat, FILTER_CLEAR(2, O_ACCMODE | O_CREAT | O_TRUNC)),
};

const struct filter acctproc_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
