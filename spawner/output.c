/* SPDX-License-Identifier: ISC */
/*
 * Output: read straight into the ring, a bounded piece per turn of the loop,
 * so that a flood delays nobody.  netproc reads the ring by itself; it is
 * told that there is more only when it has asked to be (ARM).
 */
#include <sys/epoll.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "handlers.h"
#include "log.h"
#include "output.h"
#include "peers.h"

/* Read per turn: one pipe as large as the launcher may make it is four. */
#define TURN_MAX	((size_t)256 * 1024)
/* Of a pipe whose size cannot be had. */
#define PIPE_GUESS	(1024 * 1024)

static void
ring_doorbell(struct session *s)
{
	struct msg_out *o;

	if (!s->armed || ring_total(&s->ring) <= s->armed_at)
		return;
	s->armed = false;
	o = msg_new(MSG_DOORBELL, &s->id, 0, 0);
	msg_put_u64(o, ring_total(&s->ring));
	(void)chan_send(&netproc_chan, o, -1);
}

static void
stream_close(struct stream *st)
{
	int fd = st->io.fd;

	loop_del(&st->io);
	fd_close(&fd);
	st->io.fd = -1;
}

/* Bytes read, 0 at the end, -1 with errno. */
static ssize_t
drain_once(struct stream *st)
{
	struct ring *r = &st->session->ring;
	struct iovec iov[2];
	ssize_t n;

	n = readv(st->io.fd, iov, ring_space(r, TURN_MAX, iov));
	/* also after a failure: it ends the claim on the space */
	ring_commit(r, n > 0 ? (size_t)n : 0, st->number);
	return n;
}

static void
on_output(uint32_t events, void *arg)
{
	struct stream *st = arg;
	ssize_t n = drain_once(st);

	(void)events;
	if (n > 0)
		ring_doorbell(st->session);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		stream_close(st);
}

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
	stream_close(&s->out);
	stream_close(&s->err);
}

/* No more than the pipe can hold: somebody else might have it open still. */
static void
drain_rest(struct stream *st)
{
	ssize_t n, left;
	int size;

	if (st->io.fd == -1)
		return;
	size = fcntl(st->io.fd, F_GETPIPE_SZ);
	left = size > 0 ? size : PIPE_GUESS;
	while (left > 0) {
		n = drain_once(st);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		left -= n;
	}
	stream_close(st);
}

void
output_finish(struct session *s)
{
	drain_rest(&s->out);
	drain_rest(&s->err);
	ring_doorbell(s);
}

int
spawn_on_arm(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint64_t offset = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	/* netproc may not have heard yet that the session is gone */
	if (s == NULL || !sight_told(s) || s->ring.hdr == NULL)
		return 0;
	s->armed = true;
	s->armed_at = offset;
	ring_doorbell(s);
	return 0;
}
