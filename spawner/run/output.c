/* SPDX-License-Identifier: ISC */
/*
 * Output: read straight into the ring, a bounded piece per turn of the loop,
 * so that a flood delays nobody.  netproc reads the ring by itself; it is
 * told that there is more only when it has asked to be (ARM).
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "exit.h"
#include "expiry.h"
#include "output.h"
#include "output_flow.h"
#include "run_hooks.h"
#include "spawner/link/peers.h"
#include "tty.h"
#include "wire/handlers.h"

/* Read per turn: a wide pipe is four. */
#define TURN_MAX	((size_t)256 * 1024)
/* Size of a pipe that no client holds, and of one whose size is unknown. */
#define PIPE_WIDE	(1024 * 1024)

void
output_ring(struct session *s)
{
	struct msg_out *o;

	run_hooks->output(s);
	if (!s->armed || ring_total(&s->ring) <= s->armed_at)
		return;
	s->armed = false;
	o = msg_new(MSG_OUTPUT_NOTICE, &s->id, 0, 0);
	msg_put_u64(o, ring_total(&s->ring));
	(void)chan_send(&netproc_chan, o, -1);
}

void
output_close(struct stream *st)
{
	int fd = st->io.fd;

	loop_del(&st->io);
	fd_close(&fd);
	st->io.fd = -1;
}

ssize_t
output_read(struct stream *st, size_t max)
{
	struct ring *r = &st->session->ring;
	struct iovec iov[2];
	ssize_t n;

	n = readv(st->io.fd, iov, ring_space(r, max, iov));
	/* also after a failure: it ends the claim on the space */
	ring_commit(r, n > 0 ? (size_t)n : 0, st->number);
	if (n > 0)
		expiry_touch(st->session);
	return n;
}

/* A pipe that nobody writes to says so for ever, if it is not read: once. */
static void
stream_wants(struct stream *st, bool more)
{
	(void)loop_mod(&st->io, more ? EPOLLIN : (uint32_t)EPOLLET);
}

void
output_resume(struct session *s)
{
	stream_wants(&s->out, true);
	stream_wants(&s->err, true);
}

static void
on_output(uint32_t events, void *arg)
{
	struct stream *st = arg;
	size_t max = flow_allowance(st->session, TURN_MAX);
	ssize_t n;

	(void)events;
	if (max == 0) {
		stream_wants(st, false);
		return;
	}
	n = output_read(st, max);
	if (n > 0)
		output_ring(st->session);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		output_close(st);
	exit_again(st->session);
}

/* -- the size of pipes ---------------------------------------------------- */

/* Fewer wakeups.  The user's share of pipes may be used up. */
static void
stream_widen(const struct stream *st)
{
	int size = st->io.fd == -1 ? -1 : fcntl(st->io.fd, F_GETPIPE_SZ);

	if (size > 0 && size < PIPE_WIDE)
		(void)fcntl(st->io.fd, F_SETPIPE_SZ, PIPE_WIDE);
}

/*
 * Shrinks the pipe, so that what is in it at the end fits into the ring beside
 * what holders are to get.  A pipe that has more in it stays as it is until the
 * next time.
 */
static void
stream_fit(const struct stream *st)
{
	int most = (int)(st->session->ring.size / 4);

	if (st->io.fd != -1 && fcntl(st->io.fd, F_GETPIPE_SZ) > most)
		(void)fcntl(st->io.fd, F_SETPIPE_SZ, most);
}

void
output_fit(struct session *s)
{
	if (!flow_is_held(s) || s->ring.size == 0)
		return;
	stream_fit(&s->out);
	stream_fit(&s->err);
}

void
output_begin(struct session *s)
{
	if (flow_is_held(s)) {
		output_fit(s);
		return;
	}
	stream_widen(&s->out);
	stream_widen(&s->err);
}

static size_t
stream_rest(const struct stream *st)
{
	int n = 0;

	if (st->io.fd == -1 || ioctl(st->io.fd, FIONREAD, &n) == -1 || n < 0)
		return 0;
	return (size_t)n;
}

bool
output_waits(const struct session *s)
{
	return flow_is_held(s) &&
	    flow_would_lose(s, stream_rest(&s->out) + stream_rest(&s->err));
}

/* -- the end -------------------------------------------------------------- */

/* -1 when nobody would read it. */
static int
stream_watch(struct stream *st, int fd, uint32_t number)
{
	st->number = number;
	st->io = (struct loop_io)LOOP_IO_INIT;
	if (fd == -1 || loop_add(&st->io, fd, EPOLLIN, on_output, st) == 0)
		return 0;
	log_warn("output of session %s", st->session->text);
	fd_close(&fd);
	return -1;
}

int
output_watch(struct session *s, int out_fd, int err_fd)
{
	bool split = err_fd != -1;
	int out = stream_watch(&s->out, out_fd, split ? 1 : 0);
	int err = stream_watch(&s->err, err_fd, 2);

	if (out == 0 && err == 0)
		return 0;
	output_drop(s);
	return -1;
}

void
output_drop(struct session *s)
{
	output_close(&s->out);
	output_close(&s->err);
}

/* No more than the pipe can hold: somebody else might have it open still. */
static void
drain_rest(struct stream *st)
{
	ssize_t n, left;
	size_t rest;
	int size;

	if (st->io.fd == -1)
		return;
	/* a terminal has no size: what it holds is little */
	size = fcntl(st->io.fd, F_GETPIPE_SZ);
	left = size > 0 ? size : PIPE_WIDE;
	while (left > 0) {
		/* a claim on more room would cost readers the oldest bytes */
		rest = stream_rest(st);
		if (rest == 0)
			break;
		n = output_read(st, rest < TURN_MAX ? rest : TURN_MAX);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		left -= n;
	}
}

void
output_finish(struct session *s)
{
	if (s->tty != NULL)
		tty_finish(s);
	drain_rest(&s->out);
	drain_rest(&s->err);
	output_close(&s->out);
	output_close(&s->err);
	flow_stop(s);
	output_ring(s);
}

void
output_take(struct session *s)
{
	if (s->ring.hdr == NULL)
		return;
	drain_rest(&s->out);
	drain_rest(&s->err);
	output_ring(s);
}

int
spawn_on_arm(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint64_t offset = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	/* netproc may not have heard yet that the session is gone */
	if (s == NULL || !access_is_told(s) || s->ring.hdr == NULL)
		return 0;
	s->armed = true;
	s->armed_at = offset;
	output_ring(s);
	return 0;
}
