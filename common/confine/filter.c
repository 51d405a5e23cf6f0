/* SPDX-License-Identifier: ISC */
/* System call filters: from the tables to the kernel. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/sanitize.h"
#include "filter.h"

/* libseccomp's own name for the sorted tree; fewer compares per call */
#define OPTIMIZE_TREE	2

/* a thousand times what it takes */
#define COMPILE_SECONDS	(SANITIZED ? 60 : 5)

/* 0 = none that is known here: its programs are killed */
#ifdef __x86_64__
#define ARCH_32BIT	SCMP_ARCH_X86
#define AUDIT_64BIT	AUDIT_ARCH_X86_64
#define AUDIT_32BIT	AUDIT_ARCH_I386
#else
#define ARCH_32BIT	0
#define AUDIT_64BIT	AUDIT_ARCH_AARCH64
#define AUDIT_32BIT	AUDIT_ARCH_ARM
#endif
/* x86-64 has a second table of calls from there on, which no filter allows */
#define X32_BIT		0x40000000U

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
#define REFUSE(name)							\
	{ .nr = SCMP_SYS(name), .action = SCMP_ACT_ERRNO(ENOENT) }

/*
 * Calls that every role needs: memory for malloc, the event loop, channels,
 * clocks, and exit.  Mappings are never executable.
 */
static const struct filter_rule base[] = {
	ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev),
	ALLOW(close), ALLOW(close_range), ALLOW(fstat), ALLOW(lseek),
	ALLOW(recvmsg), ALLOW(recvfrom),
	/* fast open would connect without connect() */
	ALLOW_ARG(sendmsg, FILTER_CLEAR(2, MSG_FASTOPEN)),
	ALLOW_ARG(sendto, FILTER_CLEAR(3, MSG_FASTOPEN)),
	ALLOW(epoll_wait), ALLOW(epoll_pwait), ALLOW(epoll_ctl),
	ALLOW(poll), ALLOW(ppoll),
	ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
	ALLOW_ARG(mmap, FILTER_CLEAR(2, PROT_EXEC)),
	ALLOW_ARG(mprotect, FILTER_CLEAR(2, PROT_EXEC)),
	ALLOW(futex), ALLOW(getrandom), ALLOW(rseq),
	ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(nanosleep),
	ALLOW(gettimeofday), ALLOW(time), ALLOW(restart_syscall),
	ALLOW(getpid), ALLOW(gettid), ALLOW(getppid),
	ALLOW(rt_sigreturn), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask),
	ALLOW(exit), ALLOW(exit_group),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_GETFL)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_SETFL)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_GETFD)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_SETFD)),
	ALLOW_ARG(fcntl, FILTER_INT(1, F_GET_SEALS)),
	/* fd kinds: foreign pidfds are asked without reaping */
	ALLOW(waitid),
	ALLOW_ARG(ioctl, FILTER_INT(1, 0xb703)),	/* NS_GET_NSTYPE */
	/* a message that an aborting libc prints */
	ALLOW_ARG(newfstatat, FILTER_INT(3, AT_EMPTY_PATH)),
};

const struct filter_rule *
filter_base(size_t *n)
{
	*n = NELEM(base);
	return base;
}

/*
 * Calls that a sanitizer's report needs.  The sanitizer's run time looks for
 * more details, in files and through a pipe, and can do without.
 */
static const struct filter_rule reports[] = {
	ALLOW_ARG(write, FILTER_INT(0, STDERR_FILENO)),
	ALLOW(sigaltstack), ALLOW(sched_yield), ALLOW(futex),
	ALLOW(getpid), ALLOW(gettid), ALLOW(getrlimit), ALLOW(prlimit64),
	ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(exit_group),
	REFUSE(open), REFUSE(openat), REFUSE(readlink),
	REFUSE(readlinkat), REFUSE(stat), REFUSE(newfstatat),
	REFUSE(access), REFUSE(pipe), REFUSE(pipe2),
};

static int
add(scmp_filter_ctx ctx, uint32_t action, const struct filter_rule *rules,
    size_t n)
{
	bool native = seccomp_arch_exist(ctx, SCMP_ARCH_NATIVE) == 0;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		/* a call that this architecture does not have */
		if (native && rules[i].nr < 0)
			continue;
		r = seccomp_rule_add_array(ctx,
		    rules[i].action != 0 ? rules[i].action : action,
		    rules[i].nr, rules[i].nargs, rules[i].args);
		/* two tables may name the same call */
		if (r < 0 && r != -EEXIST) {
			errno = -r;
			return -1;
		}
	}
	return 0;
}

static bool
names(const struct filter_rule *rules, size_t n, int nr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rules[i].nr == nr)
			return true;
	return false;
}

/*
 * Adds the calls of reports; a role's own rules for a call win over a refusal.
 * Filters that do not kill allow the call instead: they are inherited by
 * programs which read files as they start.
 */
static int
add_reports(scmp_filter_ctx ctx, const struct filter *f)
{
	struct filter_rule r;
	size_t i;

	for (i = 0; i < NELEM(reports); i++) {
		r = reports[i];
		if (r.action != 0 && (names(f->rules, f->nrules, r.nr) ||
		    (f->with_base && names(base, NELEM(base), r.nr))))
			continue;
		if (f->otherwise != SCMP_ACT_KILL_PROCESS)
			r.action = 0;
		if (add(ctx, f->matched, &r, 1) == -1)
			return -1;
	}
	return 0;
}

static scmp_filter_ctx
begin(const struct filter *f)
{
	scmp_filter_ctx ctx = seccomp_init(f->otherwise);
	int r;

	if (ctx == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_TREE);
	r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS);
	if (r == 0)
		return ctx;
	seccomp_release(ctx);
	errno = -r;
	return NULL;
}

/* The same rules for the architecture of 32-bit programs, by their names. */
static int
add_32bit(scmp_filter_ctx ctx, const struct filter *f)
{
	scmp_filter_ctx other = begin(f);
	int r;

	if (other == NULL)
		return -1;
	if ((r = seccomp_arch_add(other, ARCH_32BIT)) < 0 ||
	    (r = seccomp_arch_remove(other, SCMP_ARCH_NATIVE)) < 0)
		errno = -r;
	else if (add(other, f->matched, f->rules, f->nrules) == 0) {
		if ((r = seccomp_merge(ctx, other)) == 0)
			return 0;
		errno = -r;
	}
	r = errno;
	seccomp_release(other);
	errno = r;
	return -1;
}

/* Adds the base, but for calls that the role's own table answers otherwise. */
static int
add_base(scmp_filter_ctx ctx, const struct filter *f)
{
	size_t i, j;

	for (i = 0; i < NELEM(base); i++) {
		for (j = 0; j < f->nrules; j++)
			if (f->rules[j].nr == base[i].nr &&
			    f->rules[j].action != 0)
				break;
		if (j == f->nrules && add(ctx, f->matched, &base[i], 1) == -1)
			return -1;
	}
	return 0;
}

static scmp_filter_ctx
build(const struct filter *f)
{
	scmp_filter_ctx ctx = begin(f);
	int r;

	if (ctx == NULL)
		return NULL;
	if (f->with_base && add_base(ctx, f) == -1)
		goto fail;
	if (add(ctx, f->matched, f->rules, f->nrules) == -1)
		goto fail;
	if (SANITIZED && f->matched == SCMP_ACT_ALLOW &&
	    add_reports(ctx, f) == -1)
		goto fail;
	if (ARCH_32BIT != 0 && f->with_32bit && add_32bit(ctx, f) == -1)
		goto fail;
	return ctx;
fail:
	r = errno;
	seccomp_release(ctx);
	errno = r;
	return NULL;
}

/*
 * Libseccomp compares arguments but no numbers with one another, so this comes
 * before what it compiles, and goes on there with all that is known.
 */
#define JUMP(how, v, then, otherwise)					\
	BPF_JUMP(BPF_JMP | (how) | BPF_K, (v), (then), (otherwise))
#define LOAD(what)							\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
/* jumps to "unknown" when nr lies in the hole, to "known" when it is lower */
#define HOLE_(first, next, known, unknown)				\
	JUMP(BPF_JGE, first, 0, known), JUMP(BPF_JGE, next, 0, unknown)
#define HOLE(hole, known, unknown)	HOLE_(hole, known, unknown)

static const struct sock_filter newer[] = {
	LOAD(arch),
	JUMP(BPF_JEQ, AUDIT_64BIT, 0, 4),
	LOAD(nr),
	HOLE(FILTER_HOLE_64, 9, 7),
	JUMP(BPF_JA, 4, 0, 0),
	JUMP(BPF_JEQ, AUDIT_32BIT, 0, 6),
	LOAD(nr),
	HOLE(FILTER_HOLE_32, 4, 2),
	JUMP(BPF_JGE, X32_BIT, 2, 0),
	JUMP(BPF_JGT, FILTER_NEWEST, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
};

/* By a handler: the first process of a namespace heeds nothing else. */
static void
too_long(int sig)
{
	(void)sig;
	_exit(1);
}

/*
 * Ends this process after so many seconds of processor time, 0 = never:
 * libseccomp may spin for ever when it finds no memory, and would block every
 * process that waits for this one.  No filter is in place yet, but no peer has
 * been heard yet either.
 */
static void
bound(time_t seconds)
{
	const struct itimerval t = { .it_value.tv_sec = seconds };
	const struct sigaction sa = {
	    .sa_handler = seconds == 0 ? SIG_DFL : too_long };

	if (seconds != 0)
		(void)sigaction(SIGVTALRM, &sa, NULL);
	(void)setitimer(ITIMER_VIRTUAL, &t, NULL);
	if (seconds == 0)
		(void)sigaction(SIGVTALRM, &sa, NULL);
}

static int
read_whole(int fd, uint8_t *to, size_t len)
{
	size_t done;
	ssize_t n;

	for (done = 0; done < len; done += (size_t)n) {
		n = pread_again(fd, to + done, len - done, (off_t)done);
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int
compile(const struct filter *f, void **prog, size_t *ninstr)
{
	scmp_filter_ctx ctx = NULL;
	struct stat st;
	uint8_t *buf = NULL;
	size_t size;
	int fd = -1, r, saved;

	/* libseccomp exports to an fd only */
	fd = memfd_create("bpf", MFD_CLOEXEC);
	if (fd == -1)
		return -1;
	ctx = build(f);
	if (ctx == NULL)
		goto fail;
	r = seccomp_export_bpf(ctx, fd);
	if (r < 0) {
		errno = -r;
		goto fail;
	}
	if (fstat(fd, &st) == -1)
		goto fail;
	size = (size_t)st.st_size;
	buf = malloc(sizeof(newer) + size);
	if (buf == NULL || read_whole(fd, buf + sizeof(newer), size) == -1)
		goto fail;
	memcpy(buf, newer, sizeof(newer));
	seccomp_release(ctx);
	close(fd);
	*prog = buf;
	*ninstr = NELEM(newer) + size / sizeof(struct sock_filter);
	return 0;
fail:
	saved = errno;
	free(buf);
	if (ctx != NULL)
		seccomp_release(ctx);
	close(fd);
	errno = saved;
	return -1;
}

int
filter_compile(const struct filter *f, void **prog, size_t *ninstr)
{
	int r;

	bound(COMPILE_SECONDS);
	r = compile(f, prog, ninstr);
	bound(0);
	return r;
}

int
filter_install(const void *prog, size_t ninstr)
{
	struct sock_fprog fp = {
		.len = (unsigned short)ninstr,
		.filter = (struct sock_filter *)(uintptr_t)prog,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fp) == -1 ?
	    -1 : 0;
}

int
filter_load(const struct filter *f)
{
	void *prog = NULL;
	size_t n;
	int r;

	if (filter_compile(f, &prog, &n) == -1)
		return -1;
	r = filter_install(prog, n);
	free(prog);
	return r;
}

int
filter_print(const struct filter *f, int fd)
{
	scmp_filter_ctx ctx = build(f);
	int r;

	if (ctx == NULL)
		return -1;
	(void)dprintf(fd, "# before all else: a number above %d and below "
	    "0x%x,\n# or of a hole (64-bit [%d, %d), 32-bit [%d, %d)), is "
	    "answered with ERRNO(%d)\n", FILTER_NEWEST, X32_BIT,
	    FILTER_HOLE_64, FILTER_HOLE_32, ENOSYS);
	r = seccomp_export_pfc(ctx, fd);
	seccomp_release(ctx);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	return 0;
}
