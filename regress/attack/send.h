/* SPDX-License-Identifier: ISC */
/*
 * Sending for a role that has been taken over, as a test orders: whole
 * datagrams, well formed or not, with as many descriptors as the kernel takes.
 * The including file must use send_fds() and send_flood().
 */
#ifndef ATTACK_SEND_H
#define ATTACK_SEND_H

#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define FDS_MOST	253	/* of one message, the kernel's limit */
#define SEND_MS		3000

/*
 * Sends fd, which stays the caller's, n times with one datagram.  Returns 0 or
 * an errno; waits up to SEND_MS for room if it is to wait, else not at all.
 */
static int
send_fds(int sock_fd, const void *data, size_t len, int fd, uint32_t n,
    bool wait)
{
	static union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(FDS_MOST * sizeof(int))];
	} ctl;
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd p = { .fd = sock_fd, .events = POLLOUT };
	uint32_t i;

	if (n > 0) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		ctl.hdr.cmsg_level = SOL_SOCKET;
		ctl.hdr.cmsg_type = SCM_RIGHTS;
		ctl.hdr.cmsg_len = CMSG_LEN(n * sizeof(int));
		for (i = 0; i < n; i++)
			memcpy(CMSG_DATA(&ctl.hdr) + i * sizeof(int), &fd,
			    sizeof(fd));
	}
	while (sendmsg(sock_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) == -1) {
		if (errno != EAGAIN || !wait || poll(&p, 1, SEND_MS) <= 0)
			return errno;
	}
	return 0;
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/*
 * Sends one datagram up to n times within ms milliseconds, without ever
 * waiting for room or an answer; with fd, unless that is -1.  Returns how
 * many were sent, and in *error the last one's errno or 0.
 */
static uint32_t
send_flood(int sock_fd, const void *data, size_t len, int fd, uint32_t n,
    uint32_t ms, int *error)
{
	uint64_t until = now_ms() + ms;
	uint32_t sent = 0;

	*error = 0;
	while (sent < n && (*error == 0 || *error == EAGAIN) &&
	    now_ms() < until) {
		*error = send_fds(sock_fd, data, len, fd, fd != -1, false);
		if (*error == 0)
			sent++;
	}
	return sent;
}

#endif
