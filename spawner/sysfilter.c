/* SPDX-License-Identifier: ISC */
/*
 * The spawner's system calls beside those of every role: memory files,
 * copies of fds, and writing one file.  Nothing here takes a path, makes a
 * process or a socket.
 */
#include <sys/ioctl.h>

#include <fcntl.h>

#include "spawner/keys/state.h"
#include "sysfilter.h"

static const struct filter_rule rules[] = {
	/* images, archives and rings */
	ALLOW(memfd_create), ALLOW(ftruncate), ALLOW(fchmod), ALLOW(pread64),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_ADD_SEALS)),
	/* how much room a bundle takes */
	ALLOW(fstatfs),
	/* what is handed out is a copy */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
	/* how much a dead program has left in its pipe, or may have */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_GETPIPE_SZ)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_SETPIPE_SZ)),
	ALLOW_ARG(ioctl, FILTER_INT(1, FIONREAD)),
	/* the size of a terminal */
	ALLOW_ARG(ioctl, FILTER_INT(1, TIOCSWINSZ)),
	/* the tokens' file, which is read before */
	ALLOW_ARG(pwrite64, FILTER_INT(0, TOKENS_FD)),
	ALLOW_ARG(fdatasync, FILTER_INT(0, TOKENS_FD)),
	/* libuuid mixes it into its randomness */
	ALLOW(getuid),
};

const struct filter spawner_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
