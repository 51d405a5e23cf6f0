/* SPDX-License-Identifier: ISC */
/*
 * The archiver's system calls, one table for each job.  It is no role with a
 * channel, so it has not what all of these have in common.
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <unistd.h>

#include "sysfilter.h"

/* No clone, no exec, no signal, no open but openat2: threads cannot start. */
#define MEMORY_AND_EXIT							\
	ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),	\
	ALLOW_ARG(mmap, FILTER_CLEAR(2, PROT_EXEC)),			\
	ALLOW_ARG(mprotect, FILTER_CLEAR(2, PROT_EXEC)),		\
	ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(gettimeofday),	\
	ALLOW(time), ALLOW(restart_syscall), ALLOW(exit_group)

#define REPORT	ALLOW_ARG(write, FILTER_INT(0, STDOUT_FILENO))

static const struct filter_rule unpack_rules[] = {
	MEMORY_AND_EXIT, REPORT,
	ALLOW(pread64), ALLOW(pwrite64), ALLOW(openat2), ALLOW(close),
	ALLOW(fstat), ALLOW(newfstatat), ALLOW(mkdirat), ALLOW(symlinkat),
	ALLOW(linkat), ALLOW(unlinkat), ALLOW(fchmod), ALLOW(ftruncate),
	ALLOW(utimensat),
};

static const struct filter_rule pack_rules[] = {
	MEMORY_AND_EXIT, REPORT,
	ALLOW(pread64), ALLOW(openat2), ALLOW(close), ALLOW(fstat),
	ALLOW(newfstatat), ALLOW(getdents64),
	ALLOW_ARG(pwrite64, FILTER_INT(0, STDIN_FILENO)),
	/* fdopendir() asks whether it may read, and sets close-on-exec */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_GETFL)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_SETFD)),
};

const struct filter unpack_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = unpack_rules,
	.nrules = sizeof(unpack_rules) / sizeof(unpack_rules[0]),
};

const struct filter pack_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = pack_rules,
	.nrules = sizeof(pack_rules) / sizeof(pack_rules[0]),
};
