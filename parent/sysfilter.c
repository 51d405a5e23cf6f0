/* SPDX-License-Identifier: ISC */
/*
 * The parent's own filter.  Children started from now on inherit it, so it
 * admits what any of them needs before its own, narrower one.  In system mode
 * the filter puts ids other than the service users', and new user namespaces,
 * out of reach.  Launchers do not have the filter: the parent starts none once
 * it is in force.
 */
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#include "sysfilter.h"

static const struct filter_rule common_rules[] = {
	/* programs and their libraries */
	ALLOW_ARG(execveat, FILTER_INT(4, AT_EMPTY_PATH)),
	ALLOW(arch_prctl), ALLOW(set_tid_address),
	ALLOW(set_robust_list), ALLOW(prlimit64), ALLOW(mmap),
	ALLOW(mprotect), ALLOW(pread64), ALLOW(openat), ALLOW(access),
	ALLOW(faccessat), ALLOW(faccessat2), ALLOW(newfstatat), ALLOW(statx),
	ALLOW(readlink), ALLOW(readlinkat), ALLOW(getdents64), ALLOW(getcwd),
	ALLOW(uname), ALLOW(sysinfo), ALLOW(statfs), ALLOW(fstatfs),
	ALLOW(sched_getaffinity), ALLOW(sched_yield), ALLOW(fadvise64),
	ALLOW(membarrier), ALLOW(tgkill), ALLOW(sigaltstack),
	ALLOW(getrlimit), ALLOW(setrlimit), ALLOW(umask), ALLOW(clock_getres),
	/* ids are read by everybody */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW(getresuid), ALLOW(getresgid), ALLOW(getgroups),
	/* supervision */
	ALLOW(wait4), ALLOW(pidfd_open), ALLOW(pidfd_send_signal),
	ALLOW(rmdir), ALLOW(unlink), ALLOW(unlinkat), ALLOW(dup),
	/* a key that is made after a reload */
	ALLOW(fsync), ALLOW(renameat), ALLOW(renameat2),
	ALLOW(dup2), ALLOW(dup3), ALLOW(fcntl), ALLOW(ioctl), ALLOW(pipe2),
	/* sockets: listeners after a reload, syslog, and the roles' own */
	ALLOW(socket), ALLOW(socketpair), ALLOW(bind), ALLOW(listen),
	ALLOW(accept4), ALLOW(connect), ALLOW(setsockopt), ALLOW(getsockopt),
	ALLOW(getsockname), ALLOW(getpeername), ALLOW(shutdown),
	ALLOW(sendfile), ALLOW(sendmmsg), ALLOW(splice), ALLOW(flock),
	/* what roles do before and after they confine themselves */
	ALLOW(epoll_create1), ALLOW(eventfd2), ALLOW(memfd_create),
	ALLOW(ftruncate), ALLOW(fchmod), ALLOW(pwrite64), ALLOW(preadv),
	ALLOW(fdatasync),
	ALLOW(pwritev), ALLOW(prctl), ALLOW(capget), ALLOW(capset),
	ALLOW(seccomp), ALLOW(chroot), ALLOW(chdir), ALLOW(signalfd4),
	ALLOW(landlock_create_ruleset), ALLOW(landlock_restrict_self),
	ALLOW(landlock_add_rule), ALLOW(timerfd_create),
	ALLOW(timerfd_settime), ALLOW(msync), ALLOW(mincore),
	/* the bound of the time in which a filter is compiled */
	ALLOW_ARG(setitimer, FILTER_INT(0, ITIMER_VIRTUAL)),
};

/* Processes, but never with a user namespace. */
static const struct filter_rule system_rules[] = {
	ALLOW_ARG(clone, FILTER_CLEAR(0, CLONE_NEWUSER)),
	ALLOW_ARG(setgroups, FILTER_EQ(0, 0)),
};

/* In user mode the roles make their own empty roots. */
static const struct filter_rule user_rules[] = {
	ALLOW(clone), ALLOW(unshare), ALLOW(mount), ALLOW(umount2),
	ALLOW(pivot_root),
};

#define ID_ROLES	ROLE_COUNT
#define MAX_RULES	(sizeof(common_rules) / sizeof(common_rules[0]) + \
			 8 + 2 * ID_ROLES)

static struct filter_rule all[MAX_RULES];
static size_t nall;

static void
append(const struct filter_rule *rules, size_t n)
{
	memcpy(all + nall, rules, n * sizeof(*rules));
	nall += n;
}

/*
 * All three ids the same, all 64 bits of the registers compared: the kernel
 * takes the lower half only, so 2^32 + 0 would be root.
 */
static void
append_id(int nr, uint32_t id)
{
	all[nall++] = (struct filter_rule){ .nr = nr, .nargs = 3, .args = {
	    FILTER_EQ(0, id), FILTER_EQ(1, id), FILTER_EQ(2, id) } };
}

const struct filter *
parent_filter_make(enum mode mode, const struct identity *ids)
{
	static struct filter f = {
		/* clone3 must look missing, so that libc uses clone */
		.otherwise = SCMP_ACT_ERRNO(ENOSYS),
		.matched = SCMP_ACT_ALLOW,
		.rules = all,
		.with_base = true,
	};
	size_t i;

	nall = 0;
	append(common_rules, sizeof(common_rules) / sizeof(common_rules[0]));
	if (mode == MODE_USER)
		append(user_rules, sizeof(user_rules) /
		    sizeof(user_rules[0]));
	else {
		append(system_rules, sizeof(system_rules) /
		    sizeof(system_rules[0]));
		for (i = ROLE_PARENT + 1; i < ROLE_COUNT; i++) {
			/* acctgate's, which has them already */
			if (i == ROLE_ACCTPROC)
				continue;
			append_id(SCMP_SYS(setresuid), ids[i].uid);
			append_id(SCMP_SYS(setresgid), ids[i].gid);
		}
	}
	f.nrules = nall;
	return &f;
}
