/* SPDX-License-Identifier: ISC */
/*
 * A debugger's system calls beside those of every role: looking for adapters
 * and reading sources, as its owner may.  It starts nothing, connects to
 * nothing and changes no file: what it says to the adapter goes through pipes
 * that it was given.
 */
#include <fcntl.h>

#include "sysfilter.h"

#define CHANGES	(O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

static const struct filter_rule rules[] = {
	ALLOW_ARG(openat, FILTER_CLEAR(2, CHANGES)),
	ALLOW_ARG(open, FILTER_CLEAR(1, CHANGES)),
	ALLOW(newfstatat), ALLOW(stat), ALLOW(lstat), ALLOW(statx),
	ALLOW(access), ALLOW(faccessat), ALLOW(faccessat2),
	ALLOW(readlink), ALLOW(readlinkat), ALLOW(getdents64),
	ALLOW(pread64), ALLOW(fadvise64),
	/* stdio asks what it writes to */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
	ALLOW(sysinfo), ALLOW(uname),
};

const struct filter debugger_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
