/* SPDX-License-Identifier: ISC */
/* Bytes both ways between a connection and two descriptors. Neither way waits
 * for the other. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/conn.h"
#include "client/lib/report.h"
#include "client/lib/stream.h"
#include "relay.h"

/* A direction. A descriptor of -1 stands for the connection. */
struct flow {
	int	from_fd;
	int	to_fd;
	size_t	len;
	size_t	done;
	bool	ended;		/* no more to read */
	bool	told;		/* ... and the other side knows */
	char	buf[2 * STREAM_PIECE];
};

struct relay {
	struct conn	*conn;
	struct flow	 up;
	struct flow	 down;
};

enum slot { SLOT_IN, SLOT_OUT, SLOT_CONN, SLOT_MAX };

static bool
flow_idle(const struct flow *f)
{
	return f->done == f->len;
}

static bool
harmless(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static bool
gone(void)
{
	return errno == EPIPE || errno == ECONNRESET;
}

/* The daemon takes no more: what it has said before is still worth having. */
static int
give_up(struct flow *up)
{
	up->done = up->len = 0;
	up->ended = up->told = true;
	return 0;
}

/* -1 and errno: the flow is broken. */
static int
flow_read(struct relay *r, struct flow *f)
{
	ssize_t n;

	n = f->from_fd == -1 ? dconn_recv(r->conn, f->buf, sizeof(f->buf)) :
	    read(f->from_fd, f->buf, sizeof(f->buf));
	if (n == -1)
		return harmless() ? 0 : -1;
	f->len = (size_t)n;
	f->done = 0;
	f->ended = n == 0;
	return 0;
}

static int
flow_write(struct relay *r, struct flow *f)
{
	size_t len = f->len - f->done;
	ssize_t n;

	/* Ours may block: pieces that fit whenever poll says so. */
	n = f->to_fd == -1 ? dconn_write(r->conn, f->buf + f->done, len) :
	    write(f->to_fd, f->buf + f->done, len < PIPE_BUF ? len :
	    PIPE_BUF);
	if (n == -1 && f->to_fd == -1 && gone())
		return give_up(f);
	if (n == -1)
		return harmless() ? 0 : -1;
	f->done += (size_t)n;
	return 0;
}

/* The end of a way, once its last byte is through. */
static void
flow_end(struct relay *r, struct flow *f, bool half)
{
	if (!f->ended || f->told || !flow_idle(f))
		return;
	if (f->to_fd != -1) {
		if (half)
			close(f->to_fd);
	} else if (dconn_end(r->conn) == -1 && harmless())
		return;
	f->told = true;
}

static void
fill_slots(struct relay *r, struct pollfd *pfds)
{
	bool reading = flow_idle(&r->down) && !r->down.ended;
	bool writing = !flow_idle(&r->up) || (r->up.ended && !r->up.told);

	pfds[SLOT_IN] = (struct pollfd){ .events = POLLIN,
		.fd = flow_idle(&r->up) && !r->up.ended ? r->up.from_fd : -1 };
	pfds[SLOT_OUT] = (struct pollfd){ .events = POLLOUT,
		.fd = flow_idle(&r->down) ? -1 : r->down.to_fd };
	/* With nothing to send or to get it tells that the daemon is gone;
	 * with output of its still here it would tell so again and again. */
	pfds[SLOT_CONN] = (struct pollfd){ .fd = reading || writing ||
	    flow_idle(&r->down) ? dconn_fd(r->conn) : -1 };
	if (reading)
		pfds[SLOT_CONN].events |= dconn_read_events(r->conn);
	if (writing)
		pfds[SLOT_CONN].events |= dconn_write_events(r->conn);
}

static int
relay_turn(struct relay *r)
{
	struct pollfd pfds[SLOT_MAX];
	short revents;

	fill_slots(r, pfds);
	if (poll(pfds, SLOT_MAX, dconn_buffered(r->conn) &&
	    flow_idle(&r->down) ? 0 : -1) == -1)
		return errno == EINTR ? 0 : -1;
	revents = pfds[SLOT_CONN].revents;
	if (pfds[SLOT_OUT].revents != 0 && flow_write(r, &r->down) == -1)
		return -1;
	if (pfds[SLOT_IN].revents != 0 && flow_read(r, &r->up) == -1)
		return -1;
	if (!flow_idle(&r->up) && revents != 0 &&
	    flow_write(r, &r->up) == -1)
		return -1;
	if (flow_idle(&r->down) && !r->down.ended &&
	    (revents != 0 || dconn_buffered(r->conn)) &&
	    flow_read(r, &r->down) == -1)
		return -1;
	/* The daemon is gone and will not read the rest of our input. */
	if ((revents & (POLLHUP | POLLERR)) != 0 && r->down.ended)
		give_up(&r->up);
	return 0;
}

static bool
over(const struct relay *r, bool half)
{
	if (!r->down.ended || !flow_idle(&r->down))
		return false;
	return !half || (r->up.ended && r->up.told);
}

int
relay(struct conn *c, int in_fd, int out_fd, bool half, const char *what)
{
	struct relay r = { .conn = c,
	    .up = { .from_fd = in_fd, .to_fd = -1 },
	    .down = { .from_fd = -1, .to_fd = out_fd } };

	while (!over(&r, half)) {
		if (relay_turn(&r) == -1) {
			if (gone())
				return CTL_OK;
			report("the connection to %s broke: %s", what,
			    dconn_strerror(c));
			return CTL_UNREACHABLE;
		}
		flow_end(&r, &r.up, half);
		flow_end(&r, &r.down, half);
	}
	return CTL_OK;
}
