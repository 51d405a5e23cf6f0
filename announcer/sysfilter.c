/* SPDX-License-Identifier: ISC */
/*
 * The announcer's system calls beside those of every role: only what a
 * connection to a local socket and its credentials take.
 */
#include <sys/socket.h>

#include <fcntl.h>

#include "sysfilter.h"

static const struct filter_rule rules[] = {
	ALLOW_ARG(socket, FILTER_INT(0, AF_UNIX)),
	ALLOW(connect), ALLOW(shutdown),
	ALLOW(getsockopt), ALLOW(setsockopt), ALLOW(getsockname),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
	/* EXTERNAL authentication states the uid; libdbus looks for setuid */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW(getresuid), ALLOW(getresgid),
};

const struct filter announcer_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
