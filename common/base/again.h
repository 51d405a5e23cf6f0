/* SPDX-License-Identifier: ISC */
/*
 * System calls that are begun again when a signal has interrupted them, for
 * where "no answer" would be taken for one: a process that has ended, an fd of
 * the wrong kind, a file that says nothing.  Results are those of the calls.
 *
 * poll_again() is for timeouts of 0 and of -1: others would start anew.
 */
#ifndef DL_AGAIN_H
#define DL_AGAIN_H

#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static inline ssize_t
read_again(int fd, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n == -1 && errno == EINTR);
	return n;
}

static inline ssize_t
pread_again(int fd, void *buf, size_t len, off_t at)
{
	ssize_t n;

	do {
		n = pread(fd, buf, len, at);
	} while (n == -1 && errno == EINTR);
	return n;
}

static inline int
poll_again(struct pollfd *fds, nfds_t n, int ms)
{
	int r;

	do {
		r = poll(fds, n, ms);
	} while (r == -1 && errno == EINTR);
	return r;
}

static inline pid_t
waitpid_again(pid_t pid, int *status, int options)
{
	pid_t r;

	do {
		r = waitpid(pid, status, options);
	} while (r == -1 && errno == EINTR);
	return r;
}

static inline int
waitid_again(idtype_t type, id_t id, siginfo_t *si, int options)
{
	int r;

	do {
		r = waitid(type, id, si, options);
	} while (r == -1 && errno == EINTR);
	return r;
}

#endif
