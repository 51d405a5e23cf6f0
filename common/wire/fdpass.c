/* SPDX-License-Identifier: ISC */
/* File descriptors over Unix sockets. */
#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fdpass.h"

ssize_t
fdpass_send(int sock_fd, struct iovec *iov, size_t niov, const int *fds,
    size_t n, int flags)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
	} ctl;
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = niov };

	if (n > FDPASS_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (n > 0) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		ctl.hdr.cmsg_level = SOL_SOCKET;
		ctl.hdr.cmsg_type = SCM_RIGHTS;
		ctl.hdr.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&ctl.hdr), fds, n * sizeof(int));
	}
	return sendmsg(sock_fd, &mh, MSG_NOSIGNAL | flags);
}

ssize_t
fdpass_recv(int sock_fd, struct iovec *iov, size_t niov, int fds[FDPASS_MAX],
    size_t *n, pid_t *sender, int flags)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(FDPASS_MAX * sizeof(int)) +
				    CMSG_SPACE(sizeof(struct ucred))];
	} ctl;
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = niov,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	struct cmsghdr *cm;
	struct ucred cred = { .pid = 0 };
	ssize_t len = recvmsg(sock_fd, &mh, MSG_CMSG_CLOEXEC | flags);

	*n = 0;
	if (len == -1)
		return -1;
	for (cm = CMSG_FIRSTHDR(&mh); cm != NULL; cm = CMSG_NXTHDR(&mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET)
			continue;
		if (cm->cmsg_type == SCM_RIGHTS) {
			*n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(fds, CMSG_DATA(cm), *n * sizeof(int));
		}
		/* the kernel's word, and as the host counts */
		if (cm->cmsg_type == SCM_CREDENTIALS)
			memcpy(&cred, CMSG_DATA(cm), sizeof(cred));
	}
	/* without room for a descriptor the kernel leaves it out */
	if (mh.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) {
		while (*n > 0)
			close(fds[--*n]);
		errno = EMFILE;
		return -1;
	}
	if (sender != NULL)
		*sender = cred.pid;
	return len;
}
