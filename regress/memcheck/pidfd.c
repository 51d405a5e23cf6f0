/* SPDX-License-Identifier: ISC */
/*
 * Debian 12's valgrind does not have pidfd_open(2) and close_range(2), which
 * many tests need.  The former is asked of memcheck.py, whose socket
 * MEMCHECK_SOCKET names; the latter is as many calls of close(2).
 */
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long	syscall(long, ...);

/* Its answer is an fd, or the number of an error. */
static int
receive(int sock_fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	int32_t error = EIO;
	struct iovec iov = { &error, sizeof(error) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	struct cmsghdr *cm;
	int fd;

	if (recvmsg(sock_fd, &mh, MSG_CMSG_CLOEXEC) != sizeof(error))
		return errno = EIO, -1;
	cm = CMSG_FIRSTHDR(&mh);
	if (cm == NULL)
		return errno = error, -1;
	memcpy(&fd, CMSG_DATA(cm), sizeof(fd));
	return fd;
}

int
pidfd_open(pid_t pid, unsigned int flags)
{
	const char *path = getenv("MEMCHECK_SOCKET");
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int32_t number = pid;
	int sock_fd, fd = -1, error;

	if (flags != 0 || path == NULL || strlen(path) >= sizeof(sun.sun_path))
		return errno = EINVAL, -1;
	strcpy(sun.sun_path, path);
	sock_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock_fd == -1)
		return -1;
	if (connect(sock_fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 &&
	    send(sock_fd, &number, sizeof(number), MSG_NOSIGNAL) > 0)
		fd = receive(sock_fd);
	error = errno;
	close(sock_fd);
	errno = error;
	return fd;
}

int
close_range(unsigned int first, unsigned int last, int flags)
{
	struct rlimit r;
	unsigned int fd;

	if (flags != 0 || getrlimit(RLIMIT_NOFILE, &r) == -1)
		return errno = EINVAL, -1;
	for (fd = first; fd <= last && fd < r.rlim_cur; fd++)
		close((int)fd);
	return 0;
}

long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_pidfd_open)
		return pidfd_open((pid_t)a[0], (unsigned int)a[1]);
	if (next == NULL)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
