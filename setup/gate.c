/* SPDX-License-Identifier: ISC */
/*
 * The gate: a process that is made while there is root, has the group of
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

#include "again.h"
#include "caps.h"
#include "log.h"
#include "../parent/parent.h"
#include "../parent/sysfilter.h"

#define SHADOW_FILE	"/etc/shadow"
/* It only forks: one that needs longer stands still. */
#define ANSWER_S	2

/* A message with room for one fd. */
union gate_fd {
	struct cmsghdr	 h;
	char		 space[CMSG_SPACE(sizeof(int))];
};

static int gate_fd = -1, gate_pidfd = -1;

/*
 * The group that may read the file, 0 = none: on some hosts that is root
 * alone, and a file of the group 0 is for no process that is not root's.
 */
void
gate_find(void)
{
	struct stat st;

	d.role_id[ROLE_ACCTPROC].gid = 0;
	/* acctproc can read what is in /etc, and not where a link leads */
	if (d.mode == MODE_SYSTEM && lstat(SHADOW_FILE, &st) == 0 &&
	    S_ISREG(st.st_mode) && (st.st_mode & S_IRGRP) != 0)
		d.role_id[ROLE_ACCTPROC].gid = st.st_gid;
}

bool
gate_is_wanted(void)
{
	return d.mode == MODE_SYSTEM && d.role_id[ROLE_ACCTPROC].gid != 0;
}

static int
take_fd(int sock_fd)
{
	union gate_fd u;
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

static int
give_fd(int sock_fd, int fd)
{
	union gate_fd u;
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

/* All that the parent has opened as root stays with the parent. */
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

/* The parent's filter, with one identity, the gate's own. */
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

static int
become_gate(int *sock_fd)
{
	int fds[] = { *sock_fd, -1, -1 };

	(void)prctl(PR_SET_NAME, "acctgate", 0, 0, 0);
	child_files(ROLE_ACCTPROC, &fds[1], &fds[2]);
	if (close_all_but(fds, sizeof(fds) / sizeof(fds[0])) == -1)
		return -1;
	*sock_fd = fds[0];
	child_set_files(ROLE_ACCTPROC, fds[1], fds[2]);
	return child_standard_fds() == -1 ? -1 : confine_gate();
}

static void __attribute__((noreturn))
gate(int sock_fd)
{
	/* the first word: it is there, or why it is not */
	pid_t pid = become_gate(&sock_fd) == -1 ? -errno : 0;
	int fd;

	while (write(sock_fd, &pid, sizeof(pid)) == sizeof(pid) && pid >= 0 &&
	    (fd = take_fd(sock_fd)) != -1) {
		/* the parent's child, as all roles are */
		pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL,
		    NULL, NULL, 0);
		if (pid == 0)
			child_exec(ROLE_ACCTPROC, fd);
		/* for a moment there may be no room for a process */
		if (pid == -1)
			pid = 0;
		close(fd);
	}
	_exit(0);
}

void
gate_make(void)
{
	struct timeval limit = { .tv_sec = ANSWER_S };
	int fds[2];
	pid_t pid;

	if (!gate_is_wanted())
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1 ||
	    setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
	    sizeof(limit)) == -1 || (pid = fork()) == -1)
		fatal("cannot start what starts acctproc (raise the limits of "
		    "processes and open files)");
	if (pid == 0)
		gate(fds[1]);
	close(fds[1]);
	gate_fd = fds[0];
	gate_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (gate_pidfd == -1 ||
	    recv(gate_fd, &pid, sizeof(pid), 0) != sizeof(pid) ||
	    (pid < 0 && (errno = -pid) != 0))
		fatal("cannot become _dlacct (" NEEDS_ROOT ")");
}

pid_t
gate_start(int sock_fd)
{
	pid_t pid = -1;

	if (give_fd(gate_fd, sock_fd) == -1 ||
	    recv(gate_fd, &pid, sizeof(pid), 0) != sizeof(pid)) {
		log_warnx("what starts acctproc has ended, or stands still; "
		    "as nobody can tell which accounts are locked, root alone "
		    "is let in until debuglanternd is started again");
		return -1;
	}
	return pid > 0 ? pid : -1;
}

void
gate_end(void)
{
	siginfo_t si;

	if (gate_pidfd == -1)
		return;
	(void)syscall(SYS_pidfd_send_signal, gate_pidfd, SIGKILL, NULL, 0);
	(void)waitid_again(P_PIDFD, (id_t)gate_pidfd, &si, WEXITED);
	close(gate_pidfd);
	gate_pidfd = -1;
}
