/* SPDX-License-Identifier: ISC */
/* Starts in flight: the table, the socket of each, the answers. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cgroup.h"
#include "flight.h"
#include "hand.h"
#include "log.h"
#include "proto.h"

#define FLIGHTS		64
#define FLIGHT_MS	20000
#define FLIGHT_FDS	RUN_FD_COUNT

struct kind {
	enum msg_type	fd, done, failed;
	unsigned int	need;		/* fds without which it did not work */
	unsigned int	init;		/* the pidfd that ends all of it */
	unsigned int	npids;		/* in the answer */
};

#define BIT(n)	(1u << (n))

static const struct kind kinds[FLIGHT_KINDS] = {
	[FLIGHT_RUN] = { MSG_RUN_FD, MSG_RAN, MSG_RUN_FAILED,
	    BIT(RUN_FD_STDIN) | BIT(RUN_FD_STDOUT) | BIT(RUN_FD_STATUS) |
	    BIT(RUN_FD_STUB) | BIT(RUN_FD_TARGET), RUN_FD_STUB, 2 },
	[FLIGHT_ATTACH] = { MSG_ATTACH_FD, MSG_ATTACHED, MSG_ATTACH_FAILED,
	    BIT(ATTACH_FD_COUNT) - 1, ATTACH_FD_PIDFD, 1 },
	[FLIGHT_JOB] = { MSG_JOB_FD, MSG_JOB, MSG_JOB_FAILED,
	    BIT(JOB_FD_COUNT) - 1, JOB_FD_PIDFD, 1 },
};

struct flight {
	const struct kind *kind;	/* NULL = free */
	struct sid	 session;
	uint32_t	 conn;
	uint64_t	 request;
	struct loop_io	 io;
	struct loop_timer timer;
	int		 up_fd, first_fd;
	int		 fds[FLIGHT_FDS];
	uint32_t	 pids[2];	/* the host's, and in its namespace */
};

static struct flight flights[FLIGHTS];

static void
answer2(const struct flight *f, enum msg_type type, const uint32_t *v,
    unsigned int n)
{
	struct msg_out *o = msg_new(type, &f->session, f->conn, f->request);
	unsigned int i;

	for (i = 0; i < n; i++)
		msg_put_u32(o, v[i]);
	(void)chan_send(&spawner_chan, o, -1);
}

void
flight_refuse(const struct msg *m, enum flight_kind kind, uint32_t step)
{
	struct flight f = { .session = m->hdr.session, .conn = m->hdr.conn,
	    .request = m->hdr.request };
	uint32_t v[2] = { step, (uint32_t)errno };

	answer2(&f, kinds[kind].failed, v, 2);
}

static void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

static void
release(struct flight *f)
{
	unsigned int i;

	loop_del(&f->io);
	loop_timer_unset(&f->timer);
	close_fd(&f->up_fd);
	close_fd(&f->first_fd);
	for (i = 0; i < FLIGHT_FDS; i++)
		close_fd(&f->fds[i]);
	f->kind = NULL;
}

static void
end_processes(const struct flight *f)
{
	int init_fd = f->fds[f->kind->init];

	(void)syscall(SYS_pidfd_send_signal, f->first_fd, SIGKILL, NULL, 0);
	if (init_fd != -1)
		(void)syscall(SYS_pidfd_send_signal, init_fd, SIGKILL, NULL,
		    0);
}

/* Gives them all away.  False when the spawner's end dropped this flight. */
static bool
send_fds(struct flight *f)
{
	struct msg_out *o;
	unsigned int i;
	int fd;

	for (i = 0; i < FLIGHT_FDS; i++) {
		if (f->fds[i] == -1)
			continue;
		o = msg_new(f->kind->fd, &f->session, f->conn, f->request);
		msg_put_u32(o, i);
		fd = f->fds[i];
		f->fds[i] = -1;
		if (chan_send(&spawner_chan, o, fd) == -1 && f->kind == NULL)
			return false;
	}
	return true;
}

static void
fail(struct flight *f, uint32_t step, uint32_t error)
{
	uint32_t v[2] = { step, error };

	end_processes(f);
	/* with sandbox none a program may have ended its stub and live on */
	if (f->kind == &kinds[FLIGHT_RUN])
		cgroup_kill(&f->session);
	/* what the loader said is in the program's pipe */
	if (step == STEP_LOADER && !send_fds(f))
		return;
	answer2(f, f->kind->failed, v, 2);
	release(f);
}

/* The last holder of the socket has closed it: by exec, or by dying. */
static void
finish(struct flight *f)
{
	unsigned int i, have = 0;

	for (i = 0; i < FLIGHT_FDS; i++)
		if (f->fds[i] != -1)
			have |= BIT(i);
	if ((have & f->kind->need) != f->kind->need || f->pids[0] == 0) {
		fail(f, STEP_FORK, ECHILD);
		return;
	}
	if (!send_fds(f))
		return;
	answer2(f, f->kind->done, f->pids, f->kind->npids);
	release(f);
}

static void
take_up(struct flight *f, const struct up *u, int fd, pid_t sender)
{
	if (u->what == UP_FD && fd != -1 && u->a < FLIGHT_FDS &&
	    f->fds[u->a] == -1) {
		f->fds[u->a] = fd;
		return;
	}
	if (fd != -1)
		close(fd);
	if (u->what == UP_PID) {
		f->pids[0] = (uint32_t)sender;
		f->pids[1] = u->a;
	} else
		fail(f, u->what == UP_FAILED ? u->a : STEP_FORK,
		    u->what == UP_FAILED ? u->b : EPROTO);
}

/* 1 = one record, 0 = none yet, -1 = closed. */
static int
receive(int up_fd, struct up *u, int *fd, pid_t *sender)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int)) +
				    CMSG_SPACE(sizeof(struct ucred))];
	} ctl;
	struct iovec iov = { .iov_base = u, .iov_len = sizeof(*u) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	struct cmsghdr *cm;
	struct ucred cred;
	ssize_t n;

	*fd = -1;
	*sender = 0;
	n = recvmsg(up_fd, &mh, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(*u))
		return -1;
	for (cm = CMSG_FIRSTHDR(&mh); cm != NULL; cm = CMSG_NXTHDR(&mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET)
			continue;
		if (cm->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(cm), sizeof(*fd));
		/* the kernel's word, and as the host counts */
		if (cm->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&cred, CMSG_DATA(cm), sizeof(cred));
			*sender = cred.pid;
		}
	}
	return 1;
}

static void
on_up(uint32_t events, void *arg)
{
	struct flight *f = arg;
	struct up u;
	pid_t sender;
	int fd, r;

	(void)events;
	while (f->kind != NULL &&
	    (r = receive(f->up_fd, &u, &fd, &sender)) != 0) {
		if (r == -1)
			finish(f);
		else
			take_up(f, &u, fd, sender);
	}
}

static void
on_late(void *arg)
{
	fail(arg, STEP_FORK, ETIMEDOUT);
}

static struct flight *
new_flight(const struct msg *m, enum flight_kind kind)
{
	struct flight *f;
	unsigned int i;

	for (f = flights; f < flights + FLIGHTS; f++) {
		if (f->kind != NULL)
			continue;
		memset(f, 0, sizeof(*f));
		f->kind = &kinds[kind];
		f->session = m->hdr.session;
		f->conn = m->hdr.conn;
		f->request = m->hdr.request;
		f->up_fd = f->first_fd = -1;
		for (i = 0; i < FLIGHT_FDS; i++)
			f->fds[i] = -1;
		return f;
	}
	errno = EAGAIN;
	return NULL;
}

void
flight_begin(const struct msg *m, enum flight_kind kind, flight_fn fn,
    const void *arg, const int keep_fds[2], int cgroup_fd)
{
	struct flight *f = new_flight(m, kind);
	int pair[2] = { -1, -1 }, on = 1;
	pid_t pid;

	if (f == NULL) {
		flight_refuse(m, kind, STEP_FORK);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		goto fail;
	f->up_fd = pair[0];
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on,
	    sizeof(on)) == -1 ||
	    loop_add(&f->io, pair[0], EPOLLIN, on_up, f) == -1)
		goto fail;
	pid = child_clone(0, cgroup_fd, &f->first_fd);
	if (pid == -1)
		goto fail;
	if (pid == 0) {
		child_begin(pair[1], keep_fds);
		fn(arg);
	}
	close(pair[1]);
	loop_timer_set(&f->timer, FLIGHT_MS, on_late, f);
	return;
fail:
	on = errno;
	close_fd(&pair[1]);
	release(f);
	errno = on;
	flight_refuse(m, kind, STEP_FORK);
}

void
flight_drop_all(void)
{
	struct flight *f;

	for (f = flights; f < flights + FLIGHTS; f++)
		if (f->kind != NULL) {
			end_processes(f);
			release(f);
		}
}
