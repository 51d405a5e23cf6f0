/* SPDX-License-Identifier: ISC */
/* For fuzz targets: the other end of a channel, which need not be right. */
#ifndef FUZZ_CHAN_H
#define FUZZ_CHAN_H

#include <sys/socket.h>

#include <string.h>

#include "common/wire/msg_out.h"

union fuzz_ctl {
	struct cmsghdr	hdr;
	char		buf[CMSG_SPACE(sizeof(int))];
};

/* Sends a datagram, its bytes unchanged; borrows fd, -1 = none. */
static inline bool
chan_put(int end_fd, const struct msg_hdr *h, const void *payload, size_t len,
    int fd)
{
	union fuzz_ctl ctl;
	struct iovec iov[2] = {
		{ (void *)(uintptr_t)h, sizeof(*h) },
		{ (void *)(uintptr_t)payload, len },
	};
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = len > 0 ? 2 : 1 };

	if (fd != -1) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		ctl.hdr.cmsg_level = SOL_SOCKET;
		ctl.hdr.cmsg_type = SCM_RIGHTS;
		ctl.hdr.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&ctl.hdr), &fd, sizeof(fd));
	}
	return sendmsg(end_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) != -1;
}

/* The same of a message as msg_new() and its like made it. */
static inline bool
chan_say(int end_fd, struct msg_out *o, uint32_t generation, int fd)
{
	o->hdr.generation = generation;
	return chan_put(end_fd, &o->hdr, o->payload, o->hdr.length, fd);
}

/*
 * The next message that was sent to this end, good until the next call; its
 * fd is the caller's.  False: there is none.
 */
static inline bool
chan_hear(int end_fd, struct msg *m)
{
	static uint8_t payload[MSG_PAYLOAD_MAX];
	union fuzz_ctl ctl;
	struct iovec iov[2] = { { &m->hdr, sizeof(m->hdr) },
	    { payload, sizeof(payload) } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };

	memset(m, 0, sizeof(*m));
	m->next = payload;
	m->fd = -1;
	if (recvmsg(end_fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return false;
	m->left = m->hdr.length;
	if (CMSG_FIRSTHDR(&mh) != NULL)
		memcpy(&m->fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(int));
	return true;
}

#endif
