/* SPDX-License-Identifier: ISC */
/* Starts under way: the table, the socket of each, the answers. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cgroup.h"
#include "launcher.h"
#include "pending_start.h"
#include "wire/fdpass.h"
#include "wire/proto.h"

/* Where they are named to users: STEP_PENDING and STEP_PENDING_ALL. */
#define PENDING_MAX		256
#define PENDING_OF_ONE	16
#define PENDING_MS	20000
#define PENDING_FDS	RUN_FD_COUNT

struct kind {
	enum msg_type	fd, done, failed;
	unsigned int	need;		/* fds without which it did not work */
	unsigned int	early;		/* fds sent on before it has worked */
	unsigned int	init;		/* the pidfd that ends all of it */
	unsigned int	npids;		/* in the answer */
};

#define BIT(n)	(1u << (n))

static const struct kind kinds[PENDING_KINDS] = {
	[PENDING_RUN] = { MSG_RUN_FD, MSG_RAN, MSG_RUN_FAILED,
	    BIT(RUN_FD_STDOUT) | BIT(RUN_FD_STATUS) |
	    BIT(RUN_FD_STUB) | BIT(RUN_FD_TARGET),
	    BIT(RUN_FD_COUNT) - 1, RUN_FD_STUB, 2 },
	[PENDING_ATTACH] = { MSG_ATTACH_FD, MSG_ATTACHED, MSG_ATTACH_FAILED,
	    BIT(ATTACH_FD_WIRE) | BIT(ATTACH_FD_ERRORS) |
	    BIT(ATTACH_FD_PIDFD), 0, ATTACH_FD_PIDFD, 2 },
	[PENDING_JOB] = { MSG_JOB_FD, MSG_JOB, MSG_JOB_FAILED,
	    BIT(JOB_FD_REPORT) | BIT(JOB_FD_RESULT) | BIT(JOB_FD_PIDFD), 0,
	    JOB_FD_PIDFD, 1 },
	[PENDING_INSTRUMENT] = { MSG_INSTRUMENT_FD, MSG_INSTRUMENT_RAN,
	    MSG_INSTRUMENT_FAILED, BIT(INSTRUMENT_FD_COUNT) - 1, 0,
	    INSTRUMENT_FD_PIDFD, 1 },
};

struct pending_start {
	const struct kind *kind;	/* NULL = free */
	uint32_t	 uid;		/* whose it is */
	struct sid	 session;
	uint32_t	 conn;
	uint64_t	 request;
	struct loop_io	 io;
	struct loop_timer timer;
	int		 up_fd, first_fd;
	int		 init_fd;	/* what ends all of it, when it is sent on */
	unsigned int	 have;		/* fds that came, sent on or not */
	int		 fds[PENDING_FDS];
	uint32_t	 pids[2];	/* the host's, and in its namespace */
};

struct channel	 spawner_chan;
static struct pending_start pending_starts[PENDING_MAX];

static void
answer2(const struct pending_start *f, enum msg_type type, const uint32_t *v,
    unsigned int n)
{
	struct msg_out *o = msg_new(type, &f->session, f->conn, f->request);
	unsigned int i;

	for (i = 0; i < n; i++)
		msg_put_u32(o, v[i]);
	(void)chan_send(&spawner_chan, o, -1);
}

void
pending_refuse(const struct msg *m, enum pending_kind kind, uint32_t step)
{
	struct pending_start f = { .session = m->hdr.session,
	    .conn = m->hdr.conn, .request = m->hdr.request };
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
release(struct pending_start *f)
{
	unsigned int i;

	loop_del(&f->io);
	loop_timer_unset(&f->timer);
	close_fd(&f->up_fd);
	close_fd(&f->first_fd);
	close_fd(&f->init_fd);
	for (i = 0; i < PENDING_FDS; i++)
		close_fd(&f->fds[i]);
	f->kind = NULL;
}

static void
end_processes(const struct pending_start *f)
{
	int init_fd = f->init_fd;

	if (init_fd == -1)
		init_fd = f->fds[f->kind->init];
	(void)syscall(SYS_pidfd_send_signal, f->first_fd, SIGKILL, NULL, 0);
	if (init_fd != -1)
		(void)syscall(SYS_pidfd_send_signal, init_fd, SIGKILL, NULL,
		    0);
}

static void
fail(struct pending_start *f, uint32_t step, uint32_t error)
{
	uint32_t v[2] = { step, error };

	end_processes(f);
	/* with sandbox none a program may have ended its stub and live on */
	if (f->kind == &kinds[PENDING_RUN])
		cgroup_kill(&(struct cgroup_leaf){ f->uid, f->session,
		    LEAF_SESSION });
	answer2(f, f->kind->failed, v, 2);
	release(f);
}

/* False when the spawner's end has dropped all of them, this one too. */
static bool
send_fds(struct pending_start *f, unsigned int mask)
{
	struct msg_out *o;
	unsigned int i;
	int fd;

	for (i = 0; i < PENDING_FDS; i++) {
		if (f->fds[i] == -1 || !(mask & BIT(i)))
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

/* The last holder of the socket has closed it: by exec, or by dying. */
static void
finish(struct pending_start *f)
{
	if ((f->have & f->kind->need) != f->kind->need || f->pids[0] == 0) {
		fail(f, STEP_FORK, ECHILD);
		return;
	}
	if (!send_fds(f, ~0U))
		return;
	answer2(f, f->kind->done, f->pids, f->kind->npids);
	release(f);
}

/* Each to its place.  False, and the rest is closed, when one has none. */
static bool
keep_fds(struct pending_start *f, uint32_t mask, const int *fds, size_t n)
{
	unsigned int i;
	size_t used = 0;

	for (i = 0; i < PENDING_FDS && used < n; i++)
		if (mask & ~f->have & BIT(i)) {
			f->have |= BIT(i);
			f->fds[i] = fds[used++];
		}
	if (used == n)
		return true;
	while (used < n)
		close(fds[used++]);
	return false;
}

/* The spawner looks at them while the rest is made. */
static void
send_early(struct pending_start *f)
{
	int init_fd = f->fds[f->kind->init];

	if (f->kind->early & BIT(f->kind->init) && init_fd != -1 &&
	    (f->init_fd = fcntl(init_fd, F_DUPFD_CLOEXEC, 0)) == -1)
		fail(f, STEP_FORK, (uint32_t)errno);
	else
		(void)send_fds(f, f->kind->early);
}

static void
take_up(struct pending_start *f, const struct up *u, const int *fds, size_t n,
    pid_t sender)
{
	if (!keep_fds(f, u->fds, fds, n) || u->what > UP_FAILED) {
		fail(f, STEP_FORK, EPROTO);
		return;
	}
	if (u->what == UP_FAILED) {
		fail(f, u->a, u->b);
		return;
	}
	if (u->what == UP_PID) {
		f->pids[0] = (uint32_t)sender;
		f->pids[1] = u->a;
	}
	send_early(f);
}

/* 1 = one record, 0 = none yet, -1 = closed. */
static int
receive(int up_fd, struct up *u, int fds[FDPASS_MAX], size_t *nfds,
    pid_t *sender)
{
	struct iovec iov = { .iov_base = u, .iov_len = sizeof(*u) };
	ssize_t n = fdpass_recv(up_fd, &iov, 1, fds, nfds, sender,
	    MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n == (ssize_t)sizeof(*u) ? 1 : -1;
}

static void
on_up(uint32_t events, void *arg)
{
	struct pending_start *f = arg;
	int fds[FDPASS_MAX], r;
	struct up u;
	pid_t sender;
	size_t n;

	(void)events;
	while (f->kind != NULL &&
	    (r = receive(f->up_fd, &u, fds, &n, &sender)) != 0) {
		if (r == -1)
			finish(f);
		else
			take_up(f, &u, fds, n, sender);
	}
}

static void
on_late(void *arg)
{
	fail(arg, STEP_FORK, ETIMEDOUT);
}

/*
 * Finds a free place; NULL if there is none, or the user has a full share
 * already.  *step says which limit it was.
 */
static struct pending_start *
find_place(uint32_t uid, uint32_t *step)
{
	struct pending_start *f, *place = NULL;
	unsigned int mine = 0;

	for (f = pending_starts; f < pending_starts + PENDING_MAX; f++) {
		if (f->kind == NULL)
			place = f;
		else if (f->uid == uid)
			mine++;
	}
	*step = mine >= PENDING_OF_ONE ? STEP_PENDING : STEP_PENDING_ALL;
	errno = EAGAIN;
	return mine >= PENDING_OF_ONE ? NULL : place;
}

static struct pending_start *
new_pending(const struct msg *m, enum pending_kind kind, uint32_t uid)
{
	uint32_t step;
	struct pending_start *f = find_place(uid, &step);
	unsigned int i;

	if (f == NULL) {
		pending_refuse(m, kind, step);
		return NULL;
	}
	memset(f, 0, sizeof(*f));
	f->kind = &kinds[kind];
	f->uid = uid;
	f->session = m->hdr.session;
	f->conn = m->hdr.conn;
	f->request = m->hdr.request;
	f->up_fd = f->first_fd = f->init_fd = -1;
	for (i = 0; i < PENDING_FDS; i++)
		f->fds[i] = -1;
	return f;
}

/* From here on nothing runs with the launcher's rights. */
static void __attribute__((noreturn))
be_owner(const struct pending_order *o, int up_fd)
{
	child_begin(up_fd, o->keep_fds);
	if (o->processes != NULL)
		child_count(*o->processes);
	child_become(o->owner);
	owner_main(o->fn, o->arg);
}

void
pending_begin(const struct msg *m, const struct pending_order *o)
{
	struct pending_start *f = new_pending(m, o->kind, o->owner->uid);
	int pair[2] = { -1, -1 }, on = 1;
	pid_t pid;

	if (f == NULL)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		goto fail;
	f->up_fd = pair[0];
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on,
	    sizeof(on)) == -1 ||
	    loop_add(&f->io, pair[0], EPOLLIN, on_up, f) == -1)
		goto fail;
	pid = child_clone(0, o->cgroup_fd, &f->first_fd);
	if (pid == -1)
		goto fail;
	if (pid == 0)
		be_owner(o, pair[1]);
	close(pair[1]);
	loop_timer_set(&f->timer, PENDING_MS, on_late, f);
	return;
fail:
	on = errno;
	close_fd(&pair[1]);
	release(f);
	errno = on;
	pending_refuse(m, o->kind, STEP_FORK);
}

void
pending_drop_all(void)
{
	struct pending_start *f;

	for (f = pending_starts; f < pending_starts + PENDING_MAX; f++)
		if (f->kind != NULL) {
			end_processes(f);
			release(f);
		}
}
