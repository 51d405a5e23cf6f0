/* SPDX-License-Identifier: ISC */
/*
 * Relay of two sockets: a buffer each way, and nothing is read for which
 * there is no room.  Either side may shut its end and still be answered.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "relay.h"

#define BUFFER		(16 * 1024)
#define LAST_BYTES_MS	2000

enum { CLIENT, WIRE, SIDES };

/* Bytes on the way from side i to the other. */
struct stream {
	char	*buf;
	size_t	 cap, pos, len;
	bool	 eof;		/* nothing more will come */
	bool	 done;		/* and the other side knows */
};

struct side {
	struct relay	*relay;
	struct loop_io	 io;
	int		 fd;	/* owned */
};

struct relay {
	struct side	 side[SIDES];
	struct stream	 from[SIDES];
	struct loop_timer timer;
	relay_fn	 done;
	void		*arg;
};

static void	on_io(uint32_t, void *);

void
relay_free(struct relay *r)
{
	size_t i;

	loop_timer_unset(&r->timer);
	for (i = 0; i < SIDES; i++) {
		loop_del(&r->side[i].io);
		if (r->side[i].fd != -1)
			close(r->side[i].fd);
		free(r->from[i].buf);
	}
	free(r);
}

static void
end(struct relay *r)
{
	relay_fn done = r->done;
	void *arg = r->arg;

	relay_free(r);
	done(arg);
}

static void
on_timeout(void *arg)
{
	end(arg);
}

static void
read_side(struct relay *r, size_t i)
{
	struct stream *s = &r->from[i];
	ssize_t n;

	/* what was read must go first, so a slow side slows the other */
	if (s->eof || s->len > 0)
		return;
	s->pos = 0;
	n = recv(r->side[i].fd, s->buf, s->cap, MSG_DONTWAIT);
	if (n > 0)
		s->len = (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		s->eof = true;
}

/* Sends what came from side i to the other, and its end after it. */
static void
write_other(struct relay *r, size_t i)
{
	struct stream *s = &r->from[i];
	int fd = r->side[1 - i].fd;
	ssize_t n;

	if (s->len > 0) {
		n = send(fd, s->buf + s->pos, s->len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			s->pos += (size_t)n;
			s->len -= (size_t)n;
		} else if (n == -1 && errno != EAGAIN && errno != EINTR) {
			/* nobody is there to read it */
			s->len = 0;
			s->eof = true;
		}
	}
	if (s->eof && s->len == 0 && !s->done) {
		(void)shutdown(fd, SHUT_WR);
		s->done = true;
	}
}

/*
 * A side of which nothing is wanted is not watched at all: a hang-up is
 * always reported and would keep the loop busy.
 */
static int
watch(struct relay *r, size_t i)
{
	struct side *s = &r->side[i];
	uint32_t want = 0;

	if (!r->from[i].eof && r->from[i].len == 0)
		want |= EPOLLIN;
	if (r->from[1 - i].len > 0)
		want |= EPOLLOUT;
	if (want == 0) {
		loop_del(&s->io);
		return 0;
	}
	if (s->io.active)
		return loop_mod(&s->io, want);
	return loop_add(&s->io, s->fd, want, on_io, s);
}

static void
pump(struct relay *r)
{
	size_t i;

	for (i = 0; i < SIDES; i++) {
		read_side(r, i);
		write_other(r, i);
	}
	if ((r->from[CLIENT].done && r->from[WIRE].done) ||
	    watch(r, CLIENT) == -1 || watch(r, WIRE) == -1) {
		end(r);
		return;
	}
	/* one that has ended does not hold the other for long */
	if ((r->from[CLIENT].done || r->from[WIRE].done) &&
	    r->timer.slot == 0)
		loop_timer_set(&r->timer, LAST_BYTES_MS, on_timeout, r);
}

static void
on_io(uint32_t events, void *arg)
{
	struct side *s = arg;

	(void)events;
	pump(s->relay);
}

void
relay_over(struct relay *r)
{
	if (r->timer.slot == 0)
		loop_timer_set(&r->timer, LAST_BYTES_MS, on_timeout, r);
}

struct relay *
relay_new(int client_fd, int wire_fd, const void *first, size_t len,
    relay_fn done, void *arg)
{
	struct relay *r = calloc(1, sizeof(*r));
	/* what the client sent right behind its command is gdb's first word */
	size_t cap = len > BUFFER ? len : BUFFER;

	if (r == NULL) {
		close(client_fd);
		close(wire_fd);
		return NULL;
	}
	r->side[CLIENT] = (struct side){ r, LOOP_IO_INIT, client_fd };
	r->side[WIRE] = (struct side){ r, LOOP_IO_INIT, wire_fd };
	r->done = done;
	r->arg = arg;
	r->from[CLIENT].buf = malloc(cap);
	r->from[WIRE].buf = malloc(BUFFER);
	if (r->from[CLIENT].buf == NULL || r->from[WIRE].buf == NULL)
		goto fail;
	r->from[CLIENT].cap = cap;
	r->from[WIRE].cap = BUFFER;
	if (len > 0)
		memcpy(r->from[CLIENT].buf, first, len);
	r->from[CLIENT].len = len;
	if (watch(r, CLIENT) == -1 || watch(r, WIRE) == -1)
		goto fail;
	return r;
fail:
	relay_free(r);
	return NULL;
}
