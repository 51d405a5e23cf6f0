/* SPDX-License-Identifier: ISC */
/*
 * The observer's system calls beside those of every role: files for reading, and
 * the number of a process turned into a pidfd.
 */
#include <sys/prctl.h>

#include <fcntl.h>
#include <linux/landlock.h>

#include "sysfilter.h"

static const struct filter_rule rules[] = {
	/* /proc, cgroups, and whether debuggers are installed */
	ALLOW_ARG(openat, FILTER_CLEAR(2, O_ACCMODE | O_CREAT | O_TRUNC)),
	ALLOW(getdents64), ALLOW(access), ALLOW(faccessat),
	/* before it is looked at whose it is, so that it stays the same */
	ALLOW(pidfd_open),
	/* DEPS: the processor, filters, Landlock */
	ALLOW(uname),
	ALLOW_ARG(prctl, FILTER_INT(0, PR_GET_SECCOMP)),
	ALLOW_ARG(landlock_create_ruleset, FILTER_EQ(0, 0), FILTER_EQ(1, 0),
	    FILTER_INT(2, LANDLOCK_CREATE_RULESET_VERSION)),
};

const struct filter observer_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
