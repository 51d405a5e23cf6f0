/* SPDX-License-Identifier: ISC */
/*
 * Calls of the product that fail.  A target that says FUZZ_FAULT before it
 * includes fuzz.h is linked so that they come here first (fuzz.mk), and its
 * inputs may begin with a plan:
 *	0xff '!' n, and n times: call, error, how many go well before it, how
 *	many fail
 * It counts what is called while the product runs alone: in a turn() of the
 * loop, and in what a target has put between fault_begin() and fault_end().
 * A call fails as it can on a real host, and in no other way.
 */
#ifndef FUZZ_FAULT_H
#define FUZZ_FAULT_H

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Their numbers in inputs: new ones come last. */
enum {
	FAULT_MALLOC, FAULT_CALLOC, FAULT_REALLOC, FAULT_SENDMSG,
	FAULT_RECVMSG, FAULT_SEND, FAULT_RECV, FAULT_FCNTL, FAULT_SOCKETPAIR,
	FAULT_EPOLL_CTL, FAULT_READ, FAULT_WRITE, FAULT_PREAD, FAULT_FSTAT,
	FAULT_OPENAT, FAULT_FLOCK, FAULT_FSYNC, FAULT_RENAMEAT, FAULT_MKDIR,
	FAULT_PWRITE, FAULT_CALLS
};

#define FAULT_PLANS	4

struct fault {
	uint8_t	call, error, first, times;
};

static const int fault_errors[FAULT_CALLS][4] = {
	[FAULT_MALLOC] = { ENOMEM, ENOMEM, ENOMEM, ENOMEM },
	[FAULT_CALLOC] = { ENOMEM, ENOMEM, ENOMEM, ENOMEM },
	[FAULT_REALLOC] = { ENOMEM, ENOMEM, ENOMEM, ENOMEM },
	[FAULT_SENDMSG] = { EAGAIN, ENOBUFS, EPIPE, EINTR },
	[FAULT_RECVMSG] = { EAGAIN, ECONNRESET, EINTR, ENOMEM },
	[FAULT_SEND] = { EAGAIN, EPIPE, EINTR, ECONNRESET },
	[FAULT_RECV] = { EAGAIN, ECONNRESET, EINTR, ENOMEM },
	[FAULT_FCNTL] = { EMFILE, EMFILE, EMFILE, EMFILE },
	[FAULT_SOCKETPAIR] = { EMFILE, ENFILE, ENOBUFS, ENOMEM },
	[FAULT_EPOLL_CTL] = { ENOMEM, ENOSPC, ENOMEM, ENOSPC },
	[FAULT_READ] = { EIO, EINTR, EAGAIN, ENOMEM },
	[FAULT_WRITE] = { EIO, EINTR, EAGAIN, ENOSPC },
	[FAULT_PREAD] = { EIO, EIO, EIO, EIO },
	[FAULT_FSTAT] = { EIO, ENOMEM, EIO, ENOMEM },
	[FAULT_OPENAT] = { EACCES, EMFILE, ENOENT, ELOOP },
	[FAULT_FLOCK] = { ENOLCK, EINTR, ENOLCK, EINTR },
	[FAULT_FSYNC] = { EIO, ENOSPC, EIO, ENOSPC },
	[FAULT_RENAMEAT] = { EACCES, ENOSPC, EIO, EROFS },
	[FAULT_MKDIR] = { EACCES, ENOSPC, ENOENT, EROFS },
	[FAULT_PWRITE] = { EIO, EINTR, ENOSPC, ENOMEM },
};

static struct fault	faults[FAULT_PLANS];
static bool		fault_live;
/* Bits of calls: where no memory is the end of a program, by design. */
static uint32_t		fault_never;

static inline void
fault_begin(void)
{
	fault_live = true;
}

static inline void
fault_end(void)
{
	fault_live = false;
}

/* From now on all goes well. */
static inline void
fault_forget(void)
{
	memset(faults, 0, sizeof(faults));
}

/* Whether the input has a plan: it is taken off, and what was before goes. */
static inline bool
fault_plan(const uint8_t **p, size_t *len)
{
	size_t n;

	fault_forget();
	if (*len < 3 || memcmp(*p, "\xff!", 2) != 0)
		return false;
	n = (*p)[2] % (FAULT_PLANS + 1U);
	*p += 3;
	*len -= 3;
	if (n * sizeof(faults[0]) > *len)
		n = 0;
	memcpy(faults, *p, n * sizeof(faults[0]));
	*p += n * sizeof(faults[0]);
	*len -= n * sizeof(faults[0]);
	return n > 0;
}

/* Whether this call fails; errno is set then. */
static inline bool
fault_strikes(uint8_t call)
{
	struct fault *f;

	if (!fault_live || (fault_never >> call & 1) != 0)
		return false;
	for (f = faults; f < faults + FAULT_PLANS; f++) {
		if (f->times == 0 || f->call % FAULT_CALLS != call)
			continue;
		if (f->first > 0) {
			f->first--;
			continue;
		}
		f->times--;
		errno = fault_errors[call][f->error % 4];
		return true;
	}
	return false;
}

/* Each of these, and those below, is a name in fuzz.mk. */
#define FAULT(type, bad, call, name, params, args)			\
	type	__real_##name params;					\
	type	__wrap_##name params;					\
	type								\
	__wrap_##name params						\
	{								\
		return fault_strikes(call) ? (bad) : __real_##name args; \
	}

FAULT(void *, NULL, FAULT_MALLOC, malloc, (size_t n), (n))
FAULT(void *, NULL, FAULT_CALLOC, calloc, (size_t n, size_t size), (n, size))
FAULT(void *, NULL, FAULT_REALLOC, realloc, (void *p, size_t n), (p, n))
FAULT(ssize_t, -1, FAULT_SENDMSG, sendmsg,
    (int fd, const struct msghdr *m, int flags), (fd, m, flags))
FAULT(ssize_t, -1, FAULT_RECVMSG, recvmsg,
    (int fd, struct msghdr *m, int flags), (fd, m, flags))
FAULT(ssize_t, -1, FAULT_SEND, send,
    (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
FAULT(ssize_t, -1, FAULT_RECV, recv,
    (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
FAULT(int, -1, FAULT_SOCKETPAIR, socketpair,
    (int domain, int type, int protocol, int *fds),
    (domain, type, protocol, fds))
FAULT(ssize_t, -1, FAULT_READ, read, (int fd, void *p, size_t n), (fd, p, n))
FAULT(ssize_t, -1, FAULT_WRITE, write, (int fd, const void *p, size_t n),
    (fd, p, n))
FAULT(ssize_t, -1, FAULT_PREAD, pread,
    (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
FAULT(ssize_t, -1, FAULT_PWRITE, pwrite,
    (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
FAULT(int, -1, FAULT_FSTAT, fstat, (int fd, struct stat *st), (fd, st))
FAULT(int, -1, FAULT_FLOCK, flock, (int fd, int how), (fd, how))
FAULT(int, -1, FAULT_FSYNC, fsync, (int fd), (fd))
FAULT(int, -1, FAULT_RENAMEAT, renameat,
    (int from_fd, const char *from, int to_fd, const char *to),
    (from_fd, from, to_fd, to))
FAULT(int, -1, FAULT_MKDIR, mkdir, (const char *path, mode_t mode),
    (path, mode))

/* Fails only for new descriptors, not for other events of a watched one. */
int	__real_epoll_ctl(int, int, int, struct epoll_event *);
int	__wrap_epoll_ctl(int, int, int, struct epoll_event *);
int
__wrap_epoll_ctl(int set_fd, int op, int fd, struct epoll_event *ev)
{
	if (op == EPOLL_CTL_ADD && fault_strikes(FAULT_EPOLL_CTL))
		return -1;
	return __real_epoll_ctl(set_fd, op, fd, ev);
}

/* Fails only for commands that make another descriptor. */
int	__real_fcntl(int, int, ...);
int	__wrap_fcntl(int, int, ...);
int
__wrap_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((cmd == F_DUPFD_CLOEXEC || cmd == F_DUPFD) &&
	    fault_strikes(FAULT_FCNTL))
		return -1;
	return __real_fcntl(fd, cmd, arg);
}

int	__real_openat(int, const char *, int, ...);
int	__wrap_openat(int, const char *, int, ...);
int
__wrap_openat(int dir_fd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (fault_strikes(FAULT_OPENAT))
		return -1;
	return __real_openat(dir_fd, path, flags, mode);
}

#endif
