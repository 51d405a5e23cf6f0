/* SPDX-License-Identifier: ISC */
/*
 * acctgate: a process that is made while there is root, has the group of
 * /etc/shadow and no other right, and does nothing but start acctproc.  So
 * acctproc can be started again, and the parent, whose filter does not know
 * that group, never takes it.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../parent/sysfilter.h"
#include "base/again.h"
#include "confine/caps.h"
#include "setup.h"

#define SHADOW_FILE	"/etc/shadow"
/* It only forks: one that needs longer stands still. */
#define ANSWER_S	2

/* A message with room for one fd. */
union starter_fd {
	struct cmsghdr	 h;
	char		 space[CMSG_SPACE(sizeof(int))];
};

/*
 * The group that may read the file, 0 = none: on some hosts that is root
 * alone, and a file of the group 0 is for no process that is not root's.
 */
void
acct_starter_find(void)
{
	struct stat st;

	d.role_id[ROLE_ACCTPROC].gid = 0;
	/* acctproc can read what is in /etc, and not where a link leads */
	if (d.mode == MODE_SYSTEM && lstat(SHADOW_FILE, &st) == 0 &&
	    S_ISREG(st.st_mode) && (st.st_mode & S_IRGRP) != 0)
		d.role_id[ROLE_ACCTPROC].gid = st.st_gid;
}

bool
acct_starter_is_wanted(void)
{
	return d.mode == MODE_SYSTEM && d.role_id[ROLE_ACCTPROC].gid != 0;
}

static int
take_fd(int sock_fd)
{
	union starter_fd u;
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = u.space, .msg_controllen = sizeof(u.space) };
	struct cmsghdr *h;
	int fd;

	if (recvmsg(sock_fd, &m, MSG_CMSG_CLOEXEC) != 1 ||
	    (h = CMSG_FIRSTHDR(&m)) == NULL || h->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(h), sizeof(fd));
	return fd;
}

/* All that was opened as root stays with setup, and then with the parent. */
static int
close_all_but(int *fds, size_t n)
{
	int lowest = 3;
	size_t i;

	/* those first, above the others and in order */
	for (i = 0; i < n; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC,
		    i == 0 ? 256 : fds[i - 1] + 1);
		if (fds[i] == -1)
			return -1;
	}
	for (i = 0; i < n; i++) {
		if (lowest < fds[i])
			(void)close_range((unsigned int)lowest,
			    (unsigned int)fds[i] - 1, 0);
		lowest = fds[i] + 1;
	}
	return close_range((unsigned int)lowest, ~0U, 0);
}

/* The parent's filter, with one identity, acctgate's own. */
static int
confine_gate(void)
{
	struct identity ids[ROLE_COUNT], me = d.role_id[ROLE_ACCTPROC];
	size_t i;

	for (i = 0; i < ROLE_COUNT; i++)
		ids[i] = me;
	return caps_bound(0) == -1 || setgroups(0, NULL) == -1 ||
	    setresgid(me.gid, me.gid, me.gid) == -1 ||
	    setresuid(me.uid, me.uid, me.uid) == -1 || caps_set(0, 0) == -1 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (!d.conf->weaken_seccomp &&
	    filter_load(parent_filter_make(MODE_SYSTEM, ids)) == -1) ? -1 : 0;
}

/* *sock_fd, *binary_fd and *null_fd get other numbers. */
static int
become_gate(int *sock_fd, int *binary_fd, int *null_fd)
{
	int fds[] = { *sock_fd, *binary_fd, *null_fd };

	(void)prctl(PR_SET_NAME, "acctgate", 0, 0, 0);
	if (close_all_but(fds, sizeof(fds) / sizeof(fds[0])) == -1)
		return -1;
	*sock_fd = fds[0];
	*binary_fd = fds[1];
	*null_fd = fds[2];
	/* in the background nobody's terminal or pipe is kept open */
	if (dup2(*null_fd, STDIN_FILENO) == -1 ||
	    dup2(*null_fd, STDOUT_FILENO) == -1 || (!d.opt.foreground &&
	    dup2(*null_fd, STDERR_FILENO) == -1))
		return -1;
	return confine_gate();
}

static void __attribute__((noreturn))
become_acctproc(int binary_fd, int sock_fd)
{
	char *argv[] = { (char *)(uintptr_t)role_name(ROLE_ACCTPROC), NULL };
	char *envp[] = { NULL };

	/* fd 3 itself would keep close-on-exec if it was the socket */
	if (dup2(sock_fd, GIVEN_CHANNEL) == -1 ||
	    fcntl(GIVEN_CHANNEL, F_SETFD, 0) == -1)
		_exit(126);
	(void)execveat(binary_fd, "", argv, envp, AT_EMPTY_PATH);
	fatal("cannot execute %s/%s (every user must be able to run it: chmod "
	    "a+rx, on a file system that is not mounted noexec)", d.libexec,
	    role_name(ROLE_ACCTPROC));
}

static void __attribute__((noreturn))
acct_starter(int sock_fd)
{
	int binary_fd = given(GIVEN_BINARY + ROLE_ACCTPROC);
	int null_fd = given(GIVEN_NULL), fd;
	/* the first word: it is there, or why it is not */
	pid_t pid = become_gate(&sock_fd, &binary_fd, &null_fd) == -1 ?
	    -errno : 0;

	while (write(sock_fd, &pid, sizeof(pid)) == sizeof(pid) && pid >= 0 &&
	    (fd = take_fd(sock_fd)) != -1) {
		/* the parent's child, as all roles are */
		pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL,
		    NULL, NULL, 0);
		if (pid == 0)
			become_acctproc(binary_fd, fd);
		/* for a moment there may be no room for a process */
		if (pid == -1)
			pid = 0;
		close(fd);
	}
	_exit(0);
}

void
acct_starter_make(void)
{
	struct timeval limit = { .tv_sec = ANSWER_S };
	int fds[2];
	pid_t pid;

	if (!acct_starter_is_wanted())
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1 ||
	    setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
	    sizeof(limit)) == -1 || (pid = fork()) == -1)
		fatal("cannot start the process that starts acctproc (raise "
		    "the limits of processes and open files)");
	if (pid == 0)
		acct_starter(fds[1]);
	close(fds[1]);
	give(GIVEN_ACCT_STARTER, fds[0]);
	give(GIVEN_ACCT_STARTER_PROC, (int)syscall(SYS_pidfd_open, pid, 0));
	if (given(GIVEN_ACCT_STARTER_PROC) == -1 ||
	    recv(fds[0], &pid, sizeof(pid), 0) != sizeof(pid) ||
	    (pid < 0 && (errno = -pid) != 0))
		fatal("cannot become _dlacct (" NEEDS_ROOT ")");
}
