/* SPDX-License-Identifier: ISC */
/* The deny list of sessions. */
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#include "sessfilter.h"

#define DENY(name)		ALLOW(name)
#define DENY_ARG(name, ...)	ALLOW_ARG(name, __VA_ARGS__)
/* any call with that bit in argument n */
#define FILTER_SET(n, bit)						\
	{ .arg = (n), .op = SCMP_CMP_MASKED_EQ,				\
	  .datum_a = (uint64_t)(bit), .datum_b = (uint64_t)(bit) }
/* numbers that the base system's headers keep from each other */
#define IOCTL_TIOCLINUX		0x541c
#define FLAG_NEWTIME		0x80
#define SOCKETCALL_SOCKET	1

#define NAMESPACE_FLAGS(call)						\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWNS)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWCGROUP)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWUTS)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWIPC)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWUSER)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWPID)),			\
	DENY_ARG(call, FILTER_SET(0, CLONE_NEWNET))

/*
 * System calls that the launcher makes sandboxes with.  The flags of clone3 lie
 * in memory, so no filter can look at them: clone3 fails with ENOSYS, and libc
 * falls back to clone.
 */
#define SANDBOX_RULES							\
	{ .nr = SCMP_SYS(clone3), .action = SCMP_ACT_ERRNO(ENOSYS) },	\
	NAMESPACE_FLAGS(clone), NAMESPACE_FLAGS(unshare),		\
	DENY_ARG(unshare, FILTER_SET(0, FLAG_NEWTIME)),			\
	DENY(setns), DENY(mount), DENY(umount2), DENY(umount),		\
	DENY(pivot_root),	\
	DENY(chroot), DENY(open_tree), DENY(move_mount), DENY(fsopen),	\
	DENY(fsconfig), DENY(fsmount), DENY(fspick),			\
	DENY(mount_setattr), DENY(sethostname), DENY(setdomainname)

/*
 * System calls that tests do not need and that have a large or legacy attack
 * surface.
 */
#define HOST_RULES							\
	DENY(io_uring_setup), DENY(io_uring_enter),			\
	DENY(io_uring_register), DENY(userfaultfd), DENY(bpf),		\
	DENY(perf_event_open), DENY(keyctl), DENY(add_key),		\
	DENY(request_key), DENY(pidfd_getfd), DENY(open_by_handle_at),	\
	DENY(fanotify_init), DENY(kexec_load), DENY(kexec_file_load),	\
	DENY(reboot), DENY(init_module), DENY(finit_module),		\
	DENY(delete_module), DENY(swapon), DENY(swapoff), DENY(acct),	\
	DENY(quotactl), DENY(quotactl_fd), DENY(syslog),		\
	DENY(vhangup), DENY(uselib), DENY(lookup_dcookie),		\
	DENY(nfsservctl), DENY(_sysctl), DENY(iopl), DENY(ioperm),	\
	DENY(settimeofday), DENY(clock_settime),			\
	DENY(clock_settime64), DENY(stime),				\
	/* serves 16-bit code alone, and had many faults */		\
	DENY(modify_ldt), DENY(vm86), DENY(vm86old),			\
	/* no network namespace holds them: to the hypervisor, the kernel */ \
	DENY_ARG(socket, FILTER_INT(0, AF_VSOCK)),			\
	DENY_ARG(socket, FILTER_INT(0, AF_ALG)),			\
	/* hides the family: 32-bit programs make no socket by it */	\
	DENY_ARG(socketcall, FILTER_EQ(0, SOCKETCALL_SOCKET)),		\
	/* bytes typed into a terminal that others read from */		\
	DENY_ARG(ioctl, FILTER_INT(1, TIOCSTI)),			\
	DENY_ARG(ioctl, FILTER_INT(1, IOCTL_TIOCLINUX))

static const struct filter_rule session_rules[] = { SANDBOX_RULES };
static const struct filter_rule launcher_rules[] = { HOST_RULES };

#define DENY_LIST(r)							\
	.otherwise = SCMP_ACT_ALLOW,					\
	.matched = SCMP_ACT_ERRNO(EPERM),				\
	.rules = (r),							\
	.nrules = sizeof(r) / sizeof((r)[0])

const struct filter session_filter = {
	DENY_LIST(session_rules), .with_32bit = true
};

const struct filter session_64bit_filter = { DENY_LIST(session_rules) };

const struct filter only_64bit_filter = { .otherwise = SCMP_ACT_ALLOW };

const struct filter *const session_filters[FILTER_KINDS] = {
	[FILTER_SESSION] = &session_filter,
	[FILTER_SESSION_64BIT] = &session_64bit_filter,
	[FILTER_ONLY_64BIT] = &only_64bit_filter,
};

const struct filter launcher_filter = {
	DENY_LIST(launcher_rules), .with_32bit = true
};
