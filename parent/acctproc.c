/* SPDX-License-Identifier: ISC */
/* Asks acctgate (setup/acct_starter.c) for an acctproc, and ends it at last. */
#include <sys/socket.h>
#include <sys/syscall.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "parent.h"

static int
give_fd(int sock_fd, int fd)
{
	union {
		struct cmsghdr	 h;
		char		 space[CMSG_SPACE(sizeof(int))];
	} u = { 0 };
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = u.space, .msg_controllen = sizeof(u.space) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return sendmsg(sock_fd, &m, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

pid_t
acctproc_start(int sock_fd)
{
	const int starter_fd = given_fd(GIVEN_ACCT_STARTER);
	pid_t pid = -1;

	if (give_fd(starter_fd, sock_fd) == -1 ||
	    recv(starter_fd, &pid, sizeof(pid), 0) != sizeof(pid)) {
		log_warnx("the process that starts acctproc has ended or "
		    "hangs, so locked accounts cannot be told from others: "
		    "only root is admitted; restart debuglanternd");
		return -1;
	}
	return pid > 0 ? pid : -1;
}

void
acctproc_end(void)
{
	const int pidfd = given_fd(GIVEN_ACCT_STARTER_PROC);
	siginfo_t si;

	if (pidfd == -1)
		return;
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)waitid_again(P_PIDFD, (id_t)pidfd, &si, WEXITED);
}
