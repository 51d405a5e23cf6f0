/* SPDX-License-Identifier: ISC */
/*
 * The logger needs no system call beside those of every role: it opens no file
 * and makes no socket, as the parent connects it to the host's log.
 */
#include <errno.h>

#include "sysfilter.h"

static const struct filter_rule rules[] = {
	/* the audit file's earlier lines are not to be written over */
	{ .nr = SCMP_SYS(lseek), .action = SCMP_ACT_ERRNO(EPERM) },
};

const struct filter logger_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
