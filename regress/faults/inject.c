/* SPDX-License-Identifier: ISC */
/*
 * Faults for the roles.  The roles of faulty builds are linked with this
 * before anything else, so that their calls, and those of their libraries,
 * come here first.  A plan says which of them go wrong; without one none
 * does.  Its path is written into the program by the test, as not every role
 * can see what it is called.
 *
 * It makes system calls itself, the same as libc, because one of the roles
 * is linked statically and because a role's filter must not need more.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "plan.h"

#ifdef STATIC_LIBC
#define MEMORY(name)	__wrap_##name
#define REAL(name)	__real_##name
#else
#define MEMORY(name)	name
#define REAL(name)	__libc_##name
#endif

#define HOLD_NS		2000000
/*
 * Every second call, say, would be the same one of a loop of two, and fail for
 * ever: which of them do is spread by the golden ratio, the same each time.
 */
#define SPREAD		0x9e3779b97f4a7c15ULL

void	*REAL(malloc)(size_t);
void	*REAL(calloc)(size_t, size_t);
void	*REAL(realloc)(void *, size_t);
#ifndef STATIC_LIBC
void	*__libc_memalign(size_t, size_t);
void	 __libc_free(void *);
#endif

static struct plan *plan;
#ifndef STATIC_LIBC
static long own;
#endif
/* no compiler knows what it will be */
static const volatile char plan_path[PLAN_PATH] = PLAN_MARK;

/* As the kernel answers: an error is its number, negative. */
static long
kernel(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b),
	    "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2),
	    "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "how are system calls made here?"
#endif
}

#define SYS(nr, a, b, c, d, e, f)					\
	result(kernel(nr, (long)(a), (long)(b), (long)(c), (long)(d),	\
	    (long)(e), (long)(f)))

static long
result(long r)
{
	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

#ifdef STATIC_LIBC
#define note_crashes()	((void)0)
#else
/*
 * Notes crashes of processes whose death nobody else looks into: a fault is a
 * bug, an exit of their own is not.
 */
static void
crashed(int sig, siginfo_t *si, void *arg)
{
	const ucontext_t *c = arg;
	Dl_info of;
	uint64_t pc;

	(void)si;
#if defined(__x86_64__)
	pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#else
	pc = c->uc_mcontext.pc;
#endif
	if (dladdr((const void *)pc, &of) != 0) {
		pc -= (uint64_t)of.dli_fbase;
		strncpy(plan->object, of.dli_fname, sizeof(plan->object) - 1);
	}
	plan->pc = pc;
	__atomic_store_n(&plan->signal, (uint32_t)sig, __ATOMIC_SEQ_CST);
}

/* It returns, and meets the same fault again with nobody to handle it. */
static void
note_crashes(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	    SIGABRT };
	struct sigaction sa = { .sa_sigaction = crashed,
	    .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };
	size_t i;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		(void)sigaction(deadly[i], &sa, NULL);
}
#endif

static void __attribute__((constructor))
find_plan(void)
{
	char path[PLAN_PATH];
	long fd, p;
	size_t i;

	for (i = 0; i < PLAN_PATH; i++)
		path[i] = plan_path[i];
	fd = kernel(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0,
	    0, 0);
	if (fd < 0)
		return;
	p = kernel(SYS_mmap, 0, PLAN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);
	(void)kernel(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p <= 0 && p >= -4095)
		return;
	plan = (struct plan *)p;
#ifndef STATIC_LIBC
	own = kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
	plan->blocks = 0;
#endif
	note_crashes();
}

/*
 * Not every filter lets a role sleep or ask for its number.  Launchers fork,
 * and are let.
 */
#ifdef STATIC_LIBC
static void
rest(void)
{
	const struct timespec t = { .tv_nsec = HOLD_NS };

	(void)kernel(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}
#define own_pid()	kernel(SYS_getpid, 0, 0, 0, 0, 0, 0)
#else
#define rest()		((void)0)
#define own_pid()	own
#endif

static void
hold(void)
{
	__atomic_store_n(&plan->held, (uint32_t)own_pid(), __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&plan->action, __ATOMIC_SEQ_CST) == DO_HOLD)
		rest();
	__atomic_store_n(&plan->held, 0, __ATOMIC_SEQ_CST);
}

/* Returns the action for this call; DO_COUNT: make the call as always. */
static uint32_t
strike(uint32_t calls, const char *name)
{
	uint64_t n;
	uint32_t action;

	if (plan == NULL ||
	    (__atomic_load_n(&plan->calls, __ATOMIC_SEQ_CST) & calls) == 0)
		return DO_COUNT;
	n = __atomic_add_fetch(&plan->count, 1, __ATOMIC_SEQ_CST);
	action = __atomic_load_n(&plan->action, __ATOMIC_SEQ_CST);
	if (action == DO_COUNT || n < plan->first || n > plan->last ||
	    (plan->every > 1 && (n * SPREAD >> 32) * plan->every >> 32 != 0))
		return DO_COUNT;
	(void)__atomic_add_fetch(&plan->struck, 1, __ATOMIC_SEQ_CST);
	strncpy(plan->where, name, sizeof(plan->where) - 1);
	if (action == DO_HOLD) {
		hold();
		return DO_COUNT;
	}
	return action;
}

static bool
fails(uint32_t calls, const char *name)
{
	if (strike(calls, name) != DO_FAIL)
		return false;
	errno = plan->error;
	return true;
}

/* False: it fails.  *len is how much of it there is to be. */
static bool
moves(uint32_t calls, const char *name, size_t *len)
{
	uint32_t what = strike(calls, name);

	if (what == DO_FAIL) {
		errno = plan->error;
		return false;
	}
	if (what == DO_SHORT && *len > 1)
		*len = 1;
	return true;
}

/* -- memory -- */

void	*MEMORY(malloc)(size_t);
void	*MEMORY(calloc)(size_t, size_t);
void	*MEMORY(realloc)(void *, size_t);
void	*MEMORY(reallocarray)(void *, size_t, size_t);

/* So many blocks more; that they come back is for the test to see. */
static void
held(int64_t n)
{
	if (plan != NULL && n != 0)
		(void)__atomic_add_fetch(&plan->blocks, n, __ATOMIC_SEQ_CST);
}

static void *
resized(void *p, size_t n)
{
	void *to = REAL(realloc)(p, n);

	/* size 0 frees the block; a call that fails keeps it */
	held((to != NULL) - (p != NULL && (to != NULL || n == 0)));
	return to;
}

void *
MEMORY(malloc)(size_t n)
{
	void *p = fails(CALL_MALLOC, "malloc") ? NULL : REAL(malloc)(n);

	held(p != NULL);
	return p;
}

void *
MEMORY(calloc)(size_t n, size_t size)
{
	void *p = fails(CALL_MALLOC, "calloc") ? NULL : REAL(calloc)(n, size);

	held(p != NULL);
	return p;
}

void *
MEMORY(realloc)(void *p, size_t n)
{
	return fails(CALL_MALLOC, "realloc") ? NULL : resized(p, n);
}

void *
MEMORY(reallocarray)(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(CALL_MALLOC, "reallocarray") ? NULL : resized(p, all);
}

#ifndef STATIC_LIBC
void	*memalign(size_t, size_t);
void	*aligned_alloc(size_t, size_t);
int	 posix_memalign(void **, size_t, size_t);
void	 free(void *);

void *
memalign(size_t to, size_t n)
{
	void *p = fails(CALL_MALLOC, "memalign") ? NULL :
	    __libc_memalign(to, n);

	held(p != NULL);
	return p;
}

void *
aligned_alloc(size_t to, size_t n)
{
	return memalign(to, n);
}

int
posix_memalign(void **out, size_t to, size_t n)
{
	void *p = memalign(to, n);

	if (p == NULL)
		return ENOMEM;
	*out = p;
	return 0;
}

void
free(void *p)
{
	held(-(p != NULL));
	__libc_free(p);
}
#endif

void *
mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	if (fails(CALL_MAP, "mmap"))
		return MAP_FAILED;
	return (void *)SYS(SYS_mmap, p, n, prot, flags, fd, at);
}

/* -- descriptors -- */

static int
open_at(int dir_fd, const char *path, int flags, mode_t mode)
{
	return fails(CALL_OPEN, "open") ? -1 :
	    (int)SYS(SYS_openat, dir_fd, path, flags, mode, 0, 0);
}

static mode_t
mode_of(int flags, va_list *ap)
{
	return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ?
	    va_arg(*ap, mode_t) : 0;
}

int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, &ap);
	va_end(ap);
	return open_at(AT_FDCWD, path, flags, mode);
}

int
openat(int dir_fd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, &ap);
	va_end(ap);
	return open_at(dir_fd, path, flags, mode);
}

/* what a fortified build calls */
int	__open_2(const char *, int);
int	__openat_2(int, const char *, int);

int
__open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

int
__openat_2(int dir_fd, const char *path, int flags)
{
	return open_at(dir_fd, path, flags, 0);
}

int
socket(int domain, int type, int protocol)
{
	return fails(CALL_SOCKET, "socket") ? -1 :
	    (int)SYS(SYS_socket, domain, type, protocol, 0, 0, 0);
}

int
socketpair(int domain, int type, int protocol, int fds[2])
{
	return fails(CALL_SOCKET, "socketpair") ? -1 :
	    (int)SYS(SYS_socketpair, domain, type, protocol, fds, 0, 0);
}

int
accept4(int fd, struct sockaddr *restrict sa, socklen_t *restrict len,
    int flags)
{
	return fails(CALL_SOCKET, "accept4") ? -1 :
	    (int)SYS(SYS_accept4, fd, sa, len, flags, 0, 0);
}

int
pipe2(int fds[2], int flags)
{
	return fails(CALL_FD, "pipe2") ? -1 :
	    (int)SYS(SYS_pipe2, fds, flags, 0, 0, 0, 0);
}

int
dup(int fd)
{
	return fails(CALL_FD, "dup") ? -1 :
	    (int)SYS(SYS_dup, fd, 0, 0, 0, 0, 0);
}

static int
control(int fd, int cmd, long arg)
{
	if ((cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) &&
	    fails(CALL_FD, "fcntl"))
		return -1;
	return (int)SYS(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

int
fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return control(fd, cmd, arg);
}

int	fcntl64(int, int, ...);

int
fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return control(fd, cmd, arg);
}

int
memfd_create(const char *name, unsigned int flags)
{
	return fails(CALL_FD, "memfd_create") ? -1 :
	    (int)SYS(SYS_memfd_create, name, flags, 0, 0, 0, 0);
}

int
epoll_create1(int flags)
{
	return fails(CALL_FD, "epoll_create1") ? -1 :
	    (int)SYS(SYS_epoll_create1, flags, 0, 0, 0, 0, 0);
}

int
epoll_ctl(int fd, int op, int of, struct epoll_event *ev)
{
	/* to forget one takes no memory, so it cannot fail */
	if (op != EPOLL_CTL_DEL && fails(CALL_EPOLL, "epoll_ctl"))
		return -1;
	return (int)SYS(SYS_epoll_ctl, fd, op, of, ev, 0, 0);
}

/* -- processes and namespaces -- */

static uint32_t
kind_of(long nr)
{
	switch (nr) {
	case SYS_clone3:
		return CALL_CLONE;
	case SYS_pivot_root:
	case SYS_move_mount:
	case SYS_open_tree:
	case SYS_mount_setattr:
		return CALL_MOUNT;
	case SYS_openat2:
		return CALL_OPEN;
	case SYS_pidfd_open:
		return CALL_FD;
	default:
		return 0;
	}
}

long
syscall(long nr, ...)
{
	long a[6];
	va_list ap;
	size_t i;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (kind_of(nr) != 0 && fails(kind_of(nr), "syscall"))
		return -1;
	return SYS(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

pid_t	__libc_fork(void);
#ifndef STATIC_LIBC
pid_t
fork(void)
{
	return fails(CALL_CLONE, "fork") ? -1 : __libc_fork();
}
#endif

int
mount(const char *from, const char *to, const char *type,
    unsigned long flags, const void *data)
{
	return fails(CALL_MOUNT, "mount") ? -1 :
	    (int)SYS(SYS_mount, from, to, type, flags, data, 0);
}

int
unshare(int flags)
{
	return fails(CALL_MOUNT, "unshare") ? -1 :
	    (int)SYS(SYS_unshare, flags, 0, 0, 0, 0, 0);
}

int
setns(int fd, int type)
{
	return fails(CALL_MOUNT, "setns") ? -1 :
	    (int)SYS(SYS_setns, fd, type, 0, 0, 0, 0);
}

/* -- bytes -- */

ssize_t
write(int fd, const void *p, size_t n)
{
	return moves(CALL_WRITE, "write", &n) ?
	    SYS(SYS_write, fd, p, n, 0, 0, 0) : -1;
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	return moves(CALL_WRITE, "pwrite", &n) ?
	    SYS(SYS_pwrite64, fd, p, n, at, 0, 0) : -1;
}

ssize_t
send(int fd, const void *p, size_t n, int flags)
{
	return moves(CALL_WRITE, "send", &n) ?
	    SYS(SYS_sendto, fd, p, n, flags, 0, 0) : -1;
}

ssize_t
sendfile(int to, int from, off_t *at, size_t n)
{
	return moves(CALL_WRITE, "sendfile", &n) ?
	    SYS(SYS_sendfile, to, from, at, n, 0, 0) : -1;
}

/* A message is sent whole or not at all. */
ssize_t
sendmsg(int fd, const struct msghdr *m, int flags)
{
	if (fails(CALL_WRITE | CALL_MESSAGE, "sendmsg"))
		return -1;
	return SYS(SYS_sendmsg, fd, m, flags, 0, 0, 0);
}

ssize_t
recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t n;

	if (fails(CALL_READ, "recvmsg"))
		return -1;
	n = SYS(SYS_recvmsg, fd, m, flags, 0, 0, 0);
	/* one that has come can be lost only with who has received it */
	if (n > 0)
		(void)strike(CALL_MESSAGE, "recvmsg");
	return n;
}

static ssize_t
read_some(int fd, void *p, size_t n, const char *name)
{
	return moves(CALL_READ, name, &n) ?
	    SYS(SYS_read, fd, p, n, 0, 0, 0) : -1;
}

static ssize_t
recv_some(int fd, void *p, size_t n, int flags)
{
	return moves(CALL_READ, "recv", &n) ?
	    SYS(SYS_recvfrom, fd, p, n, flags, 0, 0) : -1;
}

static ssize_t
pread_some(int fd, void *p, size_t n, off_t at)
{
	return moves(CALL_READ, "pread", &n) ?
	    SYS(SYS_pread64, fd, p, n, at, 0, 0) : -1;
}

ssize_t
read(int fd, void *p, size_t n)
{
	return read_some(fd, p, n, "read");
}

ssize_t
recv(int fd, void *p, size_t n, int flags)
{
	return recv_some(fd, p, n, flags);
}

ssize_t
pread(int fd, void *p, size_t n, off_t at)
{
	return pread_some(fd, p, n, at);
}

/* ... and again what a fortified build calls */
ssize_t	__read_chk(int, void *, size_t, size_t);
ssize_t	__recv_chk(int, void *, size_t, size_t, int);
ssize_t	__pread_chk(int, void *, size_t, off_t, size_t);
int	__poll_chk(struct pollfd *, nfds_t, int, size_t);

ssize_t
__read_chk(int fd, void *p, size_t n, size_t room)
{
	return read_some(fd, p, n < room ? n : room, "read");
}

ssize_t
__recv_chk(int fd, void *p, size_t n, size_t room, int flags)
{
	return recv_some(fd, p, n < room ? n : room, flags);
}

ssize_t
__pread_chk(int fd, void *p, size_t n, off_t at, size_t room)
{
	return pread_some(fd, p, n < room ? n : room, at);
}

/* -- waiting, and the time of day -- */

int
epoll_wait(int fd, struct epoll_event *ev, int n, int ms)
{
	return fails(CALL_WAIT, "epoll_wait") ? -1 :
	    (int)SYS(SYS_epoll_pwait, fd, ev, n, ms, NULL, 8);
}

static int
poll_some(struct pollfd *p, nfds_t n, int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000,
	    .tv_nsec = (long)(ms % 1000) * 1000000 };

	return fails(CALL_WAIT, "poll") ? -1 :
	    (int)SYS(SYS_ppoll, p, n, ms < 0 ? NULL : &t, NULL, 8, 0);
}

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	return poll_some(p, n, ms);
}

int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	(void)room;
	return poll_some(p, n, ms);
}

int
waitid(idtype_t type, id_t id, siginfo_t *si, int options)
{
	return fails(CALL_WAIT, "waitid") ? -1 :
	    (int)SYS(SYS_waitid, type, id, si, options, NULL, 0);
}

int
clock_gettime(clockid_t which, struct timespec *t)
{
	int64_t ms;

	if (SYS(SYS_clock_gettime, which, t, 0, 0, 0, 0) == -1)
		return -1;
	if (plan == NULL || which != CLOCK_REALTIME)
		return 0;
	ms = __atomic_load_n(&plan->clock_ms, __ATOMIC_SEQ_CST);
	t->tv_sec += ms / 1000;
	return 0;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &t) == -1)
		return -1;
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *out)
{
	struct timespec t;

	if (clock_gettime(CLOCK_REALTIME, &t) == -1)
		return -1;
	if (out != NULL)
		*out = t.tv_sec;
	return t.tv_sec;
}
