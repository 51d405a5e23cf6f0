/* SPDX-License-Identifier: ISC */
/*
 * A tracer's system calls beside those of every role: ptrace and the memory of
 * what it traces, looking for programs, and files of its own for the timeline.
 * It starts nothing and connects to nothing.  A seccomp filter cannot tell
 * whom it traces; the kernel lets it trace only what its owner may.
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <signal.h>

#include "sysfilter.h"

#ifndef F_OFD_SETLK
#define F_OFD_GETLK	36
#define F_OFD_SETLK	37
#endif

static const struct filter_rule rules[] = {
	/* the engine */
	ALLOW(ptrace), ALLOW(wait4), ALLOW(sched_yield),
	ALLOW(process_vm_readv), ALLOW(signalfd4),
	ALLOW(set_robust_list), ALLOW(memfd_create),
	/* its own SIGCHLD, when there is more than is attended to at once */
	ALLOW_ARG(kill, FILTER_INT(1, SIGCHLD)),
	/* what a program was sent while a thread made a call in its name */
	ALLOW_ARG(tgkill, FILTER_INT(2, SIGSTOP)),
	ALLOW_ARG(tgkill, FILTER_INT(2, SIGTRAP)),
	/* programs, their files and memory, and the timeline's */
	ALLOW(openat), ALLOW(readlink), ALLOW(readlinkat),
	ALLOW(newfstatat),
	ALLOW(access), ALLOW(faccessat), ALLOW(faccessat2),
	ALLOW(getdents64), ALLOW(pread64), ALLOW(pwrite64),
	ALLOW(fadvise64),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_ADD_SEALS)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_OFD_SETLK)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_OFD_GETLK)),
	ALLOW(ftruncate), ALLOW(fallocate), ALLOW(fsync), ALLOW(fdatasync),
	ALLOW(mkdirat), ALLOW(unlinkat),
	/* stdio asks what it writes to; SQLite who it is */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW(sysinfo), ALLOW(uname),
};

const struct filter tracer_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
