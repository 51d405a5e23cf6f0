/* SPDX-License-Identifier: ISC */
/*
 * idproc's system calls beside those of every role: files for reading, local
 * sockets, and who is at their other ends.
 */
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>

#include "sysfilter.h"

/*
 * NSS modules are other people's code, and each host has its own: what they
 * ask for beyond this table is answered "no such call", so that one of them
 * may fail without anybody being shut out.  They were loaded before, and
 * mappings stay without PROT_EXEC: no module can come in later.
 */
static const struct filter_rule rules[] = {
	/* files: /etc, /run/systemd/userdb, caches; /proc and cgroups */
	ALLOW_ARG(openat, FILTER_CLEAR(2, O_ACCMODE | O_CREAT | O_TRUNC)),
	ALLOW(newfstatat), ALLOW(statx), ALLOW(getdents64),
	ALLOW(readlinkat), ALLOW(pread64), ALLOW(fstatfs), ALLOW(statfs),
	ALLOW(access), ALLOW(faccessat), ALLOW(faccessat2),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
	/* the sockets of nscd, sssd, nslcd, winbindd, systemd-userdbd */
	ALLOW_ARG(socket, FILTER_INT(0, AF_UNIX)),
	ALLOW(connect), ALLOW(shutdown), ALLOW(setsockopt),
	ALLOW(epoll_create1), ALLOW(timerfd_create), ALLOW(timerfd_settime),
	/* they tell their service who asks */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW(getresuid), ALLOW(getresgid), ALLOW(uname), ALLOW(umask),
	/* the two ends of a connection, and what kind of socket it is */
	ALLOW(getsockname), ALLOW(getpeername), ALLOW(getsockopt),
};

const struct filter idproc_filter = {
	.otherwise = SCMP_ACT_ERRNO(ENOSYS),
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
